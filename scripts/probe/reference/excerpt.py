"""The snapshot's code around a defect as a model reads it: numbered lines, within a budget."""

from collections.abc import Iterator, Sequence

from probe.code.tokens import count_tokens
from probe.code.units import enclosing_unit
from probe.records import Location
from probe.reference.classify_text import clean, cut_middle
from probe.reference.mirror import Snapshot
from probe.reference.synthesize import MAX_HEAD, lines_text

AROUND = 10
"""Lines shown on either side of a place at module level, at most."""

LONGEST_LINE = 400
"""Characters of a line that are shown: generated files hold lines of megabytes."""

_MOST_LINES = 2_000


def excerpt(places: Sequence[Location], snapshot: Snapshot, budget: int) -> str:
    """The units around some places, files apart, each line after its number and a bar.

    The places are served in order: what a unit has no room for is left out from its ends on, so
    that the place itself and its unit's head stay, and a later place gets what is left. A line of
    dots stands for lines that are not shown.

    Args:
        places: ranges inside files of the snapshot.
        snapshot: the snapshot.
        budget: tokens (cl100k_base) of the result, at most.
    """
    shown: dict[str, dict[int, str]] = {}
    left = budget - budget // 20  # for the dots
    for place in places:
        lines = snapshot.lines(place.path)
        chosen = shown.get(place.path)
        left -= 0 if chosen is not None else count_tokens(f"FILE: {place.path}\n\n")
        for number in _by_need(place, lines, snapshot):
            if chosen is not None and number in chosen:
                continue
            text = _line(number, lines[number - 1])
            left -= count_tokens(text)
            if left < 0:
                break
            chosen = shown.setdefault(place.path, {})
            chosen[number] = text
        if left < 0:
            break
    text = "\n\n".join(f"FILE: {path}\n{_joined(numbered)}" for path, numbered in shown.items())
    return cut_middle(text, budget)


def places_text(places: Sequence[Location], snapshot: Snapshot) -> str:
    """One place a line, with its unit: ``lib/a.py lines 3-4 in `Reader.rows```."""
    rows = []
    for place in places:
        unit = enclosing_unit(snapshot.units(place.path), place.first)
        rows.append(f"{place.path} {lines_text(place)}" + (f" in `{unit.name}`" if unit else ""))
    return clean("\n".join(rows))


def _by_need(place: Location, lines: Sequence[str], snapshot: Snapshot) -> Iterator[int]:
    """Numbers of the lines to show, the most needed first: place, head, then outward."""
    unit = enclosing_unit(snapshot.units(place.path), place.first)
    first, last = max(1, place.first - AROUND), min(len(lines), place.last + AROUND)
    if unit is not None:
        first, last = unit.first, min(len(lines), max(unit.last, place.last))
    yield from range(place.first, min(place.last, place.first + _MOST_LINES) + 1)
    if unit is not None:
        yield from range(unit.head_first, min(unit.head_last, unit.head_first + MAX_HEAD - 1) + 1)
    for step in range(1, _MOST_LINES):
        above, below = place.first - step, place.last + step
        if above < first and below > last:
            return
        if above >= first:
            yield above
        if below <= last:
            yield below


def _line(number: int, text: str) -> str:
    text = clean(text).rstrip("\r")
    if len(text) > LONGEST_LINE:
        text = f"{text[:LONGEST_LINE]} [... {len(text) - LONGEST_LINE} characters]"
    return f"{number:>5}| {text}\n"


def _joined(numbered: dict[int, str]) -> str:
    parts: list[str] = []
    before = None
    for number in sorted(numbered):
        if before is not None and number > before + 1:
            parts.append("   ...\n")
        parts.append(numbered[number])
        before = number
    return "".join(parts).rstrip("\n")
