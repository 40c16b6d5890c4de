"""Lines of a fix's parent and where they stood in the snapshot."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from probe.code.languages import language_of
from probe.code.units import Unit, enclosing_unit, find_units
from probe.records.history import Way
from probe.reference.extract import Extracted, Read, insertion_line
from probe.reference.lineage import squeeze
from probe.reference.mirror import Snapshot, index_lines, split_lines
from probe.reference.trace import Origin, Origins, Place

MIN_UNIQUE_TEXT = 12
"""Characters without whitespace of a line whose single occurrence says where it came from."""


@dataclass(frozen=True, slots=True)
class Past:
    """What anchoring asks: where lines come from, and what the snapshot holds."""

    tracer: Origins
    snapshot: Snapshot
    read: Read
    """Reads a path at a revision."""
    uses: Callable[[str, Collection[str]], Mapping[str, Sequence[Place]]]
    """Lines of a revision that hold any of some words, by word."""


@dataclass(frozen=True, slots=True)
class AnchoredLine:
    """One parent-side line and its place in the snapshot."""

    path: str
    """Path in the fix's parent."""
    line: int
    lost: frozenset[str]
    """Words that the fix takes away from it."""
    unit: str | None
    """Qualified name of the parent's unit around it; None at module level."""
    origin: Origin
    place: tuple[str, int] | None
    """Path and line in the snapshot, None where the line was born later."""
    how: Way | None
    """How ``place`` was found; None without one."""


class Parent:
    """The parent's files of one fix, read and parsed on demand."""

    def __init__(self, fix: Extracted, read: Read) -> None:
        self._fix = fix
        self._read = read
        self._content: dict[str, bytes] = {}
        self._lines: dict[str, list[str]] = {}
        self._squeezed: dict[str, dict[str, list[int]]] = {}
        self._units: dict[str, list[Unit]] = {}

    def lines(self, path: str) -> list[str]:
        """The lines of a file; empty where it cannot be read."""
        if path not in self._lines:
            self._lines[path] = split_lines(self._bytes(path))
        return self._lines[path]

    def squeezed(self, path: str) -> dict[str, list[int]]:
        """The numbers of a file's lines by their text without whitespace."""
        if path not in self._squeezed:
            self._squeezed[path] = index_lines(self.lines(path))
        return self._squeezed[path]

    def unit(self, path: str, line: int) -> Unit | None:
        """The innermost unit around a line that the fix touches; None at module level."""
        if path not in self._units:
            language = language_of(path)
            wanted = self._lines_of_changes(path)
            content = self._bytes(path)
            self._units[path] = find_units(language, content, wanted) if language else []
        return enclosing_unit(self._units[path], line)

    def units_of_changes(self) -> Iterable[tuple[str, str]]:
        """Path and qualified name of the unit around each change."""
        for file in self._fix.files:
            for line in self._lines_of_changes(file.path):
                unit = self.unit(file.path, line)
                if unit is not None:
                    yield file.path, unit.name

    def _lines_of_changes(self, path: str) -> list[int]:
        """Lines asked about: faulty ones, and those before changes."""
        files = [file for file in self._fix.files if file.path == path]
        found = {line for file in files for line in file.faulty}
        for file in files:
            for change in file.changes:
                found |= {max(1, change.old_start - 1), max(1, insertion_line(change))}
        return sorted(found)

    def _bytes(self, path: str) -> bytes:
        if path not in self._content:
            self._content[path] = self._read(self._fix.parent, path) or b""
        return self._content[path]


def look_up(
    fix: Extracted,
    wanted: Sequence[tuple[str, int, frozenset[str]]],
    parent: Parent,
    past: Past,
) -> tuple[AnchoredLine, ...]:
    """Find the snapshot's lines behind some lines of a fix's parent.

    Args:
        fix: whose parent it is.
        wanted: path, line, and the words that the fix takes away from it.
        parent: the parent's files.
        past: where lines come from and what the snapshot holds.
    """
    places = [Place(fix.parent, path, line) for path, line, _ in wanted]
    origins = past.tracer.trace(places)
    found = []
    for (path, line, lost), place in zip(wanted, places, strict=True):
        origin = origins[place]
        spot = _settle(origin, past)
        how: Way | None = None
        if spot is not None:
            how = "rewritten" if origin.writers else "renamed" if spot[0] != path else "exact"
        elif origin.place is None:
            spot = _restored(path, line, parent, past.snapshot)
            how = "restored" if spot else None
        unit = parent.unit(path, line)
        found.append(AnchoredLine(path, line, lost, unit.name if unit else None, origin, spot, how))
    return tuple(found)


def _settle(origin: Origin, past: Past) -> tuple[str, int] | None:
    """The boundary's line in the snapshot; a branch may have forked off before the snapshot."""
    place = origin.place
    if place is None:
        return None
    snapshot = past.snapshot
    if place.rev == snapshot.t0:
        return place.path, place.line
    older = split_lines(past.read(place.rev, place.path) or b"")
    if not 0 < place.line <= len(older):
        return None
    text = squeeze(older[place.line - 1])
    here = snapshot.squeezed(place.path).get(text)
    if here:
        return place.path, min(here, key=lambda n: (abs(n - place.line), n))
    elsewhere = snapshot.by_text.get(text, [])
    return elsewhere[0] if len(elsewhere) == 1 else None


def _restored(path: str, number: int, parent: Parent, snapshot: Snapshot) -> tuple[str, int] | None:
    """The snapshot's line of the same text, where the window took it away and brought it back.

    It is the same line only where its text stands once in the file, now and then, and in the same
    unit: that is what a revert leaves.
    """
    lines = parent.lines(path)
    text = squeeze(lines[number - 1]) if number <= len(lines) else ""
    older = snapshot.squeezed(path).get(text, [])
    if len(text) < MIN_UNIQUE_TEXT or len(older) != 1 or len(parent.squeezed(path)[text]) != 1:
        return None
    now, then = parent.unit(path, number), enclosing_unit(snapshot.units(path), older[0])
    if now is None or then is None or now.name != then.name:
        return None
    return path, older[0]
