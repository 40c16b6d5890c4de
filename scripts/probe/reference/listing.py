"""The reference set for people (``bugs.csv``)."""

from collections.abc import Iterable, Iterator

from probe.records import Bug

BUG_COLUMNS = (
    "id",
    "title",
    "place",
    "unit",
    "severity",
    "fix_rank",
    "fix_commits",
    "description",
)


def bug_rows(bugs: Iterable[Bug]) -> Iterator[dict[str, object]]:
    """A row a bug, with the columns of :data:`BUG_COLUMNS`."""
    for bug in bugs:
        yield {
            "id": bug.id,
            "title": bug.title,
            "place": f"{bug.primary.path}:{bug.primary.first}-{bug.primary.last}",
            "unit": bug.unit,
            "severity": bug.severity,
            "fix_rank": bug.fix_rank,
            "fix_commits": " ".join(bug.fix_commits),
            "description": bug.description,
        }
