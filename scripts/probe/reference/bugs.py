"""From reports to reference bugs, with what the window takes back."""

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

from probe.records import Candidate, Commit, Judgement, Report
from probe.reference.merge import MERGE_LIMIT, Merged, merge_reports
from probe.reference.undone import find_redone, find_undone

_log = logging.getLogger(__name__)


def merge_bugs(
    mirror: Path,
    repo: str,
    commits: Sequence[Commit],
    fixes: Sequence[str],
    candidates: Sequence[Candidate],
    reports: Sequence[Report],
    judgements: Iterable[Judgement],
    limit: int = MERGE_LIMIT,
) -> Merged:
    """The reference set of a repository; see :func:`probe.reference.merge.merge_reports`.

    Args:
        mirror: a git directory with the window.
        repo: key of the repository.
        commits: the window, in window order.
        fixes: its fix commits, in window order.
        candidates: of all blocks, in window order.
        reports: of all blocks, in window order.
        judgements: of pairs of reports.
        limit: reports that one bug may unite.
    """
    undone = find_undone(mirror, commits, candidates)
    redone = find_redone(undone, commits, candidates)
    merged = merge_reports(
        repo, reports, judgements, fixes, undone=undone, redone=redone, limit=limit
    )
    if merged.unjudged:
        _log.warning("%d pairs of reports are unjudged and not merged", merged.unjudged)
    if merged.oversized:
        _log.warning("%d groups beyond %d reports are not merged", len(merged.oversized), limit)
    return merged
