"""Records of what finders report on a snapshot, and of how that is matched."""

from typing import Literal

from pydantic import Field

from probe.records.base import Confidence, Line, Provenance, Record, RepoPath
from probe.records.calls import Usage
from probe.records.history import Severity

PassStatus = Literal["ok", "failed", "timeout", "limit", "budget"]
Placing = Literal["as_reported", "relocated"]
"""How a finding got its lines: as the finder gave them, or found by the text that it quoted."""


class SandboxUse(Record):
    """The sandbox that a pass worked in."""

    engine: str
    """``docker``, ``bubblewrap``, ``podman`` or ``apptainer``."""
    version: str
    """Version of the engine."""
    image: str
    """Digest of the image, or the root folder's description."""
    limits: dict[str, int | float]
    """By name, units in the names: ``memory_mb``, ``processes``, ``cpus``, ``disk_mb`` …"""


class GatewayUse(Record):
    """What a command-line agent did at the gateway, beyond the usage that it was billed."""

    refused: dict[str, int] = Field(default_factory=dict)
    """Requests that were not passed on, by reason."""
    stripped: dict[str, int] = Field(default_factory=dict)
    """Requests out of which a tool or setting was taken, by its name."""
    errors: dict[str, int] = Field(default_factory=dict)
    """Calls that failed, by kind."""
    uncertain: int = 0
    """Calls whose cost is a bound, because their answer broke off or did not say."""
    asked_models: tuple[str, ...] = ()
    """Models that the client named, sorted."""
    served_models: tuple[str, ...] = ()
    """Models that the provider named, sorted."""
    efforts: tuple[str, ...] = ()
    """Reasoning efforts that the client asked for, sorted."""


class Finding(Record):
    """One defect that a run reports, placed in the snapshot."""

    id: str
    """``{repo}:{run}:{pass}:{n}``, n counting from 1 in the finder's order."""
    repo: str
    """Key of the repository."""
    run: str
    """Key of the run."""
    pass_id: str
    """The pass that reported it."""
    title: str
    """One line."""
    description: str
    """The finder's message, and what its rule means where that is known."""
    path: RepoPath
    """A file of the snapshot."""
    first: Line
    """First line, 1-based."""
    last: Line
    """Last line, inclusive."""
    unit: str | None = None
    """Qualified name of the innermost function, method or class around the first line; None at the top
    level, and where the finder is no model."""
    snippet: str
    """The lines from the snapshot, not from the finder."""
    severity: Severity | None = None
    """The finder's own, mapped; None where it says nothing."""
    confidence: Confidence | None = None
    """The finder's own; None where it says nothing."""
    rule: str | None = None
    """An analyser's rule, where there is one."""
    suggested_fix: str | None = None
    """The finder's own."""
    placing: Placing = "as_reported"
    """Whether the lines are the finder's, or were found by the text that it quoted."""
    merged: tuple[str, ...] = ()
    """Ids of findings of the same run that say the same, folded into this one."""
    raw: dict[str, object]
    """What the finder printed for it."""


class Rejected(Record):
    """A reported item that is no finding, and why: counted, never dropped silently."""

    reason: Literal["outside_snapshot", "no_such_file", "no_such_line", "no_location", "malformed"]
    """What is wrong with it."""
    detail: str
    """The offending value."""
    raw: dict[str, object]
    """What the finder printed for it."""


class PassResult(Record):
    """The outcome of one pass of one run (``passes/{pass}.json``)."""

    repo: str
    """Key of the repository."""
    run: str
    """Key of the run."""
    pass_id: str
    """Which pass."""
    status: PassStatus
    """ok: the finder ended by itself and its output was read, however little it found."""
    error: str | None = None
    """One line; None exactly when the status is ok."""
    findings: tuple[Finding, ...]
    """In the finder's order."""
    rejected: tuple[Rejected, ...] = ()
    """Items that could not become findings."""
    suppressed: int = 0
    """Results that their author marked as suppressed: left out."""
    oddities: dict[str, int] = Field(default_factory=dict)
    """Items that were read with indulgence or left out as no claim of a defect, by kind; of a session
    also what its prompt had no room for, and a limit that hastened its end."""
    files_read: int | None = None
    """Files the finder says it read; None where it does not say."""
    files_skipped: tuple[str, ...] = ()
    """Audited files that it could not read (syntax errors, its own limits)."""
    files_timed_out: tuple[str, ...] = ()
    """Audited files on which it ran out of time."""
    usage: Usage
    """What it cost."""
    wall_s: float = Field(ge=0)
    """Seconds from start to end; not part of any comparison of results."""
    sandbox: SandboxUse | None = None
    """Where it worked; None for finders that run no foreign code."""
    environment: str | None = None
    """``built``, or ``sources_only``: the sources and a bare interpreter; None without a sandbox."""
    transcript: str | None = None
    """The session's record, beside the pass file and relative to its folder; None without one."""
    turns: int | None = None
    """Answers of the model in the session; None where there is none."""
    gateway: GatewayUse | None = None
    """For command-line agents; None for all others."""
    command: tuple[str, ...] = ()
    """The command line, with paths of the machine replaced by names."""
    provenance: Provenance
    """The tool and its version."""


class Pair(Record):
    """A finding and a reference bug that look alike (or two reports), with all signals."""

    left: str
    """The finding's id, or the earlier report's."""
    right: str
    """The bug's id, or the later report's."""
    line_distance: int | None
    """Lines between the nearest ranges in the same file, 0 when they overlap; None across files."""
    line_overlap: float
    """Lines that both name over lines that either names (Jaccard over all places of both)."""
    path_similarity: float
    """1 for the same path, else shared trailing parts over all parts."""
    snippet_similarity: float
    """Jaccard of the snippets' tokens."""
    text_similarity: float
    """Cosine of TF-IDF vectors of title and description."""
    identifier_similarity: float
    """Jaccard of the code identifiers named in the prose."""
    title_similarity: float
    """Dice of the titles' character trigrams."""


class Judgement(Record):
    """Whether a pair is a match: resolving either one's root cause resolves the other."""

    left: str
    """As in the pair."""
    right: str
    """As in the pair."""
    match: bool | None
    """None: unjudged, the engine failed; never counted as no."""
    confidence: Confidence
    """How sure the engine is."""
    rationale: str
    """Why, in a line."""
    provenance: Provenance
    """What decided."""
