"""The reference set for people (``bugs.csv``): a row a bug, safe to open in a spreadsheet."""

from collections.abc import Iterable, Iterator

from probe.records import Bug
from probe.records.cells import safe_cell

BUG_COLUMNS = (
    "id",
    "title",
    "severity",
    "path",
    "first_line",
    "last_line",
    "unit",
    "trigger",
    "description",
    "fix_rank",
    "fix_commits",
    "engine",
)


def bug_rows(bugs: Iterable[Bug]) -> Iterator[dict[str, object]]:
    """A row a bug, with the columns of :data:`BUG_COLUMNS`, in the given order.

    First and last line have columns of their own: a spreadsheet takes ``3-5`` for a day of May.
    """
    for bug in bugs:
        row: dict[str, str | int | None] = {
            "id": bug.id,
            "title": bug.title,
            "severity": bug.severity,
            "path": bug.primary.path,
            "first_line": bug.primary.first,
            "last_line": bug.primary.last,
            "unit": bug.unit,
            "trigger": bug.trigger,
            "description": bug.description,
            "fix_rank": bug.fix_rank,
            "fix_commits": " ".join(bug.fix_commits),
            "engine": bug.provenance.engine,
        }
        yield {key: safe_cell(value) if isinstance(value, str) else value
               for key, value in row.items()}  # fmt: skip
