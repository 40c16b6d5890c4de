"""Where the lines of a fix stood in the snapshot, by blame, then by name, then by text."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from probe.records import Location
from probe.records.history import Anchoring, Way
from probe.reference.extract import Extracted
from probe.reference.hunks import words_of
from probe.reference.insertions import Insertion, anchor_insertions
from probe.reference.lineage import squeeze
from probe.reference.mirror import Snapshot
from probe.reference.places import MIN_UNIQUE_TEXT, AnchoredLine, Parent, Past, look_up

JOIN_GAP = 3
"""Anchored lines so close together make one range."""
MAX_WINDOW = 12
"""Lines between the neighbours of an insertion for them to make one range."""
_IMPORTING = ("import ", "from ", "export ", "#", "//", "*", "/*")


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
    parent = Parent(fix, past.read)
    lines = _anchor_lines(fix, parent, past)
    insertions = anchor_insertions(fix, parent, past)
    units = tuple(dict.fromkeys(parent.units_of_changes()))
    near = [line for insertion in insertions for line in insertion.neighbours]
    ways = _ways(lines) or _ways(near)
    locations = _ranges(lines) or _insertion_ranges(insertions)
    uses = _uses_of_imports(fix, past.snapshot)
    if uses:
        locations, ways = uses, ways or Counter({"text": len(uses)})
    if not locations:
        locations, ways = _by_name_or_text(fix, units, parent, past)
    anchoring = _anchoring(ways) if locations else "lost"
    return Anchored(fix, lines, insertions, units, locations, anchoring, dict(ways))


def _anchor_lines(fix: Extracted, parent: Parent, past: Past) -> tuple[AnchoredLine, ...]:
    wanted = [
        (file.path, line, lost)
        for file in fix.files
        for line, lost in zip(file.faulty, file.lost, strict=True)
    ]
    return look_up(fix, wanted, parent, past)


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
    fix: Extracted, units: Sequence[tuple[str, str]], parent: Parent, past: Past
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


def _unique_texts(fix: Extracted, parent: Parent, past: Past) -> tuple[Location, ...]:
    found = []
    for file in fix.files:
        lines = parent.lines(file.path)
        for number in file.faulty:
            text = squeeze(lines[number - 1]) if number <= len(lines) else ""
            spot = past.snapshot.unique_text(text) if len(text) >= MIN_UNIQUE_TEXT else None
            if spot is not None:
                path, line = spot
                found.append(Location(path=path, first=line, last=line))
    return tuple(dict.fromkeys(found))
