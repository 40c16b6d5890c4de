"""Reference bugs from judged reports: connected components, undone fixes, ranks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from probe.records import Bug, Dropped, Judgement, Location, Report
from probe.reference.undone import Undone

MERGE_LIMIT = 20
"""Reports that one bug may unite by default; larger components are left for a person."""
OVERSIZED_COLUMNS = ("group", "candidate", "commit", "title", "path", "lines")
"""Columns of ``oversized.tsv``."""
TAKEN_BACK = "taken back in the window"
"""Reason of a report whose fix the window takes back."""
_SEVERITIES = ("low", "medium", "high", "critical")


@dataclass(frozen=True, slots=True)
class Merged:
    """The reference set and what did not go into it as judged."""

    bugs: list[Bug]
    """In the window order of their earliest fixes."""
    left_out: list[Dropped]
    """Fixes that the window takes back."""
    oversized: list[tuple[Report, ...]]
    """Components beyond the limit, in window order; each of their reports is a bug of its own."""
    unjudged: int = 0
    """Pairs of reports that the engine could not judge: they are not merged."""


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
    is undone gives no bug; one with more than ``limit`` reports is not merged but listed. The
    earliest report stands for a bug, with the places of all, the highest severity and every fix
    commit. A report that gives its fix away makes no bug and is left out altogether.

    Args:
        repo: key of the repository.
        reports: of all present candidates, leaking ones too.
        judgements: of pairs of them; those of unknown reports are ignored.
        fixes: all fix commits of the window in window order: what ranks count.
        undone: fixes that the window takes back.
        redone: candidate ids of undone fixes and of the fixes that took them up again.
        limit: reports that one bug may unite.

    Raises:
        KeyError: a report of a commit that is not among the fixes.
    """
    rank = {sha: number for number, sha in enumerate(fixes, 1)}
    by_id = {report.candidate: report for report in reports if not report.leaks}
    judged = [j for j in judgements if j.left in by_id and j.right in by_id]
    edges = [(j.left, j.right) for j in judged if j.match]
    gone = {item.fix: item.by for item in undone}
    merged = Merged([], [], [], sum(j.match is None for j in judged))
    for members in _components(by_id, [*edges, *redone], rank):
        if all(report.commit in gone for report in members):
            merged.left_out.extend(_undone(report, gone[report.commit]) for report in members)
        elif len(members) > limit:
            merged.oversized.append(tuple(members))
            for report in members:
                if report.commit in gone:
                    merged.left_out.append(_undone(report, gone[report.commit]))
                else:
                    merged.bugs.append(_bug(repo, [report], rank))
        else:
            merged.bugs.append(_bug(repo, members, rank))
    merged.bugs.sort(key=lambda bug: (bug.fix_rank, bug.id))
    return merged


def oversized_text(groups: Iterable[Sequence[Report]]) -> str:
    """The groups beyond the limit as TSV for a person: a row a report, groups numbered from 1.

    Columns: ``group``, ``candidate``, ``commit``, ``title``, ``path``, ``lines`` (``first-last``).
    """
    rows = ["\t".join(OVERSIZED_COLUMNS)]
    for number, reports in enumerate(groups, 1):
        for report in reports:
            place = report.primary
            lines = f"{place.first}-{place.last}"
            cells = (report.candidate, report.commit, report.title, place.path, lines)
            rows.append("\t".join([str(number), *(" ".join(cell.split()) for cell in cells)]))
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
        trigger=first.trigger,
        suggested_fix=first.suggested_fix,
        candidates=tuple(report.candidate for report in members),
        fix_commits=tuple(dict.fromkeys(report.commit for report in members)),
        fix_rank=rank[first.commit],
        provenance=first.provenance,
    )


def _without(places: Iterable[Location], primary: Location) -> tuple[Location, ...]:
    return tuple(place for place in places if place != primary)


def _undone(report: Report, by: str) -> Dropped:
    return Dropped(
        commit=report.commit,
        stage="deduplicate",
        candidate=report.candidate,
        reason=TAKEN_BACK,
        detail=f"by {by[:12]}",
    )
