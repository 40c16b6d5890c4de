"""How well a built reference set agrees with a labelled truth (the bundled repository has one)."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from probe.errors import RecordError
from probe.records import Agreement, Bug, Candidate, Classification, Presence
from probe.reference.score import Score


@dataclass(frozen=True, slots=True)
class TrueBug:
    """One labelled defect."""

    id: str
    fixes: frozenset[str]
    """Full names of all commits that fix it."""
    present: bool
    """The snapshot had it."""


def read_true_fixes(path: str | Path) -> dict[str, bool]:
    """Commit → whether it fixes a bug, from ``truth.tsv`` (columns ``sha``, ``is_bug_fix``)."""
    return {row["sha"]: _yes(path, row["is_bug_fix"]) for row in _rows(path, "sha", "is_bug_fix")}


def read_true_bugs(path: str | Path) -> list[TrueBug]:
    """Labelled bugs from ``truth_bugs.tsv`` (columns ``bug``, ``fixes``, ``present_at_t0``)."""
    return [
        TrueBug(
            row["bug"],
            frozenset(row["fixes"].split()),
            _yes(path, row["present_at_t0"]),
        )
        for row in _rows(path, "bug", "fixes", "present_at_t0")
    ]


def agree(
    repo: str,
    fixes: dict[str, bool],
    truth: Sequence[TrueBug],
    classifications: Iterable[Classification],
    candidates: Iterable[Candidate],
    presences: Iterable[Presence],
    bugs: Sequence[Bug],
) -> list[Agreement]:
    """One row a stage.

    * ``classify``: commits said to be fixes against labelled fixes.
    * ``presence``: labelled fixes with a candidate that was kept, against those that fix any bug
      of the snapshot. Labels do not say which candidate is which bug, so that a commit of several
      is kept where any is, and unjudged where none is and any has no verdict.
    * ``bugs``: reference bugs against labelled bugs of the snapshot. Two are the same where they
      share a fix commit; each is used once (largest assignment), so that an unmerged duplicate
      counts as wrong.
    """
    commits = {item.commit: item.is_fix for item in classifications}
    true = {sha for sha, is_fix in fixes.items() if is_fix}
    verdicts = _verdicts(candidates, presences)
    judged = {sha: verdicts[sha] for sha in true & verdicts.keys()}
    present = {sha for bug in truth if bug.present for sha in bug.fixes}
    kept = {sha for sha, said in judged.items() if "keep" in said}
    return [
        _agreement(
            repo,
            "classify",
            {sha for sha, is_fix in commits.items() if is_fix},
            true,
            {sha for sha, is_fix in commits.items() if is_fix is None},
        ),
        _agreement(
            repo,
            "presence",
            kept,
            judged.keys() & present,
            {sha for sha, said in judged.items() if None in said and sha not in kept},
        ),
        _bugs_agreement(repo, [bug for bug in truth if bug.present], bugs),
    ]


def _verdicts(
    candidates: Iterable[Candidate], presences: Iterable[Presence]
) -> dict[str, set[str | None]]:
    """Verdicts on the candidates of each commit; None where one has none."""
    said = {item.candidate: item.verdict for item in presences}
    verdicts: dict[str, set[str | None]] = {}
    for candidate in candidates:
        verdicts.setdefault(candidate.commit, set()).add(said.get(candidate.id))
    return verdicts


def _agreement(
    repo: str, stage: str, said: set[str], true: set[str], unjudged: set[str]
) -> Agreement:
    true = true - unjudged
    wrong = [f"+{name[:12]}" for name in sorted(said - true)]
    wrong += [f"-{name[:12]}" for name in sorted(true - said)]
    return _row(
        repo, stage, len(said & true), len(said - true), len(true - said), wrong, len(unjudged)
    )


def _bugs_agreement(repo: str, truth: Sequence[TrueBug], bugs: Sequence[Bug]) -> Agreement:
    import networkx as nx

    graph: nx.Graph[tuple[str, str]] = nx.Graph()
    left = [("said", bug.id) for bug in bugs]
    graph.add_nodes_from(left)
    for bug in bugs:
        for labelled in truth:
            if labelled.fixes & set(bug.fix_commits):
                graph.add_edge(("said", bug.id), ("true", labelled.id))
    pairs = nx.bipartite.hopcroft_karp_matching(graph, top_nodes=left)
    wrong = [f"+{bug.id}" for bug in bugs if ("said", bug.id) not in pairs]
    wrong += [f"-{bug.id}" for bug in truth if ("true", bug.id) not in pairs]
    hits = len(pairs) // 2
    return _row(repo, "bugs", hits, len(bugs) - hits, len(truth) - hits, wrong)


def _row(
    repo: str,
    stage: str,
    hit: int,
    extra: int,
    missed: int,
    wrong: list[str],
    unjudged: int = 0,
) -> Agreement:
    score = Score(stage, hit + missed, hit, extra, missed)
    known = score.precision is not None and score.recall is not None
    return Agreement(
        repo=repo,
        stage=stage,
        true_positives=hit,
        false_positives=extra,
        false_negatives=missed,
        unjudged=unjudged,
        precision=score.precision,
        recall=score.recall,
        f1=score.f1 if known else None,
        wrong=" ".join(wrong),
    )


def _rows(path: str | Path, *columns: str) -> list[dict[str, str]]:
    try:
        with Path(path).open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream, delimiter="\t")
            missing = [name for name in columns if name not in (reader.fieldnames or ())]
            if missing:
                raise RecordError(f"{path}: column {missing[0]!r} is missing")
            return list(reader)
    except OSError as error:
        raise RecordError(f"{path}: cannot read: {error.strerror}") from error


def _yes(path: str | Path, value: str) -> bool:
    if value not in {"yes", "no"}:
        raise RecordError(f"{path}: found {value!r} where yes or no is expected")
    return value == "yes"
