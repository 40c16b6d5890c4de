"""Built reference sets against hand-made labels, as text for people."""

from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from probe.errors import RecordError
from probe.records import Bug, Candidate, Classification, Presence, Record, read_all
from probe.reference.labels import read_label_rows
from probe.reference.score import score_classification
from probe.reference.score_presence import (
    PresenceLabel,
    Tally,
    labels_of_dated_fixes,
    read_presence_labels,
    score_duplicates,
    score_presence,
)

R = TypeVar("R", bound=Record)


def score_text(labels: Path, results: Path) -> str:
    """All scores of the heuristic engines that the labels allow.

    Labels of repositories that are not built in ``results`` are left out; the presence of fixes
    that the classifier missed counts as dropped, since they leave no record.

    Args:
        labels: folder of ``commits.tsv`` and ``presence.tsv``.
        results: a results folder.

    Raises:
        RecordError: a label file is missing or malformed, or nothing labelled is built.
    """
    classifications = _blocks(results, "classifications", Classification)
    candidates = _blocks(results, "candidates", Candidate)
    presences = _blocks(results, "presence", Presence)
    bugs = read_all(sorted(results.glob("*/reference/bugs.jsonl")), Bug)
    built = {item.commit for item in classifications}
    cases = _known(read_presence_labels(labels / "presence.tsv"), built)
    rows = read_label_rows(labels / "commits.tsv", ("repo", "sha", "confidence", "present_at_T0"))
    dated = _known(labels_of_dated_fixes(row for _, row in rows), built)
    if not cases and not dated:
        raise RecordError(
            f"{results}: no labelled commit is built there; "
            "build it first, for example: snakemake results/sqlglot/reference/bugs.jsonl"
        )
    return "\n".join(
        [
            score_classification(labels / "commits.tsv", classifications).to_text(),
            _tally("presence (presence.tsv)", score_presence(cases, candidates, presences)),
            _tally("presence (commits.tsv)", score_presence(dated, candidates, presences)),
            _tally("duplicates (presence.tsv)", score_duplicates(cases, bugs)),
        ]
    )


def _blocks(results: Path, name: str, model: type[R]) -> list[R]:
    return read_all(sorted(results.glob(f"*/reference/blocks/*/{name}.jsonl")), model)


def _known(labels: Iterable[PresenceLabel], built: set[str]) -> list[PresenceLabel]:
    return [label for label in labels if label.sha in built]


def _tally(title: str, tally: Tally) -> str:
    return "\n".join([f"{title}: {tally.right} of {tally.total} right", *tally.wrong])
