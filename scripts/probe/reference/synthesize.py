"""A template report of a defect, from its fix's subject and the snapshot's code.

The report is in the present tense, cites the snapshot's identifiers and lines, and never names the
fix: no commit, pull request, issue or fixing verb, and no name that only the fix has. A purely
additive fix is framed as an omission, since the visible code is not wrong by itself.
"""

from collections.abc import Sequence

from probe.code.units import Unit, enclosing_unit
from probe.records import Candidate, Dropped, Location, Provenance, Report
from probe.reference.leaks import Forbidden, find_leaks, own_words
from probe.reference.mirror import Snapshot
from probe.reference.titles import defect_title, safe_title

ENGINE_VERSION = "2"
"""Raised whenever a report may come out differently."""
CONTEXT = 3
"""Lines of context on either side of a snippet."""
MAX_SNIPPET = 60
"""Lines of a snippet, the unit's head included."""
MAX_HEAD = 6
"""Lines of the enclosing unit's head: signatures are wrapped one parameter a line."""
MAX_OTHERS = 10
"""Further locations that a report lists; a sweeping fix touches hundreds."""
MAX_LEAKS = 6
"""Leaks that are named to a writer or a reader."""
GAP = "..."
"""Stands for lines left out of a snippet."""
LEAKS = "its report leaks the fix"
"""Reason of a candidate whose report gives the fix away: recorded, but no bug."""
NO_PLACE = "no place in the snapshot"
"""Reason of a candidate that has no report, because nothing of it is in the snapshot."""


def write_report(
    candidate: Candidate, snapshot: Snapshot, forbidden: Forbidden | None = None
) -> Report | Dropped:
    """The write-up of one candidate, or why there is none: it has no place in the snapshot.

    Args:
        candidate: a candidate that the snapshot had.
        snapshot: the snapshot.
        forbidden: what a report of it may not say; a title that would say it is cut, or replaced
            by one that only names the place.
    """
    places = clip_places(candidate, snapshot)
    if not places:
        return no_place(candidate)
    primary, others = places[0], places[1:]
    unit = enclosing_unit(snapshot.units(primary.path), primary.first)
    name = unit.name if unit else None
    forbidden = forbid_around(forbidden or Forbidden(), snapshot, places)
    title = safe_title(defect_title(candidate.title), forbidden) or _neutral(
        candidate, primary, name
    )
    description = _describe(title, candidate, primary, name, others, snapshot)
    leaks = find_leaks({"title": title, "description": description}, forbidden)
    return Report(
        candidate=candidate.id,
        commit=candidate.commit,
        title=title,
        description=description,
        primary=primary,
        others=others,
        unit=name,
        snippet=cut_snippet(snapshot.lines(primary.path), primary, unit),
        severity="medium",
        suggested_fix=candidate.suggested_fix,
        leaks=tuple(map(str, leaks)),
        provenance=Provenance.of_heuristic(ENGINE_VERSION),
    )


def clip_places(candidate: Candidate, snapshot: Snapshot) -> tuple[Location, ...]:
    """A candidate's places as a report gives them: inside their files, the first one primary."""
    clipped = (_clip(place, snapshot) for place in candidate.snapshot_locations)
    return tuple(place for place in clipped if place)[: 1 + MAX_OTHERS]


def no_place(candidate: Candidate) -> Dropped:
    """What becomes of a candidate of which nothing is in the snapshot."""
    return Dropped(
        commit=candidate.commit, stage="synthesize", candidate=candidate.id, reason=NO_PLACE
    )


def leaking(report: Report) -> Dropped:
    """What becomes of the candidate of a report that gives the fix away."""
    return Dropped(
        commit=report.commit,
        stage="synthesize",
        candidate=report.candidate,
        reason=LEAKS,
        detail="; ".join(report.leaks[:MAX_LEAKS]),
        provenance=report.provenance,
    )


def forbid_around(
    forbidden: Forbidden, snapshot: Snapshot, places: Sequence[Location]
) -> Forbidden:
    """What is forbidden, with the vocabulary of the files that a report is about."""
    paths = frozenset(place.path for place in places)
    words = own_words(snapshot.lines(places[0].path))
    return Forbidden(forbidden.commits, forbidden.names, words, paths)


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


def _neutral(candidate: Candidate, primary: Location, unit: str | None) -> str:
    """A title that says no more than where: for subjects that say nothing that may be said."""
    where = f"`{unit}`" if unit else primary.path
    return f"Missing case in {where}" if candidate.additive else f"Wrong behaviour in {where}"


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
        sentences.append(f"{where} lacks the code for this case near {lines_text(primary)}.")
    else:
        sentences.append(f"The code at {lines_text(primary)} of {where} behaves this way.")
    if others:
        sentences.append(f"Also concerned: {_list_places(others, snapshot)}.")
    return " ".join(sentences)


def lines_text(place: Location) -> str:
    """``line 3``, ``lines 3-4``."""
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
