"""Reference bugs from judged reports: connected components, undone fixes, ranks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from probe.records import Bug, Dropped, Judgement, Location, Provenance, Report
from probe.reference.undone import Undone

ENGINE_VERSION = "1"
"""Raised whenever a merge may come out differently."""
MERGE_LIMIT = 20
"""Reports that one bug may unite by default; larger components are left for a person."""
_SEVERITIES = ("low", "medium", "high", "critical")


@dataclass(frozen=True, slots=True)
class Merged:
    """The reference set and what did not go into it as judged."""

    bugs: list[Bug]
    """In the window order of their earliest fixes."""
    left_out: list[Dropped]
    """Fixes that the window takes back."""
    oversized: list[tuple[str, ...]]
    """Candidates of components beyond the limit, each listed as bugs of their own."""


def merge_reports(
    repo: str,
    reports: Sequence[Report],
    judgements: Iterable[Judgement],
    fixes: Sequence[str],
    *,
    undone: Iterable[Undone] = (),
    redone: Iterable[tuple[str, str]] = (),
    limit: int = MERGE_LIMIT,
) -> Merged:
    """Merge reports of one defect into reference bugs.

    Reports are joined by accepted judgements and by redone fixes. A component of which every fix
    is undone gives no bug; one with more than ``limit`` reports is not merged but listed.

    Args:
        repo: key of the repository.
        reports: of all present candidates.
        judgements: of pairs of them; those of unknown reports are ignored.
        fixes: all fix commits of the window in window order: what ranks count.
        undone: fixes that the window takes back.
        redone: candidate ids of undone fixes and of the fixes that took them up again.
        limit: reports that one bug may unite.

    Raises:
        KeyError: a report of a commit that is not among the fixes.
    """
    rank = {sha: number for number, sha in enumerate(fixes, 1)}
    by_id = {report.candidate: report for report in reports}
    edges = [(j.left, j.right) for j in judgements if j.match]
    gone = {item.fix: item.by for item in undone}
    merged = Merged([], [], [])
    for members in _components(by_id, [*edges, *redone], rank):
        if all(report.commit in gone for report in members):
            merged.left_out.extend(_undone(report, gone[report.commit]) for report in members)
        elif len(members) > limit:
            merged.oversized.append(tuple(report.candidate for report in members))
            alone = [report for report in members if report.commit not in gone]
            merged.bugs.extend(_bug(repo, [report], rank) for report in alone)
        else:
            merged.bugs.append(_bug(repo, members, rank))
    merged.bugs.sort(key=lambda bug: (bug.fix_rank, bug.id))
    return merged


def oversized_text(groups: Iterable[Sequence[str]]) -> str:
    """The groups beyond the limit as TSV for a person: a row a candidate, groups numbered from 1."""
    rows = ["group\tcandidate"]
    rows += [f"{number}\t{name}" for number, names in enumerate(groups, 1) for name in names]
    return "\n".join(rows) + "\n"


def _components(
    by_id: Mapping[str, Report], edges: Iterable[tuple[str, str]], rank: Mapping[str, int]
) -> list[list[Report]]:
    import networkx as nx

    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(by_id)
    graph.add_edges_from((a, b) for a, b in edges if a in by_id and b in by_id)
    return [
        sorted((by_id[name] for name in names), key=lambda r: (rank[r.commit], r.candidate))
        for names in nx.connected_components(graph)
    ]


def _bug(repo: str, members: Sequence[Report], rank: Mapping[str, int]) -> Bug:
    first = members[0]
    places = dict.fromkeys(place for r in members for place in (r.primary, *r.others))
    return Bug(
        id=f"{repo}:{first.candidate}",
        repo=repo,
        title=first.title,
        description=first.description,
        primary=first.primary,
        others=_without(places, first.primary),
        unit=first.unit,
        snippet=first.snippet,
        severity=max((report.severity for report in members), key=_SEVERITIES.index),
        suggested_fix=first.suggested_fix,
        candidates=tuple(report.candidate for report in members),
        fix_commits=tuple(dict.fromkeys(report.commit for report in members)),
        fix_rank=rank[first.commit],
        provenance=Provenance.of_heuristic(ENGINE_VERSION),
    )


def _without(places: Iterable[Location], primary: Location) -> tuple[Location, ...]:
    return tuple(place for place in places if place != primary)


def _undone(report: Report, by: str) -> Dropped:
    return Dropped(
        commit=report.commit, stage="deduplicate", reason=f"taken back in the window by {by[:12]}"
    )
