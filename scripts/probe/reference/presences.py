"""Whether the snapshot had each candidate's defect: the verdicts of one block."""

from collections.abc import Iterable
from pathlib import Path

from probe.records import Candidate, Presence, Provenance
from probe.reference.cite import cite

PRESENCE_VERSION = "2"
"""Raised whenever a verdict may come out differently."""


def judge_presences(mirror: Path, t0: str, candidates: Iterable[Candidate]) -> list[Presence]:
    """Whether the snapshot had each candidate's defect, in the candidates' order.

    The verdict is the candidate's lineage; a drop cites commands that are run here.

    Args:
        mirror: a git directory with the window.
        t0: the snapshot commit.
        candidates: as :func:`build_candidates` makes them.
    """
    return [_presence(mirror, t0, candidate) for candidate in candidates]


def _presence(mirror: Path, t0: str, candidate: Candidate) -> Presence:
    lineage = candidate.lineage
    if lineage is None:
        return Presence(
            candidate=candidate.id,
            verdict=None,
            confidence=0.0,
            rationale="the candidate was not looked up in the window's history",
            provenance=Provenance.of_heuristic(PRESENCE_VERSION),
        )
    return Presence(
        candidate=candidate.id,
        verdict="drop" if lineage.ground else "keep",
        ground=lineage.ground,
        confidence=lineage.confidence,
        rationale=lineage.rationale,
        evidence=cite(mirror, t0, candidate) if lineage.ground else (),
        provenance=Provenance.of_heuristic(PRESENCE_VERSION),
    )
