"""Records of a repository's history and of the reference set built from it."""

from typing import Literal, Self

from pydantic import Field, model_validator

from probe.records.base import Confidence, Line, Provenance, Record, RepoPath, Sha, UtcTime
from probe.records.calls import Failure

Anchoring = Literal["exact", "moved", "renamed", "lost"]
Severity = Literal["low", "medium", "high", "critical"]
"""How bad a user would find it: ``critical`` loses data, opens a security hole or stops most use;
``high`` gives wrong results or crashes in ordinary use; ``medium`` does so in less usual but
supported use; ``low`` is rare or has little effect."""
Way = Literal["exact", "renamed", "rewritten", "restored", "unit", "text"]
"""How a line was found in the snapshot. By blame: ``exact`` in the same path, ``renamed`` in
another (renamed, split and merged files), ``rewritten`` through commits that changed its text;
``restored``: taken away and brought back; ``unit``: the enclosing unit by its qualified name;
``text``: its only occurrence."""
Overruled = Literal["no ground", "uncited", "not reproduced"]
"""Why a model's drop does not count."""
DropGround = Literal[
    "postdated_precondition", "deliberate_rejection", "absent_capability", "code_absent"
]


class Location(Record):
    """A range of whole lines in one file; which tree it refers to is said by the field's name."""

    path: RepoPath
    """File, relative to the repository's root."""
    first: Line
    """First line, 1-based."""
    last: Line
    """Last line, inclusive; at least ``first``."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.last < self.first:
            raise ValueError(f"{self.path}: last line {self.last} comes before first {self.first}")
        return self


class History(Record):
    """What the mirror of a repository is pinned to (``history.json``)."""

    repo: str
    """Key of the repository in the inventory."""
    url: str
    """Where it was fetched from: a URL or an absolute path."""
    default_branch: str
    """Branch whose first-parent line carries T0 and T1."""
    t0: Sha
    """The snapshot commit."""
    t1: Sha
    """The last commit of the window."""
    missing_blobs: int = 0
    """Blobs of the window or the snapshot that the source does not have (partial clones)."""


class FileChange(Record):
    """One path of a commit's diff against its first parent."""

    path: RepoPath
    """Path after the change; for a deletion the path that went away."""
    old_path: RepoPath | None = None
    """Path before a rename or copy; None otherwise."""
    status: Literal["A", "M", "D", "R", "C", "T"]
    """Git's letter: added, modified, deleted, renamed, copied, type changed."""
    added: int | None
    """Added lines; None for binary files and submodules."""
    deleted: int | None
    """Deleted lines; None for binary files and submodules."""
    binary: bool = False
    """Git shows no text diff, whatever the file holds."""
    submodule: bool = False
    """The entry is a submodule pointer (mode 160000) before or after."""


class Commit(Record):
    """A commit of the window, in window order."""

    sha: Sha
    """Full object name."""
    position: int = Field(ge=0)
    """Place in the window order, 0-based; appending to the window never changes it."""
    step: Sha
    """The first-parent commit that brought this one into the default branch (itself on that line)."""
    parents: tuple[Sha, ...]
    """Parents in order; empty for a root commit."""
    author_time: UtcTime
    """When it was written."""
    committer_time: UtcTime
    """When it was committed."""
    subject: str
    """First paragraph of the message on one line; undecodable bytes replaced."""
    body: str
    """The rest of the message."""
    files: tuple[FileChange, ...]
    """Changed paths against the first parent, in git's order; empty for an empty commit."""
    truncated: bool = False
    """The diff could not be read in full: an object is missing, or git failed."""
    unread: str = ""
    """What could not be read, and why."""
    renames_limited: bool = False
    """More files changed than the rename limit: renames in it appear as additions and deletions."""


