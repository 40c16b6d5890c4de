"""Candidate pairs of findings and reference bugs of one repository."""

from collections.abc import Sequence

from probe.records import Bug, Finding, Pair
from probe.similarity.filter import Thresholds, similar_pairs
from probe.similarity.items import from_bugs, from_findings


def build_pairs(
    findings: Sequence[Finding], bugs: Sequence[Bug], thresholds: Thresholds | None = None
) -> list[Pair]:
    """Pairs of which any of the six signals reaches its threshold, sorted by both ids.

    Args:
        findings: of one run on one repository, in any order.
        bugs: the repository's reference set, in any order.
        thresholds: of the filter; its defaults where None.

    Returns:
        An empty list where either side is empty.

    Raises:
        ValueError: a finding or a bug occurs twice, or they are of different repositories.
    """
    repos = {finding.repo for finding in findings} | {bug.repo for bug in bugs}
    if len(repos) > 1:
        raise ValueError(f"findings and bugs of several repositories: {', '.join(sorted(repos))}")
    return similar_pairs(from_findings(findings), from_bugs(bugs), thresholds or Thresholds())
