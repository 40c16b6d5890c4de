"""Where the lines of a fix stood in the snapshot, by blame, then by name, then by text."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from probe.code.languages import language_of
from probe.code.units import Unit, enclosing_unit, find_units
from probe.records import Location
from probe.records.history import Anchoring, Way
from probe.reference.extract import Extracted, FaultyFile, Read, insertion_line
from probe.reference.hunks import words_of
from probe.reference.lineage import squeeze
from probe.reference.mirror import Snapshot, split_lines
from probe.reference.trace import Origin, Origins, Place

JOIN_GAP = 3
"""Anchored lines so close together make one range."""
MIN_UNIQUE_TEXT = 12
"""Characters without whitespace of a line whose single occurrence says where it came from."""
_IMPORTING = ("import ", "from ", "export ", "#", "//", "*", "/*")
MAX_WINDOW = 12
"""Lines between the neighbours of an insertion for them to make one range."""


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


@dataclass(frozen=True, slots=True)
class Anchored:
    """An extracted fix looked up in the snapshot."""

    fix: Extracted
    lines: tuple[AnchoredLine, ...]
    """All faulty lines, by file and line."""
    insertions: tuple[Insertion, ...]
    """All purely additive places; where the fix takes nothing away, the surroundings of its faulty
    lines too."""
    units: tuple[tuple[str, str], ...]
    """Path and qualified name of the parent's units that hold faulty lines or insertions."""
    locations: tuple[Location, ...]
    """Ranges in the snapshot, the likeliest first; empty where the candidate is lost."""
    anchoring: Anchoring
    ways: dict[Way, int]
    """How many lines were found in which way; units, where it was their names that were found."""


def anchor(fix: Extracted, past: Past) -> Anchored:
    """Find the snapshot's lines behind a fix.

    Faulty lines and the neighbours of insertions go by recursive blame. Where nothing is found so,
    the enclosing unit is looked for by its qualified name, then each line by its text, where that
    occurs once in the snapshot.

    Args:
        fix: what the fix changes.
        past: where lines come from and what the snapshot holds.
    """
    parent = _Parent(fix, past.read)
    lines = _anchor_lines(fix, parent, past)
    insertions = _anchor_insertions(fix, parent, past)
    units = tuple(dict.fromkeys(parent.units_of_changes()))
    near = [line for insertion in insertions for line in insertion.neighbours]
    ways = _ways([*lines, *near]) if needs_context(fix) else _ways(lines) or _ways(near)
    locations = _ranges(lines) or _insertion_ranges(insertions)
    uses = _uses_of_imports(fix, past.snapshot)
    if uses:
        locations, ways = uses, ways or Counter({"text": len(uses)})
    if not locations:
        locations, ways = _by_name_or_text(fix, units, parent, past)
    anchoring = _anchoring(ways) if locations else "lost"
    return Anchored(fix, lines, insertions, units, locations, anchoring, dict(ways))


def needs_context(fix: Extracted) -> bool:
    """Whether presence depends on what surrounds the changes: the fix takes nothing away."""
    return all(change.extends for file in fix.files for change in file.changes)


class _Parent:
    """The parent's files of one fix, read and parsed on demand."""

    def __init__(self, fix: Extracted, read: Read) -> None:
        self._fix = fix
        self._read = read
        self.around = needs_context(fix)
        self._content: dict[str, bytes] = {}
        self._units: dict[str, list[Unit]] = {}

    def lines(self, path: str) -> list[str]:
        return split_lines(self._bytes(path))

    def unit(self, path: str, line: int) -> Unit | None:
        if path not in self._units:
            language = language_of(path)
            wanted = self._lines_of_changes(path)
            content = self._bytes(path)
            self._units[path] = find_units(language, content, wanted) if language else []
        return enclosing_unit(self._units[path], line)

    def units_of_changes(self) -> Iterable[tuple[str, str]]:
        for file in self._fix.files:
            for line in self._lines_of_changes(file.path):
                unit = self.unit(file.path, line)
                if unit is not None:
                    yield file.path, unit.name

    def _lines_of_changes(self, path: str) -> list[int]:
        """Lines asked about: faulty ones, and those before insertions and extended lines."""
        return sorted(
            {
                max(1, line)
                for file in self._fix.files
                if file.path == path
                for line in (
                    *file.faulty,
                    *file.insertions,
                    *(point.after for point in _context_points(file, around=self.around)),
                )
            }
        )

    def _bytes(self, path: str) -> bytes:
        if path not in self._content:
            self._content[path] = self._read(self._fix.parent, path) or b""
        return self._content[path]


def _anchor_lines(fix: Extracted, parent: _Parent, past: Past) -> tuple[AnchoredLine, ...]:
    wanted = [
        (file.path, line, lost)
        for file in fix.files
        for line, lost in zip(file.faulty, file.lost, strict=True)
    ]
    return _look_up(fix, wanted, parent, past)


def _look_up(
    fix: Extracted,
    wanted: Sequence[tuple[str, int, frozenset[str]]],
    parent: _Parent,
    past: Past,
) -> tuple[AnchoredLine, ...]:
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
    here = [n for n, line in enumerate(snapshot.lines(place.path), 1) if squeeze(line) == text]
    if here:
        return place.path, min(here, key=lambda n: (abs(n - place.line), n))
    elsewhere = snapshot.by_text.get(text, [])
    return elsewhere[0] if len(elsewhere) == 1 else None


