"""Engines against labels that a person read from the diffs: precision, recall, F1, and what went wrong.

Labels are a tab-separated file with ``repo``, ``sha``, ``is_bug_fix`` (yes or no), ``confidence``
(high, or low for a tie) and ``reason``. Masking hides what commit conventions give away, to measure
how much of a verdict the diff itself carries.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from probe.errors import RecordError
from probe.records import Classification, Commit
from probe.reference.classify_message import split_prefix
from probe.reference.labels import read_label_rows

_COLUMNS = ("repo", "sha", "is_bug_fix", "confidence", "reason")
_MASKED_WORDS = re.compile(
    r"\b(?:bug ?)?(?:fix(?:e[sd]|ing|ups?)?|bugs?|hotfix|crash\w*|regressions?|incorrect\w*|wrong\w*|broken"
    r"|correct\w*|resolve[sd]?|issues?|problems?|errors?|faults?|faulty|fail\w*|defects?|vulnerab\w*|security"
    r"|cve[-\w]*|patch\w*|repair\w*|mistake\w*|leak\w*|reverts?|\w+error|exceptions?)\b",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*[*-]\s+")
_FORK = re.compile(r"^merge commit from fork.*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Label:
    """A person's verdict on one commit."""

    repo: str
    sha: str
    is_fix: bool
    low: bool
    """A tie: the person would not insist."""
    reason: str


@dataclass(frozen=True, slots=True)
class Score:
    """Counts and rates over some labels; a rate without a denominator is None."""

    name: str
    labels: int
    true_positives: int
    false_positives: int
    false_negatives: int

    @property
    def precision(self) -> float | None:
        """Share of the engine's fixes that are fixes."""
        return _ratio(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float | None:
        """Share of the fixes that the engine found."""
        return _ratio(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall, ``2 TP / (2 TP + FP + FN)``."""
        wrong = self.false_positives + self.false_negatives
        return _ratio(2 * self.true_positives, 2 * self.true_positives + wrong)


@dataclass(frozen=True, slots=True)
class Wrong:
    """One disagreement, with both reasons."""

    label: Label
    rationale: str
    confidence: float


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """All scores of one engine."""

    rows: tuple[Score, ...]
    """``all``, ``high`` (without low-confidence labels), then one a repository, by name."""
    wrong: tuple[Wrong, ...]
    """Disagreements, by repository and commit."""
    unjudged: tuple[str, ...]
    """Labelled commits without a verdict; they count as "no fix"."""

    def row(self, name: str) -> Score:
        """The score of that name.

        Raises:
            KeyError: no such row.
        """
        for score in self.rows:
            if score.name == name:
                return score
        raise KeyError(name)

    def to_text(self) -> str:
        """The table and the disagreements as aligned text."""
        lines = [
            f"{'labels':32}{'n':>5}{'TP':>5}{'FP':>5}{'FN':>5}{'prec':>8}{'recall':>8}{'F1':>8}"
        ]
        lines += [
            f"{s.name:32}{s.labels:>5}{s.true_positives:>5}{s.false_positives:>5}"
            f"{s.false_negatives:>5}{_shown(s.precision)}{_shown(s.recall)}{_shown(s.f1)}"
            for s in self.rows
        ]
        lines += [
            f"{w.label.repo} {w.label.sha[:12]} label {'yes' if w.label.is_fix else 'no'}"
            f"{' (low)' if w.label.low else ''}: {w.label.reason} | engine {w.confidence:.2f}: {w.rationale}"
            for w in self.wrong
        ]
        lines += [f"unjudged: {sha}" for sha in self.unjudged]
        return "\n".join(lines) + "\n"


def read_labels(path: Path) -> list[Label]:
    """Labels in the order of the file.

    Raises:
        RecordError: the file cannot be read, a column is missing, or a verdict is neither yes nor no.
    """
    return [_label(path, number, row) for number, row in read_label_rows(path, _COLUMNS)]


def _label(path: Path, line: int, row: Mapping[str, str | None]) -> Label:
    verdict = row["is_bug_fix"]
    if verdict not in {"yes", "no"}:
        raise RecordError(f"{path}:{line}: is_bug_fix is {verdict!r}; write yes or no")
    return Label(
        repo=row["repo"] or "",
        sha=row["sha"] or "",
        is_fix=verdict == "yes",
        low=row["confidence"] == "low",
        reason=row["reason"] or "",
    )


def score_classification(
    labels_path: Path, classifications: Iterable[Classification]
) -> ScoreTable:
    """Compare verdicts with labels.

    Verdicts on unlabelled commits are ignored; repositories none of whose labelled commits were
    judged are left out, so that one repository can be scored alone.

    Raises:
        RecordError: the label file is malformed.
    """
    verdicts = {verdict.commit: verdict for verdict in classifications}
    labels = read_labels(labels_path)
    judged = {label.repo for label in labels if label.sha in verdicts}
    labels = [label for label in labels if label.repo in judged]
    rows = [_score("all", labels, verdicts)]
    rows.append(_score("high", [label for label in labels if not label.low], verdicts))
    for repo in sorted(judged):
        rows.append(_score(repo, [label for label in labels if label.repo == repo], verdicts))
    wrong = [
        Wrong(label, verdict.rationale, verdict.confidence)
        for label in sorted(labels, key=lambda label: (label.repo, label.sha))
        if (verdict := verdicts.get(label.sha)) and bool(verdict.is_fix) != label.is_fix
    ]
    unjudged = sorted(
        label.sha
        for label in labels
        if label.sha not in verdicts or verdicts[label.sha].is_fix is None
    )
    return ScoreTable(tuple(rows), tuple(wrong), tuple(unjudged))


def _score(name: str, labels: list[Label], verdicts: Mapping[str, Classification]) -> Score:
    pairs = [
        (label.is_fix, bool(label.sha in verdicts and verdicts[label.sha].is_fix))
        for label in labels
    ]
    return Score(
        name=name,
        labels=len(pairs),
        true_positives=pairs.count((True, True)),
        false_positives=pairs.count((False, True)),
        false_negatives=pairs.count((True, False)),
    )


def mask_commit(commit: Commit, *, words: bool = True) -> Commit:
    """The commit without its prefix, issue references and words of fault, in subject and body.

    Args:
        commit: any commit; paths and diff stay as they are.
        words: False empties subject and body altogether, so that only the diff speaks.
    """
    if not words:
        return commit.model_copy(update={"subject": "", "body": ""})
    subject = _FORK.sub("", split_prefix(commit.subject)[3])
    return commit.model_copy(update={"subject": _mask(subject), "body": _mask_body(commit.body)})


def _mask(text: str) -> str:
    return " ".join(_MASKED_WORDS.sub("", text).split())


def _mask_body(body: str) -> str:
    return "\n".join(_mask_line(line) for line in body.splitlines())


def _mask_line(line: str) -> str:
    bullet = _BULLET.match(line)
    start = bullet[0] if bullet else ""
    return start + _mask(split_prefix(line[len(start) :])[3])


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _shown(value: float | None) -> str:
    return f"{'–' if value is None else format(value, '.3f'):>8}"
