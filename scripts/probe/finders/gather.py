"""From pass files to a run's findings and its usage."""

from collections.abc import Iterable, Iterator

from probe.records import Finding, PassResult, Usage

USAGE_COLUMNS = ("repo", "run", "pass", "status", "error", *Usage.model_fields, "wall_s")


def gather_findings(results: Iterable[PassResult]) -> Iterator[Finding]:
    """The findings of all passes, in the passes' order; those of a failed pass count as well."""
    for result in results:
        yield from result.findings


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
