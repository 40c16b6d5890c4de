"""Presence and duplicates against labels that a person read from the diffs.

The labels are rows of ``presence.tsv``: KEEP and DROP say whether the snapshot had a commit's
defect; MERGE and SEPARATE whether two commits fix one defect; REVERTED that the second takes the
first back, so that neither may give a record.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from probe.errors import RecordError
from probe.records import Bug, Candidate, Presence
from probe.reference.labels import read_label_rows

_COLUMNS = ("expected", "repo", "sha", "sha_b", "confidence", "reason")
_SINGLE = frozenset({"KEEP", "DROP"})
_PAIRS = frozenset({"MERGE", "SEPARATE", "REVERTED"})


@dataclass(frozen=True, slots=True)
class PresenceLabel:
    """A person's verdict on a fix commit, or on two."""

    expected: str
    """KEEP, DROP, MERGE, SEPARATE or REVERTED."""
    repo: str
    sha: str
    other: str
    """The second commit of a pair; empty for KEEP and DROP."""
    low: bool
    """A tie: the person would not insist."""
    reason: str


@dataclass(frozen=True, slots=True)
class Tally:
    """How many labels are met, and which are not."""

    right: int
    total: int
    wrong: tuple[str, ...]
    """``{expected} {sha}: {what came out}: {the label's reason}``, in the labels' order."""


def read_presence_labels(path: str | Path) -> list[PresenceLabel]:
    """Labels of ``presence.tsv``, in the file's order.

    Raises:
        RecordError: the file cannot be read, a column is missing, or a verdict is unknown.
    """
    return [_label(path, number, row) for number, row in read_label_rows(path, _COLUMNS)]


def labels_of_dated_fixes(rows: Iterable[Mapping[str, str]]) -> list[PresenceLabel]:
    """KEEP and DROP labels from rows of ``commits.tsv`` with a clear ``present_at_T0``."""
    expected = {"yes": "KEEP", "no": "DROP"}
    return [
        PresenceLabel(
            expected[row["present_at_T0"]],
            row["repo"],
            row["sha"],
            "",
            row["confidence"] == "low",
            row["reason"],
        )
        for row in rows
        if row["is_bug_fix"] == "yes" and row["present_at_T0"] in expected
    ]


def score_presence(
    labels: Iterable[PresenceLabel],
    candidates: Iterable[Candidate],
    presences: Iterable[Presence],
) -> Tally:
    """KEEP and DROP labels against verdicts.

    A commit is kept where any of its candidates is; a fix without a candidate gives no record and
    counts as dropped, an unjudged one as neither.
    """
    commit_of = {candidate.id: candidate.commit for candidate in candidates}
    verdicts: dict[str, set[str | None]] = {}
    for presence in presences:
        if presence.candidate in commit_of:
            verdicts.setdefault(commit_of[presence.candidate], set()).add(presence.verdict)
    return _tally(
        (label, _presence_outcome(verdicts.get(label.sha, {"drop"})))
        for label in labels
        if label.expected in _SINGLE
    )


def score_duplicates(labels: Iterable[PresenceLabel], bugs: Iterable[Bug]) -> Tally:
    """MERGE, SEPARATE and REVERTED labels against a reference set.

    MERGE is met unless the two commits stand in two bugs: a defect that the snapshot did not have
    is in none. SEPARATE is met unless they stand in one. REVERTED is met where the first is in no
    bug.
    """
    bug_of = {sha: bug.id for bug in bugs for sha in bug.fix_commits}
    return _tally(
        (label, _pair_outcome(label, bug_of)) for label in labels if label.expected in _PAIRS
    )


def _label(path: str | Path, number: int, row: Mapping[str, str]) -> PresenceLabel:
    if row["expected"] not in _SINGLE | _PAIRS:
        known = ", ".join(sorted(_SINGLE | _PAIRS))
        raise RecordError(f"{path}:{number}: expected is {row['expected']!r}, not one of {known}")
    return PresenceLabel(
        row["expected"],
        row["repo"],
        row["sha"],
        row["sha_b"],
        row["confidence"] == "low",
        row["reason"],
    )


def _presence_outcome(verdicts: set[str | None]) -> str:
    if "keep" in verdicts:
        return "KEEP"
    return "unjudged" if None in verdicts else "DROP"


def _pair_outcome(label: PresenceLabel, bug_of: Mapping[str, str]) -> str:
    one, other = bug_of.get(label.sha), bug_of.get(label.other)
    if label.expected == "REVERTED":
        return "a record" if one else "REVERTED"
    if label.expected == "SEPARATE":
        return "MERGE" if one is not None and one == other else "SEPARATE"
    return "SEPARATE" if one and other and one != other else "MERGE"


def _tally(outcomes: Iterable[tuple[PresenceLabel, str]]) -> Tally:
    judged = list(outcomes)
    wrong = tuple(
        f"{label.expected} {label.sha[:12]}: {outcome}: {label.reason}"
        for label, outcome in judged
        if outcome != label.expected
    )
    return Tally(len(judged) - len(wrong), len(judged), wrong)