class Classification(Record):
    """Whether some part of a commit corrects wrong behaviour."""

    commit: Sha
    """Which commit."""
    is_fix: bool | None
    """None: the engine failed and the commit is unjudged."""
    confidence: Confidence
    """How sure the engine is of ``is_fix``."""
    rationale: str
    """Why, in a line: the rules that fired or the model's reason."""
    failure: Failure | None = None
    """Why it is unjudged; None exactly for a verdict."""
    provenance: Provenance
    """What decided."""

    @model_validator(mode="after")
    def _unjudged_says_why(self) -> Self:
        if (self.is_fix is None) != (self.failure is not None):
            raise ValueError(f"commit {self.commit}: unjudged exactly with a failure")
        return self


class Lineage(Record):
    """What blame from the snapshot says of a candidate; the heuristic presence verdict follows it.

    Kept with the candidate, because it needs every line's past, which anchoring has at hand.
    """

    ground: DropGround | None
    """What speaks against presence; None where most of what the fix corrects goes back to T0."""
    confidence: Confidence
    """How clear that is."""
    rationale: str
    """The numbers behind it, in a line."""


class Candidate(Record):
    """One logical bug extracted from a fix commit, located before the fix and in the snapshot."""

    id: str = Field(pattern=r"^[0-9a-f]{12}-[1-9][0-9]*$")
    """``{first 12 of the sha}-{n}``, n counting the bugs of the commit from 1."""
    commit: Sha
    """The fix commit."""
    title: str
    """The commit's subject without prefixes and references, or the model's title."""
    root_cause: str
    """What was wrong, as far as the engine knows."""
    parent_locations: tuple[Location, ...]
    """Faulty lines in the fix commit's first parent."""
    insertion_points: tuple[Location, ...] = ()
    """For purely additive hunks: the parent-side line after which the fix inserts."""
    snapshot_locations: tuple[Location, ...]
    """The same lines found in the snapshot; empty when ``anchoring`` is ``lost``."""
    anchoring: Anchoring
    """exact: same path and lines by blame; moved: other lines or file by content; renamed; lost."""
    anchored_lines: int = Field(ge=0)
    """How many parent-side lines have a place in the snapshot."""
    ways: dict[Way, int] = Field(default_factory=dict)
    """How many lines were found in which way (``unit``: how many units); without those at 0."""
    faulty_lines: int = Field(ge=0)
    """How many parent-side lines the fix removes or changes; 0 for a purely additive fix."""
    additive: bool = False
    """The fix only adds lines."""
    lineage: Lineage | None = None
    """What blame says of its presence; None where the engine could not look it up."""
    suggested_fix: str
    """The diff of the production files, cut to a budget; never shown to finders or judges."""
    provenance: Provenance
    """What extracted it."""


UNJUDGED = "unjudged"
"""Reason of what left because nothing could be decided about it."""


class Dropped(Record):
    """Something that left the way to the reference set, and why: counted in ``funnel.csv``.

    A fix commit (or one of its bugs) that gave no candidate, a candidate that gave no report, or a
    report that gave no bug.
    """

    commit: Sha
    """The fix commit."""
    stage: Literal["extract", "anchor", "synthesize", "deduplicate"]
    """Where it left the reference set."""
    candidate: str | None = None
    """The candidate's id, where there was one."""
    reason: str
    """A named outcome in a few words, the same for all of its kind: what is counted."""
    detail: str = ""
    """What is special about this one, in a line."""
    failure: Failure | None = None
    """Why it is unjudged; None where something was decided."""
    provenance: Provenance | None = None
    """What decided; None where no engine was asked."""


class Evidence(Record):
    """One checked fact: a command and what it printed."""

    command: str
    """Shell words as executed in a checkout with history."""
    output: str
    """Excerpt of what it printed."""
    exit: int | None = None
    """Its exit status; None where nobody noted it, or its time ran out."""
    reproduced: bool | None = None
    """Whether the workflow's own execution printed the same; None where it was the only one."""


