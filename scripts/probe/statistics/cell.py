"""The figures of one cell: one run on one repository."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from probe import __version__
from probe.matching.matches import of_bugs
from probe.records import (
    Bug,
    CellMetrics,
    Finding,
    Judgement,
    LeakWeight,
    PassResult,
    SessionLeak,
    Usage,
)
from probe.statistics.intervals import wilson

N = TypeVar("N", int, float)


@dataclass(frozen=True, slots=True)
class CellIdentity:
    """What a cell is of, and the hashes that it is traced by."""

    repo: str
    run: str
    kind: str
    model: str | None
    effort: str | None
    reference_version: str
    reference_sha256: str
    config_sha256: str


def ratio(part: int, whole: int) -> float | None:
    """``part / whole``; None for 0/0 and whenever the whole is empty."""
    return part / whole if whole else None


def f1_score(precision: float | None, recall: float | None) -> float | None:
    """Harmonic mean 2PR / (P + R); 0 where both are 0, None where either is unknown."""
    if precision is None or recall is None:
        return None
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def compute_cell(
    identity: CellIdentity,
    bugs: Sequence[Bug],
    findings: Sequence[Finding],
    judgements: Iterable[Judgement],
    results: Sequence[PassResult],
    files_audited: int,
    unjudged_reference: int = 0,
    leaks: Sequence[SessionLeak] | None = None,
) -> CellMetrics:
    """The cell's row: recall and precision count items matched at least once, never pairs.

    Bounds are Wilson's at 95 %, the upper ones with unjudged pairs taken as matches; F1's are
    those of the lower and of the upper bounds together. A run in which every pass failed has no
    recall: its failure is not "found nothing". Judgements of bugs that are not among ``bugs``,
    because errata withdrew them, count for nothing: what matches only such a bug is unmatched.

    ``leaks`` are the hits of the scan of the run's transcripts, None for runs without sessions. They
    flag the cell and change no rate: whether a hit gave a bug away is for a person to say.
    """
    judged = of_bugs(judgements, bugs)
    failed = sum(result.status != "ok" for result in results)
    certain = _count_matched(judgement for judgement in judged if judgement.match)
    possible = _count_matched(judgement for judgement in judged if judgement.match is not False)
    searched = failed < len(results)
    return CellMetrics(
        repo=identity.repo,
        run=identity.run,
        kind=identity.kind,
        model=identity.model,
        effort=identity.effort,
        bugs=len(bugs),
        findings=len(findings),
        matched_bugs=certain.bugs,
        matched_findings=certain.findings,
        passes=len(results),
        passes_failed=failed,
        reference_version=identity.reference_version,
        reference_sha256=identity.reference_sha256,
        config_sha256=identity.config_sha256,
        probe_version=__version__,
        unjudged_pairs=sum(judgement.match is None for judgement in judged),
        unjudged_reference=unjudged_reference,
        files_audited=files_audited,
        **_rates(certain, possible, len(bugs) if searched else 0, len(findings)),
        **_costs([result.usage for result in results]),
        **_coverage(results),
        **_isolation(results, leaks),
    )


class _Matched(NamedTuple):
    bugs: int
    findings: int


def _count_matched(judgements: Iterable[Judgement]) -> _Matched:
    pairs = [(judgement.right, judgement.left) for judgement in judgements]
    return _Matched(len({bug for bug, _ in pairs}), len({finding for _, finding in pairs}))


def _rates(
    certain: _Matched, possible: _Matched, bugs: int, findings: int
) -> dict[str, float | None]:
    recall, precision = ratio(certain.bugs, bugs), ratio(certain.findings, findings)
    recall_low, _ = wilson(certain.bugs, bugs) or (None, None)
    _, recall_high = wilson(possible.bugs, bugs) or (None, None)
    precision_low, _ = wilson(certain.findings, findings) or (None, None)
    _, precision_high = wilson(possible.findings, findings) or (None, None)
    return {
        "recall": recall,
        "recall_low": recall_low,
        "recall_high": recall_high,
        "precision": precision,
        "precision_low": precision_low,
        "precision_high": precision_high,
        "f1": f1_score(precision, recall),
        "f1_low": f1_score(precision_low, recall_low),
        "f1_high": f1_score(precision_high, recall_high),
    }


def _costs(usages: Sequence[Usage]) -> dict[str, Any]:
    return {
        "cost_usd": add_known(usage.usd for usage in usages),
        "input_tokens": add_known(usage.prompt_tokens for usage in usages),
        "output_tokens": add_known(usage.output_tokens for usage in usages),
    }


def _coverage(results: Sequence[PassResult]) -> dict[str, Any]:
    return {
        "wall_s": round(sum(result.wall_s for result in results), 3),
        "rejected_findings": sum(len(result.rejected) for result in results),
        "suppressed_findings": sum(result.suppressed for result in results),
        "files_read": add_known(result.files_read for result in results),
        "files_skipped": sum(len(result.files_skipped) for result in results),
        "files_timed_out": sum(len(result.files_timed_out) for result in results),
    }


def _isolation(
    results: Sequence[PassResult], leaks: Sequence[SessionLeak] | None
) -> dict[str, Any]:
    where = {
        "environment": _joined(result.environment for result in results),
        "sandbox": _joined(result.sandbox.engine for result in results if result.sandbox),
    }
    if leaks is None:
        return where
    weighed: dict[LeakWeight, list[str]] = {"leak": [], "suspect": [], "attempt": []}
    for leak in leaks:
        weighed[leak.weight].append(leak.pass_id)
    return {
        **where,
        "leaked_passes": len(set(weighed["leak"])),
        "leak_hits": len(weighed["leak"]),
        "leak_suspects": len(weighed["suspect"]),
        "leak_attempts": len(weighed["attempt"]),
    }


def _joined(values: Iterable[str | None]) -> str | None:
    """The different values, sorted; None where nothing is known."""
    return "+".join(sorted({value for value in values if value})) or None


def add_known(values: Iterable[N | None]) -> N | None:
    """Sum in which unknown stays unknown: None + 3 = 3, None + None = None."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None
