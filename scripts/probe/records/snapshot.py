"""Records of a snapshot: its files, its calls, its plan and its environment."""

from typing import Literal

from pydantic import Field

from probe.records.base import Line, Provenance, Record, RepoPath, Sha, UtcTime

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


Certainty = Literal["certain", "likely", "possible"]
"""How sure a static call edge is. certain: syntax and imports leave one target; likely: the
receiver's type is inferred, or a subclass could override it; possible: only a rare name tells, or
the function is handed on as a value."""
ParseStatus = Literal["parsed", "partial", "text"]
"""parsed: without a syntax error; partial: with some, what could be read counts; text: not parsed
(enormous, minified, undecodable, no grammar), carried as text without calls."""


class UnitRef(Record):
    """A function, method or class of the snapshot, or a file's top level."""

    path: RepoPath
    """Its file."""
    unit: str
    """Qualified name inside the file, ``Class.method``; empty for the file's top level."""
    first: Line
    """First line of the unit, decorators included; 1 for the top level."""
    last: Line
    """Last line, inclusive."""


class CallEdge(Record):
    """One unit calls another, as static analysis sees it (a row of ``callgraph.jsonl``)."""

    caller: UnitRef
    """Who calls."""
    callee: UnitRef
    """Who is called; for a class its own constructor, or the class where it defines none."""
    lines: tuple[Line, ...]
    """Lines of the calls in the caller's file, ascending."""
    certainty: Certainty
    """Of the surest of these calls."""
    way: str
    """The rule that found it, in a word: ``import``, ``self``, ``constructor``, ``annotation`` …"""


class ParsedFile(Record):
    """How far a file could be read for the call graph (a row of ``parsing.jsonl``)."""

    path: RepoPath
    """The file."""
    language: str | None
    """Key of the language plugin."""
    status: ParseStatus
    """In a word."""
    reason: str | None = None
    """Why it was not read in full; None exactly for ``parsed``."""
    units: int = Field(default=0, ge=0)
    """Functions, methods and classes in it."""
    calls: int = Field(default=0, ge=0)
    """Call expressions in it."""
    resolved: int = Field(default=0, ge=0)
    """Calls whose target is a unit of the snapshot."""


class Partner(Record):
    """A unit of another file that calls into a pass, or that the pass calls."""

    path: RepoPath
    """Its file."""
    unit: str
    """Qualified name; empty for the file's top level."""
    first: Line
    """First line of the unit."""
    last: Line
    """Last line, inclusive."""
    calls: int = Field(ge=1)
    """Call sites between it and the pass."""
    certainty: Certainty
    """Of the surest of them."""
    into: tuple[str, ...]
    """Units on the pass's side of these calls, ``path:unit``, sorted."""
    sites: tuple[Line, ...] = ()
    """Lines of its own file on which a caller calls into the pass, ascending; empty for a callee,
    whose calls stand in the pass."""


class Pass(Record):
    """A group of audited files given to one finder session."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    """Unique within the plan; also a file name."""
    kind: Literal["individual", "batch"]
    """One complex file alone, or a directory's files together (a single one where it is alone there,
    or larger than the budget)."""
    files: tuple[RepoPath, ...]
    """Audited files, sorted."""
    tokens: int = Field(ge=0)
    """Sum over the files."""
    callers: tuple[Partner, ...] = ()
    """Units in other files that call into this pass, the most important first."""
    callees: tuple[Partner, ...] = ()
    """Units in other files that this pass calls, the most important first."""
    callers_found: int = Field(default=0, ge=0)
    """Units that call into this pass in all, listed or not."""
    callees_found: int = Field(default=0, ge=0)
    """Units that this pass calls in all, listed or not."""
    score: float = 0.0
    """Highest planner score among the files: lines + 60 × distinct call partners elsewhere."""
    content_sha256: str
    """Hash over path and blob of every file and over the partners with their files' blobs."""


Variant = Literal["full", "passes-only", "vanilla"]
"""What an agent is given. full: context document, sources, call graph and snippets; passes-only: the
paths of a pass; vanilla: the whole repository in one session."""


class Brief(Record):
    """What a session of one variant is about, and the hash that it reruns for (``briefs.jsonl``)."""

    variant: Variant
    """Of which variant."""
    pass_id: str
    """Which pass; ``all`` for vanilla."""
    content_sha256: str
    """Hash over all that a session of the variant sees: the pass, the context document where it gets
    one, the environment, and the version of the form."""


class Release(Record):
    """A package that an environment holds."""

    ecosystem: Literal["python", "node"]
    """Which registry."""
    name: str
    """As the registry writes it."""
    version: str
    """Exact."""
    uploaded: UtcTime | None
    """When its file was uploaded; None where the registry does not say."""