def _restored(
    path: str, number: int, parent: _Parent, snapshot: Snapshot
) -> tuple[str, int] | None:
    """The snapshot's line of the same text, where the window took it away and brought it back.

    It is the same line only where its text stands once in the file, now and then, and in the same
    unit: that is what a revert leaves.
    """
    texts = [squeeze(line) for line in parent.lines(path)]
    text = texts[number - 1] if number <= len(texts) else ""
    older = [n for n, line in enumerate(snapshot.lines(path), 1) if squeeze(line) == text]
    if len(text) < MIN_UNIQUE_TEXT or len(older) != 1 or texts.count(text) != 1:
        return None
    now, then = parent.unit(path, number), enclosing_unit(snapshot.units(path), older[0])
    if now is None or then is None or now.name != then.name:
        return None
    return path, older[0]


def _anchor_insertions(fix: Extracted, parent: _Parent, past: Past) -> tuple[Insertion, ...]:
    found = []
    for file in fix.files:
        for point in _context_points(file, around=parent.around):
            found.append(_anchor_insertion(fix, file.path, point, parent, past))
    return tuple(found)


def _anchor_insertion(
    fix: Extracted, path: str, point: "_Point", parent: _Parent, past: Past
) -> Insertion:
    lines = parent.lines(path)
    unit = parent.unit(path, max(1, point.after))
    first, last = (unit.first, unit.last) if unit else (1, len(lines))
    near = _saying_neighbours(lines, point.after, point.resume, first, last)
    opener = _opener(lines, point)
    heads = [n for n in (opener, unit.head_first if unit else None) if n is not None]
    looked_up = _look_up(fix, [(path, n, frozenset[str]()) for n in (*near, *heads)], parent, past)
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


def _ranges(lines: Iterable[AnchoredLine]) -> tuple[Location, ...]:
    """Anchored lines joined to ranges; those with most of what the fix takes away come first."""
    weight: Counter[tuple[str, int]] = Counter()
    for line in lines:
        if line.place is not None:
            weight[line.place] += 2 if line.lost else 1
    ranges: list[tuple[str, int, int, int]] = []
    for (path, number), value in sorted(weight.items()):
        if ranges and ranges[-1][0] == path and number - ranges[-1][2] <= JOIN_GAP:
            _, first, _, total = ranges[-1]
            ranges[-1] = (path, first, number, total + value)
        else:
            ranges.append((path, number, number, value))
    best = sorted(ranges, key=lambda found: (-found[3], found[0], found[1]))
    return tuple(Location(path=path, first=first, last=last) for path, first, last, _ in best)


def _insertion_ranges(insertions: Iterable[Insertion]) -> tuple[Location, ...]:
    found: list[Location] = []
    for insertion in insertions:
        spots = [line.place for line in insertion.neighbours if line.place is not None]
        if not spots and insertion.head is not None and insertion.head.place is not None:
            spots = [insertion.head.place]
        if not spots:
            continue
        (path, first), (other, last) = spots[0], spots[-1]
        if other != path or not 0 <= last - first <= MAX_WINDOW:
            last = first
        found.append(Location(path=path, first=first, last=last))
    return tuple(dict.fromkeys(found))


def _ways(lines: Iterable[AnchoredLine]) -> Counter[Way]:
    return Counter(line.how for line in lines if line.how is not None)


def _anchoring(ways: Counter[Way]) -> Anchoring:
    """How most of the lines were found; the plainer way wins ties."""
    moved = ways.total() - ways["exact"] - ways["renamed"]
    if ways["exact"] >= max(ways["renamed"], moved):
        return "exact"
    return "renamed" if ways["renamed"] >= moved else "moved"


def _by_name_or_text(
    fix: Extracted, units: Sequence[tuple[str, str]], parent: _Parent, past: Past
) -> tuple[tuple[Location, ...], Counter[Way]]:
    heads = _unit_heads(units, past.snapshot)
    texts = () if heads else _unique_texts(fix, parent, past)
    found: Counter[Way] = Counter({"unit": len(heads), "text": len(texts)})
    return heads or texts, +found


def _unit_heads(units: Iterable[tuple[str, str]], snapshot: Snapshot) -> tuple[Location, ...]:
    """Heads of the snapshot's units of the same qualified name: same file, else the only one."""
    found = []
    for path, name in units:
        matches = snapshot.by_unit.get(name, [])
        same = [unit for where, unit in matches if where == path]
        if same:
            where, unit = path, same[0]
        elif len(matches) == 1:
            where, unit = matches[0]
        else:
            continue
        found.append(Location(path=where, first=unit.head_first, last=unit.head_last))
    return tuple(dict.fromkeys(found))


def _uses_of_imports(fix: Extracted, snapshot: Snapshot) -> tuple[Location, ...]:
    """Where a file uses the names that a fix only imports: there it fails, not at the imports."""
    found: list[Location] = []
    for file in fix.files:
        if any(change.weight != "side" or change.faulty for change in file.changes):
            return ()
        names = {word for c in file.changes for token in c.added_tokens for word in words_of(token)}
        found += [
            Location(path=file.path, first=number, last=number)
            for number, line in enumerate(snapshot.lines(file.path), 1)
            if names.intersection(words_of(line)) and not line.lstrip().startswith(_IMPORTING)
        ]
    return tuple(found)


def _unique_texts(fix: Extracted, parent: _Parent, past: Past) -> tuple[Location, ...]:
    found = []
    for file in fix.files:
        lines = parent.lines(file.path)
        for number in file.faulty:
            text = squeeze(lines[number - 1]) if number <= len(lines) else ""
            spots = past.snapshot.by_text.get(text, []) if len(text) >= MIN_UNIQUE_TEXT else []
            if len(spots) == 1:
                path, line = spots[0]
                found.append(Location(path=path, first=line, last=line))
    return tuple(dict.fromkeys(found))
