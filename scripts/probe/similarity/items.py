"""What the signals look at, taken from findings, reports and bugs."""

from collections.abc import Iterable
from dataclasses import dataclass

from probe.records import Bug, Finding, Location, Report


@dataclass(frozen=True, slots=True)
class Item:
    """One report of a defect, reduced to what can be compared."""

    id: str
    locations: tuple[Location, ...]
    """Ranges in one tree, the same for all items of a comparison; the first is the primary one."""
    title: str
    description: str
    snippet: str


def from_findings(findings: Iterable[Finding]) -> list[Item]:
    """Findings as items, in order."""
    return [
        Item(
            finding.id,
            (Location(path=finding.path, first=finding.first, last=finding.last),),
            finding.title,
            finding.description,
            finding.snippet,
        )
        for finding in findings
    ]


def from_bugs(bugs: Iterable[Bug]) -> list[Item]:
    """Reference bugs as items, in order; the suggested fix stays out."""
    return [
        Item(bug.id, (bug.primary, *bug.others), bug.title, bug.description, bug.snippet)
        for bug in bugs
    ]


def from_reports(reports: Iterable[Report]) -> list[Item]:
    """Reports as items, in order, named by their candidate; the suggested fix stays out."""
    return [
        Item(
            report.candidate,
            (report.primary, *report.others),
            report.title,
            report.description,
            report.snippet,
        )
        for report in reports
    ]
