"""What the accepted pairs say about findings and bugs."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from probe.records import Bug, Judgement, Pair


@dataclass(frozen=True, slots=True)
class Match:
    """An accepted pair: a row of ``matches.csv``."""

    finding: str
    bug: str
    confidence: float
    line_distance: int | None
    text_similarity: float
    crowded: bool
    """The finding matches more than :data:`CROWD` bugs: it may be too vague to count."""


CROWD = 2
"""So many bugs one finding can plausibly name."""


def of_bugs(judgements: Iterable[Judgement], bugs: Iterable[Bug]) -> list[Judgement]:
    """Judgements of pairs with these bugs.

    Pairs are made of the bugs before the errata: those with a withdrawn bug are ignored.
    """
    known = {bug.id for bug in bugs}
    return [judgement for judgement in judgements if judgement.right in known]


def list_matches(pairs: Iterable[Pair], judgements: Iterable[Judgement]) -> list[Match]:
    """Accepted pairs with their signals, many to many, sorted by finding and bug.

    Raises:
        KeyError: a judgement of a pair that is not among the pairs.
    """
    by_ids = {(pair.left, pair.right): pair for pair in pairs}
    accepted = sorted(
        (judgement for judgement in judgements if judgement.match),
        key=lambda judgement: (judgement.left, judgement.right),
    )
    bugs_of = Counter(judgement.left for judgement in accepted)
    matches = []
    for judgement in accepted:
        pair = by_ids[judgement.left, judgement.right]
        matches.append(
            Match(
                judgement.left,
                judgement.right,
                judgement.confidence,
                pair.line_distance,
                pair.text_similarity,
                crowded=bugs_of[judgement.left] > CROWD,
            )
        )
    return matches


def count_one_to_one(matches: Sequence[Match]) -> int:
    """Size of the largest assignment in which each finding and each bug is used at most once.

    The maximum cardinality of a bipartite matching (Hopcroft and Karp 1973) does not depend on
    any order. It is printed beside the many-to-many figures, which it never exceeds.
    """
    import networkx as nx

    graph: nx.Graph[tuple[str, str]] = nx.Graph()
    left = sorted({("finding", match.finding) for match in matches})
    graph.add_nodes_from(left)
    graph.add_edges_from((("finding", match.finding), ("bug", match.bug)) for match in matches)
    assignment = nx.bipartite.hopcroft_karp_matching(graph, top_nodes=left)
    return len(assignment) // 2
