"""A template report of a defect, from its fix's subject and the snapshot's code.

The report is in the present tense, cites the snapshot's identifiers and lines, and never names the
fix: no commit, pull request, issue or fixing verb. A purely additive fix is framed as an omission,
since the visible code is not wrong by itself.
"""

from collections.abc import Sequence

from probe.code.units import Unit, enclosing_unit
from probe.records import Candidate, Dropped, Location, Provenance, Report
from probe.reference.mirror import Snapshot
from probe.reference.titles import defect_title

ENGINE_VERSION = "1"
"""Raised whenever a report may come out differently."""
CONTEXT = 3
"""Lines of context on either side of a snippet."""
MAX_SNIPPET = 60
"""Lines of a snippet, the unit's head included."""
MAX_HEAD = 6
"""Lines of the enclosing unit's head: signatures are wrapped one parameter a line."""
MAX_OTHERS = 10
"""Further locations that a report lists; a sweeping fix touches hundreds."""
GAP = "..."
"""Stands for lines left out of a snippet."""


def write_report(candidate: Candidate, snapshot: Snapshot) -> Report | Dropped:
    """The write-up of one candidate, or why there is none: it has no place in the snapshot."""
    places = [
        clipped for place in candidate.snapshot_locations if (clipped := _clip(place, snapshot))
    ]
    if not places:
        return Dropped(
            commit=candidate.commit, stage="synthesize", reason="no place in the snapshot"
        )
    primary, others = places[0], tuple(places[1 : 1 + MAX_OTHERS])
    unit = enclosing_unit(snapshot.units(primary.path), primary.first)
    name = unit.name if unit else None
    title = defect_title(candidate.title) or f"Wrong behaviour in {name or primary.path}"
    return Report(
        candidate=candidate.id,
        commit=candidate.commit,
        title=title,
        description=_describe(title, candidate, primary, name, others, snapshot),
        primary=primary,
        others=others,
        unit=name,
        snippet=cut_snippet(snapshot.lines(primary.path), primary, unit),
        severity="medium",
        suggested_fix=candidate.suggested_fix,
        provenance=Provenance.of_heuristic(ENGINE_VERSION),
    )


def cut_snippet(lines: Sequence[str], place: Location, unit: Unit | None) -> str:
    """The lines of a place with bounded context, below its unit's head.

    Args:
        lines: the whole file.
        place: a range inside the file.
        unit: the enclosing unit, None at module level.

    Returns:
        At most :data:`MAX_SNIPPET` lines and two gaps, joined by line feeds.
    """
    first = max(1, place.first - CONTEXT)
    last = min(len(lines), place.last + CONTEXT)
    head: list[str] = []
    if unit is not None:
        first = max(first, unit.first)
        last = max(min(last, unit.last), min(place.last, len(lines)))
        head_last = min(unit.head_last, unit.head_first + MAX_HEAD - 1, first - 1)
        head = list(lines[unit.head_first - 1 : head_last])
        if head and head_last < first - 1:
            head.append(GAP)
    budget = MAX_SNIPPET - len(head)
    body = list(lines[first - 1 : last])
    if len(body) > budget:
        body = [*body[:budget], GAP]
    return "\n".join([*head, *body])


def _clip(place: Location, snapshot: Snapshot) -> Location | None:
    count = len(snapshot.lines(place.path))
    if place.first > count:
        return None
    return Location(path=place.path, first=place.first, last=min(place.last, count))


def _describe(
    title: str,
    candidate: Candidate,
    primary: Location,
    unit: str | None,
    others: Sequence[Location],
    snapshot: Snapshot,
) -> str:
    where = f"`{unit}` in {primary.path}" if unit else primary.path
    sentences = [f"{title}."]
    if candidate.additive:
        sentences.append(f"{where} lacks the code for this case near {_lines(primary)}.")
    else:
        sentences.append(f"The code at {_lines(primary)} of {where} behaves this way.")
    if others:
        sentences.append(f"Also concerned: {_list_places(others, snapshot)}.")
    return " ".join(sentences)


def _lines(place: Location) -> str:
    if place.first == place.last:
        return f"line {place.first}"
    return f"lines {place.first}-{place.last}"


def _list_places(places: Sequence[Location], snapshot: Snapshot) -> str:
    named = []
    for place in places:
        unit = enclosing_unit(snapshot.units(place.path), place.first)
        where = f"`{unit.name}` in {place.path}" if unit else place.path
        if where not in named:
            named.append(where)
    return ", ".join(named)
