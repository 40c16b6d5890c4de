"""The table of matches for people (``matches.csv``)."""

from collections.abc import Iterable, Iterator, Sequence

from probe.matching.matches import Match
from probe.records import Bug, Finding

COLUMNS = (
    "finding",
    "bug",
    "confidence",
    "line_distance",
    "text_similarity",
    "crowded",
    "finding_title",
    "finding_place",
    "bug_title",
    "bug_place",
    "fix_commits",
)


def match_rows(
    matches: Iterable[Match], findings: Sequence[Finding], bugs: Sequence[Bug]
) -> Iterator[dict[str, object]]:
    """Rows in the matches' order, with what a reader needs to check a match by hand.

    Raises:
        KeyError: a match of a finding or bug that is not given.
    """
    finding_of = {finding.id: finding for finding in findings}
    bug_of = {bug.id: bug for bug in bugs}
    for match in matches:
        finding, bug = finding_of[match.finding], bug_of[match.bug]
        yield {
            "finding": match.finding,
            "bug": match.bug,
            "confidence": match.confidence,
            "line_distance": match.line_distance,
            "text_similarity": match.text_similarity,
            "crowded": "yes" if match.crowded else "no",
            "finding_title": finding.title,
            "finding_place": f"{finding.path}:{finding.first}-{finding.last}",
            "bug_title": bug.title,
            "bug_place": f"{bug.primary.path}:{bug.primary.first}-{bug.primary.last}",
            "fix_commits": " ".join(bug.fix_commits),
        }
