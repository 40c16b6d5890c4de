"""The write-ups of one block's present candidates."""

from collections.abc import Iterable
from pathlib import Path

from probe.code.paths import SourceScope
from probe.git.objects import ObjectReader
from probe.records import Candidate, Dropped, Presence, Report
from probe.reference.mirror import Snapshot
from probe.reference.synthesize import write_report


def write_reports(
    mirror: Path, t0: str, candidates: Iterable[Candidate], presences: Iterable[Presence]
) -> tuple[list[Report], list[Dropped]]:
    """Template reports of the candidates that were kept, in order, and those without a place."""
    kept = {presence.candidate for presence in presences if presence.verdict == "keep"}
    with ObjectReader(mirror) as reader:
        snapshot = Snapshot(mirror, t0, SourceScope(), reader)
        written = [write_report(item, snapshot) for item in candidates if item.id in kept]
    reports = [item for item in written if isinstance(item, Report)]
    return reports, [item for item in written if isinstance(item, Dropped)]
