"""Where a fix only adds, and what stood around that place."""

from collections.abc import Sequence
from dataclasses import dataclass

from probe.reference.extract import Extracted, FaultyFile, insertion_line
from probe.reference.places import AnchoredLine, Parent, Past, look_up


@dataclass(frozen=True, slots=True)
class Insertion:
    """A place where the fix only adds, and what stood around it."""

    path: str
    line: int
    """The line after which it adds, 0 at the start of the file."""
    added: tuple[str, ...]
    """Lines that say something; empty where it replaces lines."""
    unit: str | None
    """Qualified name of the parent's unit around it; None at module level."""
    in_code: bool
    """Inside a function or method, where statements run; what is added elsewhere is declared."""
    head: AnchoredLine | None
    """The line that names the unit."""
    opener: AnchoredLine | None
    """The line that opens the table or block around; it may be the head."""
    neighbours: tuple[AnchoredLine, ...]
    """The nearest lines that say something before and after, inside the unit."""


def anchor_insertions(fix: Extracted, parent: Parent, past: Past) -> tuple[Insertion, ...]:
    """The places where a fix adds; where it only adds, the surroundings of all its changes."""
    around = fix.only_adds
    return tuple(
        _anchor_insertion(fix, file.path, point, parent, past)
        for file in fix.files
        for point in _context_points(file, around=around)
    )


def _anchor_insertion(
    fix: Extracted, path: str, point: "_Point", parent: Parent, past: Past
) -> Insertion:
    lines = parent.lines(path)
    unit = parent.unit(path, max(1, point.after))
    first, last = (unit.first, unit.last) if unit else (1, len(lines))
    near = _saying_neighbours(lines, point.after, point.resume, first, last)
    opener = _opener(lines, point)
    heads = [n for n in (opener, unit.head_first if unit else None) if n is not None]
    looked_up = look_up(fix, [(path, n, frozenset[str]()) for n in (*near, *heads)], parent, past)
    return Insertion(
        path,
        point.after,
        point.added,
        unit.name if unit else None,
        unit is not None and unit.kind in {"function", "method"},
        looked_up[-1] if unit else None,
        looked_up[len(near)] if opener else None,
        looked_up[: len(near)],
    )


@dataclass(frozen=True, slots=True)
class _Point:
    """A place between two lines of the parent, and what the fix adds there."""

    after: int
    resume: int
    added: tuple[str, ...] = ()
    indent: int = 0


def _context_points(file: FaultyFile, *, around: bool) -> list[_Point]:
    """Where a fix inserts; ``around``: what its other changes stand in as well."""
    points: dict[tuple[int, int], _Point] = {}
    for change in file.changes:
        saying = tuple(line for line in change.added if any(map(str.isalnum, line)))
        indent = _indent(saying[0]) if saying else 0
        if not change.faulty:
            line = insertion_line(change)
            points[line, line + 1] = _Point(line, line + 1, saying, indent)
        elif around:
            before, behind = change.old_start - 1, change.old_start + len(change.removed)
            points[before, behind] = _Point(before, behind, (), indent)
    return [points[key] for key in sorted(points)]


def _opener(lines: Sequence[str], point: _Point) -> int | None:
    """The nearest line before with less indentation: the head of the table or block around."""
    return next(
        (
            n
            for n in range(min(point.after, len(lines)), 0, -1)
            if _says(lines, n) and _indent(lines[n - 1]) < point.indent
        ),
        None,
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _saying_neighbours(
    lines: Sequence[str], after: int, resume: int, first: int, last: int
) -> list[int]:
    """The nearest lines with a letter or digit at or before ``after``, and from ``resume`` on."""
    before = next(
        (n for n in range(min(after, len(lines)), first - 1, -1) if _says(lines, n)), None
    )
    behind = next((n for n in range(resume, min(last, len(lines)) + 1) if _says(lines, n)), None)
    return [n for n in (before, behind) if n is not None]


def _says(lines: Sequence[str], number: int) -> bool:
    return any(character.isalnum() for character in lines[number - 1])
