"""Findings of one run that say the same, folded into one.

Sessions see the whole checkout, so that one that looks after a call can report what belongs to
another's pass; the defect is then reported twice. This rule needs no model and takes few for the
same: two findings must name a common place *and* be worded alike. What it leaves apart costs a
little precision; what it wrongly joined would cost a bug. Among 5,893 judged pairs of review
comments, of which only the words are known, all 90 from :data:`ACROSS` on are matches, of those from
0.5 on 98 %; and two defects of one place share more words than that (0.59 in the tests' labelled
pairs), which is why the threshold is not lower.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations

from probe.records import Finding
from probe.similarity.words import prose_words

ACROSS = 0.6
"""Likeness of words (Dice) from which findings of two passes with overlapping lines are one."""

WITHIN = 0.7
"""The same within a pass: one session that reports twice at a place mostly means two defects."""

_SPACE = re.compile(r"\W+")


def merge_findings(findings: Sequence[Finding]) -> list[Finding]:
    """Fold findings that say the same into the surest one, whose ``merged`` names the others.

    Two findings are one where their lines overlap and their words are alike, or where they come from
    two passes and have the same title in the same unit. What is one with a common third is one
    (connected components). Findings by a tool's rule are left alone: its words are always alike.

    Args:
        findings: of one run, in order; ids are unique.

    Returns:
        In order of their own places; of a group the one with the highest confidence stays, the first
        of equals.
    """
    groups = _groups(findings)
    kept: dict[int, tuple[str, ...]] = {}
    for members in groups:
        best = max(members, key=lambda place: (findings[place].confidence or 0.0, -place))
        kept[best] = tuple(findings[place].id for place in members if place != best)
    return [
        findings[place].model_copy(update={"merged": others}) if others else findings[place]
        for place, others in sorted(kept.items())
    ]


def same_finding(left: Finding, right: Finding) -> bool:
    """Whether two findings of a run say the same, by the rule of :func:`merge_findings`."""
    if left.path != right.path or left.rule is not None or right.rule is not None:
        return False
    across = left.pass_id != right.pass_id
    if left.first <= right.last and right.first <= left.last:
        return _likeness(left, right) >= (ACROSS if across else WITHIN)
    return across and left.unit is not None and left.unit == right.unit and _same_title(left, right)


def _groups(findings: Sequence[Finding]) -> list[list[int]]:
    """Connected components as places in the list, ascending."""
    by_path: dict[str, list[int]] = defaultdict(list)
    for place, finding in enumerate(findings):
        if finding.rule is None:
            by_path[finding.path].append(place)
    root = list(range(len(findings)))

    def find(place: int) -> int:
        while root[place] != place:
            root[place] = root[root[place]]
            place = root[place]
        return place

    for places in by_path.values():
        for left, right in combinations(places, 2):
            if same_finding(findings[left], findings[right]):
                first, second = sorted((find(left), find(right)))
                root[second] = first
    members: dict[int, list[int]] = defaultdict(list)
    for place in range(len(findings)):
        members[find(place)].append(place)
    return list(members.values())


@lru_cache(maxsize=10_000)
def _words(text: str) -> frozenset[str]:
    return frozenset(prose_words(text))


def _likeness(left: Finding, right: Finding) -> float:
    """Dice 2|A∩B| / (|A|+|B|) of the words of title and description; 0 where both have none."""
    one, other = (_words(f"{found.title}\n{found.description}") for found in (left, right))
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 0.0


def _same_title(left: Finding, right: Finding) -> bool:
    return _SPACE.sub(" ", left.title.lower()) == _SPACE.sub(" ", right.title.lower())
