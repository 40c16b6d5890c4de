"""From pass files to a run's findings and its usage."""

import logging
from collections.abc import Iterable, Iterator

from probe.finders.merge import merge_findings
from probe.records import Finding, PassResult, Usage

USAGE_COLUMNS = ("repo", "run", "pass", "status", "error", *Usage.model_fields, "wall_s")

_log = logging.getLogger(__name__)


def gather_findings(results: Iterable[PassResult]) -> list[Finding]:
    """The findings of all passes, in the passes' order; those of a failed pass count as well.

    Findings that say the same are folded into one (:mod:`probe.finders.merge`).
    """
    found = [finding for result in results for finding in result.findings]
    merged = merge_findings(found)
    if len(merged) < len(found):
        _log.info("%d of %d findings say what others say", len(found) - len(merged), len(found))
    return merged


def usage_rows(results: Iterable[PassResult]) -> Iterator[dict[str, object]]:
    """A row a pass, with the columns of :data:`USAGE_COLUMNS`."""
    for result in results:
        yield {
            "repo": result.repo,
            "run": result.run,
            "pass": result.pass_id,
            "status": result.status,
            "error": result.error,
            **result.usage.model_dump(),
            "wall_s": round(result.wall_s, 3),
        }
