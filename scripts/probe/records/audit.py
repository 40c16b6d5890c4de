"""Records of a snapshot, of what finders report on it, and of how that is matched."""

from typing import Literal

from pydantic import Field

from probe.records.base import Confidence, Line, Provenance, Record, RepoPath, Sha, UtcTime
from probe.records.calls import Usage
from probe.records.history import Severity

NotAudited = Literal[
    "outside_source",
    "excluded",
    "test",
    "generated",
    "vendored",
    "minified",
    "binary",
    "too_large",
    "unknown_language",
    "symlink",
    "submodule",
    "lfs_pointer",
    "empty",
]
PassStatus = Literal["ok", "failed", "timeout", "limit", "budget"]


class SnapshotInfo(Record):
    """The snapshot as unpacked (``commit.json``)."""

    repo: str
    """Key of the repository in the inventory."""
    sha: Sha
    """T0."""
    tree: Sha
    """T0's tree object."""
    committer_time: UtcTime
    """When T0 was committed."""
    files: int
    """Regular files in ``source.tar``."""
    symlinks: tuple[str, ...]
    """Links kept as links; those that leave the tree are listed in ``escaping_symlinks`` too."""
    escaping_symlinks: tuple[str, ...]
    """Links whose target lies outside the tree: left out of ``source.tar``."""
    submodules: tuple[str, ...]
    """Submodule paths: empty folders in the archive, never fetched."""
    lfs_pointers: tuple[str, ...]
    """Files that are Git LFS pointers: archived as pointers, never audited."""
    export_ignored: tuple[str, ...]
    """Paths marked ``export-ignore``: archived all the same, since finders must see the tree."""
    missing_blobs: tuple[str, ...]
    """Paths whose blob the source does not have; left out."""
    archive_sha256: str
    """Hash of ``source.tar``."""


class SnapshotFile(Record):
    """One path of the snapshot and whether finders are asked about it."""

    path: RepoPath
    """Relative to the repository's root."""
    blob: Sha
    """Git's name of the content (of the link's target for symlinks)."""
    size: int = Field(ge=0)
    """Bytes."""
    language: str | None
    """Key of the language plugin; None where no plugin claims the file."""
    lines: int = Field(ge=0)
    """Lines of text; 0 for what is not text."""
    tokens: int = Field(ge=0)
    """Tokens of the text by the one tokenizer of the plan (cl100k_base); 0 where not audited."""
    audited: bool
    """Finders are asked about it, and findings elsewhere do not count as misses."""
    reason: NotAudited | None
    """Why it is not audited; None exactly when it is."""


class Pass(Record):
    """A group of audited files given to one finder session."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    """Unique within the plan; also a file name."""
    kind: Literal["individual", "batch"]
    """One complex file alone, or a directory's files together."""
    files: tuple[RepoPath, ...]
    """Audited files, sorted."""
    tokens: int = Field(ge=0)
    """Sum over the files."""
    callers: tuple[str, ...] = ()
    """Units in other files that call into this pass; empty until the call graph exists."""
    callees: tuple[str, ...] = ()
    """Units in other files that this pass calls; empty until the call graph exists."""
    score: float = 0.0
    """Highest planner score among the files: lines + 60 × distinct call partners elsewhere."""
    content_sha256: str
    """Hash over path and blob of every file: what a paid job sees, and reruns for."""


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
    """Items that were read with indulgence or left out as no claim of a defect, by kind."""
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