class Presence(Record):
    """Whether a candidate's defect was already in the snapshot."""

    candidate: str
    """The candidate's id."""
    verdict: Literal["keep", "drop"] | None
    """None: unjudged, the engine failed."""
    ground: DropGround | None = None
    """Why it was dropped; None for keep."""
    overruled: Overruled | None = None
    """Why a claimed drop became a keep with low confidence; None where nothing was overruled."""
    claimed: DropGround | None = None
    """Ground of the overruled drop, where it named one."""
    failure: Failure | None = None
    """Why it is unjudged, where a model was asked."""
    confidence: Confidence
    """How sure the engine is."""
    rationale: str
    """The numbers or reasons behind the verdict, in a line."""
    evidence: tuple[Evidence, ...] = ()
    """What was run to establish it."""
    provenance: Provenance
    """What decided."""

    @model_validator(mode="after")
    def _drop_has_ground(self) -> Self:
        if (self.verdict == "drop") != (self.ground is not None):
            raise ValueError(f"candidate {self.candidate}: a drop needs a ground, and only a drop")
        if self.verdict == "drop" and not self.evidence:
            raise ValueError(f"candidate {self.candidate}: a drop needs evidence")
        if self.overruled is not None and self.verdict != "keep":
            raise ValueError(f"candidate {self.candidate}: an overruled drop is a keep")
        return self


class Report(Record):
    """The write-up of one present candidate, before duplicates are merged."""

    candidate: str
    """The candidate's id."""
    commit: Sha
    """The fix commit."""
    title: str
    """Present tense, never naming the fix."""
    description: str
    """What goes wrong and where, in the snapshot's own identifiers."""
    primary: Location
    """Where a reader should look first, in the snapshot."""
    others: tuple[Location, ...] = ()
    """Further places in the snapshot."""
    unit: str | None
    """Qualified name of the enclosing function, method or class; None at module level."""
    snippet: str
    """The lines of ``primary`` with bounded context, from the snapshot."""
    severity: Severity
    """How bad a user would find it; the heuristic knows only ``medium``."""
    trigger: str | None = None
    """The input, state or environment that shows it; None where the engine cannot tell."""
    suggested_fix: str
    """Kept apart from the description, never shown to finders or judges."""
    leaks: tuple[str, ...] = ()
    """What in the text gives the fix away, after all repairs; a leaking report makes no bug."""
    provenance: Provenance
    """What wrote it."""


class Bug(Record):
    """A reference bug: one defect of the snapshot that maintainers fixed in the window."""

    id: str
    """``{repo}:{candidate id of the earliest fix}``."""
    repo: str
    """Key of the repository in the inventory."""
    title: str
    """Present tense, never naming the fix."""
    description: str
    """What goes wrong and where, in the snapshot's own identifiers."""
    primary: Location
    """Where a reader should look first, in the snapshot."""
    others: tuple[Location, ...] = ()
    """Further places in the snapshot, of all merged candidates."""
    unit: str | None
    """Qualified name of the enclosing unit of ``primary``."""
    snippet: str
    """The lines of ``primary`` with bounded context, from the snapshot."""
    severity: Severity
    """The highest among the merged reports."""
    trigger: str | None = None
    """The input, state or environment that shows it; None where the engine cannot tell."""
    suggested_fix: str
    """Never shown to finders or judges."""
    candidates: tuple[str, ...]
    """Ids of all merged candidates, in window order."""
    fix_commits: tuple[Sha, ...]
    """Commits of all merged candidates, in window order."""
    fix_rank: int = Field(ge=1)
    """Position of the earliest fix among the window's fix commits, 1-based, in window order."""
    provenance: Provenance
    """What wrote the report that stands for the bug."""


class ReferenceInfo(Record):
    """What identifies a reference set (``reference.json``); every cell carries version and hash."""

    repo: str
    """Key of the repository in the inventory."""
    version: str
    """The setting ``reference.version``, and ``+n`` where n errata apply."""
    sha256: str
    """Of the file ``bugs.jsonl``, as ``sha256sum`` prints it."""
    t0: Sha
    """The snapshot commit."""
    t1: Sha
    """The last commit of the window."""
    bugs: int = Field(ge=0)
    """Reference bugs."""
    withdrawn: int = Field(ge=0)
    """Bugs that errata took out."""
    corrected: int = Field(ge=0)
    """Bugs that errata changed."""
