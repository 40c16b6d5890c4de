"""The funnel: from window commits to reference bugs, with a reason for everything that left."""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from probe.errors import RecordError
from probe.records import (
    Bug,
    Candidate,
    Classification,
    Commit,
    Dropped,
    Failure,
    Judgement,
    Presence,
)
from probe.records.history import UNJUDGED

COLUMNS = ("stage", "outcome", "reason", "count")

UNREAD = "diff not read in full"
"""Reason of a commit that stayed although an object of it is missing."""
FURTHER = "further bugs of a commit"
"""Reason of what a fix commit adds beyond its first candidate or reason for having none."""
NO_PLACE = "no place in the snapshot"
"""Reason of a candidate of which no line was found; its presence is judged all the same."""
OVERRULED = "drop overruled"
"""How the reason of a candidate begins whose drop did not count."""
UNJUDGED_PAIR = "in an unjudged pair"
"""Reason of a bug that may be another one's duplicate, which no engine could say."""
CORRECTED = "corrected by an erratum"
"""Reason of a reference bug that stayed with other words or another place."""
WITHDRAWN = "withdrawn by an erratum"
"""Reason of a merged bug that is no reference bug."""
MERGED = "merged with another"
"""Reason of a report that another one stands for."""


@dataclass(frozen=True)
class Recorded:
    """Everything that was recorded on the way from the window to the reference set."""

    commits: Iterable[Commit] = ()
    """The window."""
    classifications: Sequence[Classification] = ()
    """A verdict a commit."""
    candidates: Sequence[Candidate] = ()
    """Of the fix commits."""
    left_out: Sequence[Dropped] = ()
    """What of the fix commits gave no candidate; each commit has one of the two at least."""
    presences: Sequence[Presence] = ()
    """A verdict a candidate."""
    unwritten: Sequence[Dropped] = ()
    """Present candidates without a report that may make a bug."""
    taken_back: Sequence[Dropped] = ()
    """Reports whose fixes the window takes back."""
    duplicates: Sequence[Judgement] = ()
    """Of pairs of reports."""
    merged: Sequence[Bug] = ()
    """Before the errata."""
    bugs: Sequence[Bug] = ()
    """The reference set."""


def funnel_rows(recorded: Recorded) -> list[dict[str, object]]:
    """Rows of ``funnel.csv``: stage, outcome, reason, count.

    Stages: commits → fixes → candidates → anchored → present → written → merged → reference. What
    ``stayed`` or is ``lost`` goes on to the next stage, what ``left`` does not. In each stage,
    stayed + lost + left = what came in + ``added``: a fix commit can have several bugs. Only
    ``anchored`` has ``lost``: a candidate without a place is still judged for presence. A reason
    beside ``stayed`` says what a reader should know of it. Rows of 0 are left out, but for the
    plain ``stayed``.

    Raises:
        RecordError: something that came into a stage has neither stayed nor left.
    """
    rows = [_row(stage, *entry) for stage, part in _STAGES.items() for entry in part(recorded)]
    came_in = 0
    for stage in _STAGES:
        came_in = _going_on(stage, came_in, [row for row in rows if row["stage"] == stage])
    return [
        row for row in rows if row["count"] or (row["outcome"], row["reason"]) == ("stayed", "")
    ]


def count_unjudged(path: str | Path) -> int:
    """Commits and candidates without a verdict, from a ``funnel.csv``.

    Raises:
        RecordError: the file cannot be read, or has other columns.
    """
    try:
        with Path(path).open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        unjudged = (row for row in rows if row["reason"].partition(":")[0] == UNJUDGED)
        return sum(int(row["count"]) for row in unjudged)
    except (OSError, KeyError, ValueError) as error:
        raise RecordError(f"{path}: no funnel table ({error}); delete it and run again") from error


_Entry = tuple[str, str, int]
"""Outcome, reason, count."""


def _commits(recorded: Recorded) -> Iterator[_Entry]:
    read = Counter(commit.truncated for commit in recorded.commits)
    yield "stayed", "", read[False]
    yield "stayed", UNREAD, read[True]


def _fixes(recorded: Recorded) -> Iterator[_Entry]:
    judged = Counter(one.is_fix for one in recorded.classifications)
    yield "stayed", "", judged[True]
    yield "left", "not a fix", judged[False]
    unjudged = (one for one in recorded.classifications if one.is_fix is None)
    yield from _left(_unjudged(one.failure) for one in unjudged)


