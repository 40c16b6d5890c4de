"""Built reference sets against hand-made labels, as text for people."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from probe.code.paths import SourceScope
from probe.config import Benchmark
from probe.config.names import suggestion
from probe.errors import ConfigError, RecordError
from probe.git.log import iter_diffs
from probe.paths import base_name, mirror_beside
from probe.records import (
    Bug,
    Candidate,
    Classification,
    Commit,
    Presence,
    Record,
    iter_jsonl,
    read_all,
)
from probe.reference.classify import classify
from probe.reference.habits import Habits
from probe.reference.labels import read_label_rows
from probe.reference.score import mask_commit, read_labels, score_classification
from probe.reference.score_presence import (
    PresenceLabel,
    Tally,
    labels_of_dated_fixes,
    read_presence_labels,
    score_duplicates,
    score_presence,
)

R = TypeVar("R", bound=Record)


def score_text(labels: Path, results: Path, repositories: Sequence[str] = ()) -> str:
    """All scores of the heuristic engines that the labels allow.

    Labels of repositories that are not built in ``results`` are left out; the presence of fixes
    that the classifier missed counts as dropped, since they leave no record. The labels know
    nothing of variants, and their verdicts on presence hold for one snapshot only: a variant is
    scored when it is asked for, never beside its repository.

    Args:
        labels: folder of ``commits.tsv`` and ``presence.tsv``.
        results: a results folder.
        repositories: names of repositories or variants; all that are no variants by default.

    Raises:
        RecordError: a label file is missing or malformed, nothing labelled is built, or two of the
            repositories are variants of one.
    """
    folders = _folders(results, repositories)
    classifications = _blocks(folders, "classifications", Classification)
    candidates = _blocks(folders, "candidates", Candidate)
    presences = _blocks(folders, "presence", Presence)
    bugs = read_all(_existing(folder / "bugs.jsonl" for folder in folders), Bug)
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


def masked_text(
    labels: Path, results: Path, benchmark: Benchmark, repositories: Sequence[str] = ()
) -> str:
    """Scores of the classification rules on commits without prefixes and words of fault.

    The rules run anew, on the labelled commits alone; what is built stays as it is. A project that
    is masked has no habits.

    Args:
        labels: folder of ``commits.tsv``.
        results: a results folder.
        benchmark: says which paths of a repository are production code.
        repositories: names of repositories or variants; all that are no variants by default.

    Raises:
        ConfigError: a repository that is built is not in the inventory.
        RecordError: the label file is malformed, no labelled commit is built, or two of the
            repositories are variants of one.
        GitError: a repository's mirror cannot be read.
    """
    wanted = {label.sha for label in read_labels(labels / "commits.tsv")}
    verdicts: list[Classification] = []
    for folder in _folders(results, repositories):
        name = folder.parent.name
        if name not in benchmark.repositories:
            raise ConfigError(f"{name}: not in the inventory; give its --configfile")
        row = benchmark.repositories[name]
        scope = SourceScope(row.source, row.tests, row.exclude)
        window = iter_jsonl(folder / "commits.jsonl", Commit)
        commits = {commit.sha: commit for commit in window if commit.sha in wanted}
        mirror = mirror_beside(folder.parent / "history.json")
        diffs = {diff.sha: diff for diff in iter_diffs(mirror, list(commits))}
        verdicts += [
            classify(mask_commit(commit), diffs.get(sha), scope, Habits())
            for sha, commit in commits.items()
        ]
    if not verdicts:
        raise RecordError(f"{results}: no commit of {labels / 'commits.tsv'} is built there")
    return f"masked\n{score_classification(labels / 'commits.tsv', verdicts).to_text()}"


def _folders(results: Path, repositories: Sequence[str]) -> list[Path]:
    """The reference folders of the named repositories, sorted."""
    built = {path.parent.name: path for path in results.glob("*/reference")}
    names = sorted(set(repositories)) or sorted(name for name in built if name == base_name(name))
    for name in names:
        if name not in built:
            raise RecordError(
                f"{results}/{name}: not built{suggestion(name, built)}; build it first: "
                f"snakemake {results}/{name}/reference/bugs.jsonl"
            )
    twice = [base for base, count in Counter(map(base_name, names)).items() if count > 1]
    if twice:
        raise RecordError(
            f"{results}: variants of {twice[0]!r} share commits and cannot be scored together; "
            "give --repository one of them"
        )
    return [built[name] for name in names]


def _existing(paths: Iterable[Path]) -> list[Path]:
    return [path for path in paths if path.exists()]


def _blocks(folders: Iterable[Path], name: str, model: type[R]) -> list[R]:
    files = (path for folder in folders for path in sorted(folder.glob(f"blocks/*/{name}.jsonl")))
    return read_all(files, model)


def _known(labels: Iterable[PresenceLabel], built: set[str]) -> list[PresenceLabel]:
    return [label for label in labels if label.sha in built]


def _tally(title: str, tally: Tally) -> str:
    return "\n".join([f"{title}: {tally.right} of {tally.total} right", *tally.wrong])