class SuiteTotals(Record):
    """What the project's own test suite says inside the environment."""

    command: str
    """As run, in the project's folder."""
    subset: bool
    """Whether a representative part was run, because the suite takes long."""
    exit: int | None
    """Exit status; None where the time ran out."""
    passed: int | None
    """None where the output has no total."""
    failed: int | None
    """Failed tests and errors."""
    skipped: int | None
    """Skipped and expected failures."""
    wall_s: float
    """Seconds."""
    problem: str | None = None
    """Why there are no counts, in a line: it hangs, needs a network, prints no total; None with counts."""
    notes: tuple[str, ...] = ()
    """Suites that are left out on purpose, and why."""

    @property
    def line(self) -> str:
        """``TOTAL passed=1 failed=0 skipped=2``; a question mark for what is not known."""
        counts = {"passed": self.passed, "failed": self.failed, "skipped": self.skipped}
        said = " ".join(f"{k}={'?' if v is None else v}" for k, v in counts.items())
        return f"TOTAL {said}"


class Environment(Record):
    """Where the snapshot's code runs (``environment.json``)."""

    repo: str
    """Key of the repository."""
    status: Literal["built", "sources_only"]
    """sources_only: no environment could be built, or none was wanted; finders get the sources and a
    bare interpreter."""
    reason: str | None = None
    """Why there is none, in a line; None exactly where it is built."""
    cutoff: UtcTime
    """T0's time: no package may be younger."""
    runtimes: dict[str, str] = Field(default_factory=dict)
    """Version of each interpreter inside, by name: ``python``, ``node``."""
    locks: dict[str, str] = Field(default_factory=dict)
    """Where each ecosystem's lock came from: ``package-lock.json``, ``resolved`` …"""
    releases: int = Field(default=0, ge=0)
    """Packages inside; the list is ``environment/packages.tsv``."""
    newest: UtcTime | None = None
    """The youngest upload among them."""
    unknown_dates: int = Field(default=0, ge=0)
    """Packages whose upload date no registry told."""
    variables: dict[str, str] = Field(default_factory=dict)
    """Variables of commands inside, such as PATH and pretend versions."""
    image: str | None = None
    """Reference of the image for Docker and Podman, tagged by ``sha256``; None where none was made."""
    folder: str | None = None
    """Folder for engines without images, relative to ``results/{repo}``; None where none was made."""
    sha256: str
    """Identity: over locks, runtimes, variables and recipe; the same on every machine."""
    tests: SuiteTotals | None = None
    """The project's own tests; None where they were not run."""
    provenance: Provenance
    """What made the recipe."""


LeakKind = Literal[
    "git_objects", "git_refs", "git_reflog", "mtime", "changelog", "packages", "registry", "dns",
    "network", "foreign_file", "window_sha", "fix_text", "issue_number", "history", "web_tool",
]  # fmt: skip
"""What gives the future away. In a snapshot: git data, files or packages newer than T0, files that T0's
tree does not have (``foreign_file``), a way to the
world. In a session: names of window commits, lines of fixes, numbers of later issues, and attempts:
commands that ask for history or for the network, and tools that search the web."""

LeakSource = Literal["prompt", "output", "command", "message"]
"""Where in a session a hit stands. prompt: what the session was given; output: what a tool showed it;
command: what it ran; message: what the model said or handed in."""

LeakWeight = Literal["leak", "suspect", "attempt"]
"""What a hit means. leak: the session was shown something of the future; suspect: a hit that the model
can also owe to its memory, its skill or chance; attempt: it asked for history or network, whatever
came of it."""


class Leak(Record):
    """One way in which a snapshot, or a session, knows of the time after T0."""

    kind: LeakKind
    """In a word."""
    where: str
    """A path inside the sandbox, a package, or the line of a transcript."""
    detail: str
    """What was seen, in a line."""


class LeakReport(Record):
    """The proof that a snapshot does not know the future (``leaks.json``)."""

    repo: str
    """Key of the repository."""
    t0: Sha
    """The snapshot commit."""
    cutoff: UtcTime
    """T0's time."""
    environment_sha256: str
    """Which environment was looked at."""
    engine: str
    """The sandbox's engine."""
    checks: dict[LeakKind, int]
    """Things looked at, by kind: a check that looked at nothing proves nothing."""
    leaks: tuple[Leak, ...]
    """What was found; a report with leaks is never written as an output."""
    accepted: tuple[Leak, ...] = ()
    """Found and accepted by the repository's override, each with its reason in the detail."""


class SessionLeak(Leak):
    """A hit in the transcript of one pass, for a person to look at (``{run}/leaks.jsonl``)."""

    pass_id: str
    """Which pass."""
    source: LeakSource
    """Where in the session it stands."""
    weight: LeakWeight
    """What it means; only a ``leak`` flags its pass in the cell."""
    count: int = Field(default=1, ge=1)
    """Occurrences of the same thing in this pass and source; ``where`` names the first."""
