"""The reference set for people (``bugs.csv``): a row a bug, safe to open in a spreadsheet."""

from collections.abc import Iterable, Iterator

from probe.records import Bug

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

_FORMULA = ("=", "+", "-", "@")


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


def safe_cell(text: str) -> str:
    """Text that a spreadsheet shows as it is: on one line, and never taken for a formula.

    Whitespace of any kind becomes one space; what begins like a formula gets an apostrophe in
    front (OWASP, CSV injection). Control characters, which some programs refuse, are left out.
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return f"'{line}" if line.startswith(_FORMULA) else line
