"""The funnel: from window commits to reference bugs, with a reason for everything that left."""

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from probe.errors import RecordError
from probe.records import Bug, Candidate, Classification, Commit, Dropped, Presence

COLUMNS = ("stage", "outcome", "reason", "count")

UNJUDGED = "unjudged"
"""Reason of what left because its engine failed."""


def funnel_rows(
    commits: Iterable[Commit],
    classifications: Sequence[Classification],
    candidates: Sequence[Candidate],
    left_out: Iterable[Dropped],
    presences: Sequence[Presence],
    unplaced: Sequence[Dropped],
    taken_back: Sequence[Dropped],
    bugs: Sequence[Bug],
) -> list[dict[str, object]]:
    """Rows of ``funnel.csv``; within each stage all rows add up to what came in.

    Stages: commits → fixes → candidates → anchored → present → written → merged. A fix commit that yields no
    candidate leaves at ``candidates``; what the judge could not decide leaves as ``unjudged``. A candidate without a place in the
    snapshot is ``lost`` at ``anchored``, and still judged for presence: ``present`` counts all.
    """
    total = sum(1 for _ in commits)
    judged = Counter(classification.is_fix for classification in classifications)
    anchored = sum(candidate.anchoring != "lost" for candidate in candidates)
    verdicts = Counter(presence.verdict for presence in presences)
    written = verdicts["keep"] - len(unplaced)
    rows = [
        _row("commits", "stayed", "", total),
        _row("fixes", "stayed", "", judged[True]),
        _row("fixes", "left", "not a fix", judged[False]),
        _row("fixes", "left", UNJUDGED, judged[None]),
        _row("candidates", "stayed", "", len(candidates)),
    ]
    reasons = Counter(item.reason for item in left_out)
    rows += [_row("candidates", "left", reason, n) for reason, n in sorted(reasons.items())]
    rows += [
        _row("anchored", "stayed", "", anchored),
        _row("anchored", "lost", "no place in the snapshot", len(candidates) - anchored),
        _row("present", "stayed", "", verdicts["keep"]),
    ]
    grounds = Counter(presence.ground for presence in presences if presence.verdict == "drop")
    rows += [_row("present", "left", str(ground), n) for ground, n in sorted(grounds.items())]
    rows += [
        _row("present", "left", UNJUDGED, verdicts[None]),
        _row("written", "stayed", "", written),
    ]
    places = Counter(item.reason for item in unplaced)
    rows += [_row("written", "left", reason, n) for reason, n in sorted(places.items())]
    rows += [
        _row("merged", "stayed", "", len(bugs)),
        _row("merged", "left", "taken back in the window", len(taken_back)),
        _row("merged", "left", "merged with another", written - len(taken_back) - len(bugs)),
    ]
    return [row for row in rows if row["count"] or row["outcome"] == "stayed"]


def count_unjudged(path: str | Path) -> int:
    """Commits and candidates without a verdict, from a ``funnel.csv``.

    Raises:
        RecordError: the file cannot be read, or has other columns.
    """
    try:
        with Path(path).open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        return sum(int(row["count"]) for row in rows if row["reason"] == UNJUDGED)
    except (OSError, KeyError, ValueError) as error:
        raise RecordError(f"{path}: no funnel table ({error}); delete it and run again") from error


def _row(stage: str, outcome: str, reason: str, count: int) -> dict[str, object]:
    return {"stage": stage, "outcome": outcome, "reason": reason, "count": count}