def _candidates(recorded: Recorded) -> Iterator[_Entry]:
    found = [candidate.commit for candidate in recorded.candidates]
    found += [item.commit for item in recorded.left_out]
    yield "added", FURTHER, len(found) - len(set(found))
    yield "stayed", "", len(recorded.candidates)
    yield from _left(map(_reason, recorded.left_out))


def _anchored(recorded: Recorded) -> Iterator[_Entry]:
    lost = sum(candidate.anchoring == "lost" for candidate in recorded.candidates)
    yield "stayed", "", len(recorded.candidates) - lost
    yield "lost", NO_PLACE, lost


def _present(recorded: Recorded) -> Iterator[_Entry]:
    kept = [one for one in recorded.presences if one.verdict == "keep"]
    overruled = Counter(one.overruled for one in kept if one.overruled is not None)
    yield "stayed", "", len(kept) - overruled.total()
    for why, count in sorted(overruled.items()):
        yield "stayed", f"{OVERRULED}: {why}", count
    yield from _left(str(one.ground) for one in recorded.presences if one.verdict == "drop")
    yield from _left(_unjudged(one.failure) for one in recorded.presences if one.verdict is None)


def _written(recorded: Recorded) -> Iterator[_Entry]:
    kept = sum(one.verdict == "keep" for one in recorded.presences)
    yield "stayed", "", kept - len(recorded.unwritten)
    yield from _left(map(_reason, recorded.unwritten))


def _merged(recorded: Recorded) -> Iterator[_Entry]:
    open_ = _in_unjudged_pairs(recorded)
    yield "stayed", "", len(recorded.merged) - open_
    yield "stayed", UNJUDGED_PAIR, open_
    yield from _left(map(_reason, recorded.taken_back))
    yield "left", MERGED, sum(len(bug.candidates) - 1 for bug in recorded.merged)


def _reference(recorded: Recorded) -> Iterator[_Entry]:
    merged = {bug.id: bug for bug in recorded.merged}
    corrected = sum(bug.id in merged and bug != merged[bug.id] for bug in recorded.bugs)
    yield "stayed", "", len(recorded.bugs) - corrected
    yield "stayed", CORRECTED, corrected
    yield "left", WITHDRAWN, len(merged.keys() - {bug.id for bug in recorded.bugs})


_STAGES = {
    "commits": _commits,
    "fixes": _fixes,
    "candidates": _candidates,
    "anchored": _anchored,
    "present": _present,
    "written": _written,
    "merged": _merged,
    "reference": _reference,
}


def _in_unjudged_pairs(recorded: Recorded) -> int:
    """Bugs that stayed apart although some pair of their reports was not judged."""
    bug_of = {name: bug.id for bug in recorded.merged for name in bug.candidates}
    pairs = [
        (bug_of.get(pair.left), bug_of.get(pair.right))
        for pair in recorded.duplicates
        if pair.match is None
    ]
    apart = [pair for pair in pairs if None not in pair and pair[0] != pair[1]]
    return len({name for pair in apart for name in pair})


def _left(reasons: Iterable[str]) -> Iterator[_Entry]:
    for reason, count in sorted(Counter(reasons).items()):
        yield "left", reason, count


def _reason(item: Dropped) -> str:
    return item.reason if item.failure is None else _unjudged(item.failure)


def _unjudged(failure: Failure | None) -> str:
    return UNJUDGED if failure is None else f"{UNJUDGED}: {failure.kind}"


def _going_on(stage: str, came_in: int, rows: Sequence[Mapping[str, object]]) -> int:
    """What of a stage goes on, after a check that all that came in is accounted for."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts[str(row["outcome"])] += int(str(row["count"]))
    going_on = counts["stayed"] + counts["lost"]
    expected = came_in + counts["added"]
    if stage != "commits" and going_on + counts["left"] != expected:
        raise RecordError(
            f"reference: stage {stage}: {expected} came in, but {going_on} stayed and "
            f"{counts['left']} left; records of several builds are mixed, or PROBE lost some: "
            "delete the repository's folder reference/ and run again"
        )
    return going_on


def _row(stage: str, outcome: str, reason: str, count: int) -> dict[str, object]:
    return {"stage": stage, "outcome": outcome, "reason": reason, "count": count}
