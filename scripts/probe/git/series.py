"""Rebuild a git repository from a patch series, byte for byte.

The bundled repository is kept as text that a person can review: ``series.tsv`` lists the steps,
``patches/`` holds one patch a commit. Commit objects are written as raw bytes, with authors and
dates from the patch, so neither the machine's clock nor anyone's git settings has a say.

Columns of ``series.tsv``: ``step`` (four digits, counting from 0001), ``action``, ``name``,
``source``, ``patch`` (``-`` where there is none).

======  ===========  ================  ============================================================
action  name         source            meaning
======  ===========  ================  ============================================================
commit  branch       ``-``             apply the patch; the first commit of all makes its branch
merge   branch       merged branch     two parents; the patch is the change against the first
branch  new branch   branch or tag     start a branch
tag     new tag      branch            a lightweight tag
expect  branch       its full SHA      stop unless the branch is exactly there
======  ===========  ================  ============================================================

A patch begins with ``From: name <mail>``, ``Date:`` (ISO 8601 with an offset), ``Subject:``, an empty
line and the message's body; a line ``---`` ends it, and a unified diff as git prints it follows.
"""

import re
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from probe.errors import GitError, PatchError
from probe.git.process import run_git

COLUMNS = ("step", "action", "name", "source", "patch")
ACTIONS = ("commit", "merge", "branch", "tag", "expect")
MAIN = "main"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")
_PATCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\.patch")
_PERSON = re.compile(r"[^<>\n]+ <[^<>\s]+>")
_HEADERS = ("From: ", "Date: ", "Subject: ")


@dataclass(frozen=True, slots=True)
class Step:
    """One line of ``series.tsv``."""

    where: str
    """``file:line`` for messages."""
    action: str
    name: str
    source: str
    patch: str


@dataclass(frozen=True, slots=True)
class Patch:
    """A commit's author, date, message and diff."""

    person: str
    """``name <mail>``; author and committer are the same."""
    stamp: str
    """Seconds since 1970 and offset, as git writes them."""
    message: bytes
    diff: bytes


def build_series(folder: Path, target: Path) -> str:
    """Rebuild the repository that a patch series describes.

    Args:
        folder: holds ``series.tsv`` and ``patches/``.
        target: the bare repository to make; its HEAD is ``main``. It appears only when complete.

    Returns:
        The SHA at which ``main`` ends.

    Raises:
        PatchError: ``target`` exists already, the series is malformed, a patch does not apply, a
            branch is unknown, or an ``expect`` step finds its branch elsewhere.
        GitError: git is missing or cannot write.
    """
    if target.exists():
        raise PatchError(f"{target}: exists already; remove it to have the series built again")
    steps = read_steps(folder / "series.tsv")
    target.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as scratch:
        repo = Path(scratch) / "repository.git"
        builder = _Builder(folder / "patches", repo)
        for step in steps:
            builder.take(step)
        head = builder.finish()
        repo.rename(target)
    return head


def read_steps(path: Path) -> list[Step]:
    """Read and check ``series.tsv``; see the module's docstring for its columns."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise PatchError(f"{path}: cannot be read: {error}") from error
    if not lines or tuple(lines[0].split("\t")) != COLUMNS:
        raise PatchError(f"{path}:1: the header must be {' '.join(COLUMNS)}, separated by tabs")
    steps = [
        _read_step(f"{path}:{count + 1}", count, line) for count, line in enumerate(lines[1:], 1)
    ]
    if not steps:
        raise PatchError(f"{path}: lists no steps")
    return steps


def _read_step(where: str, count: int, line: str) -> Step:
    cells = line.split("\t")
    if len(cells) != len(COLUMNS):
        raise PatchError(f"{where}: {len(cells)} columns, expected {len(COLUMNS)}")
    number, action, name, source, patch = cells
    if number != f"{count:04d}":
        raise PatchError(f"{where}: step {number!r}, expected {count:04d}")
    if action not in ACTIONS:
        raise PatchError(f"{where}: unknown action {action!r}; use one of {', '.join(ACTIONS)}")
    if not _NAME.fullmatch(name):
        raise PatchError(f"{where}: {name!r} is no name of a branch or tag")
    has_patch = action in {"commit", "merge"}
    if has_patch and not _PATCH.fullmatch(patch):
        raise PatchError(f"{where}: {patch!r} is no name of a patch in patches/")
    if not has_patch and patch != "-":
        raise PatchError(f"{where}: {action} takes no patch; write - instead of {patch!r}")
    return Step(where, action, name, source, patch)


def read_patch(path: Path) -> Patch:
    """Read one patch file; see the module's docstring for its form.

    Raises:
        PatchError: it cannot be read, or its head is malformed.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise PatchError(f"{path}: cannot be read: {error.strerror or error}") from error
    head, separator, diff = content.partition(b"\n---\n")
    if not separator:
        raise PatchError(f"{path}: no line '---' between the message and the diff")
    try:
        lines = head.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise PatchError(f"{path}: the message is not UTF-8") from error
    for line, prefix in zip([*lines, "", "", ""], _HEADERS, strict=False):
        if not line.startswith(prefix):
            raise PatchError(f"{path}: expected a line '{prefix}…', found {line!r}")
    person, date, subject = (line.removeprefix(p) for line, p in zip(lines, _HEADERS, strict=False))
    if not _PERSON.fullmatch(person):
        raise PatchError(f"{path}: From: {person!r} is not of the form 'name <mail>'")
    if not subject.strip():
        raise PatchError(f"{path}: the subject is empty")
    body = "\n".join(lines[3:]).strip("\n")
    message = f"{subject}\n\n{body}\n" if body else f"{subject}\n"
    return Patch(person, _stamp(path, date), message.encode(), diff)


def _stamp(path: Path, date: str) -> str:
    try:
        moment = datetime.fromisoformat(date)
    except ValueError:
        moment = None
    offset = moment.utcoffset() if moment is not None else None
    if moment is None or offset is None:
        raise PatchError(f"{path}: Date: {date!r} is not ISO 8601 with an offset")
    minutes = int(offset.total_seconds()) // 60
    sign = "-" if minutes < 0 else "+"
    hours, minutes = divmod(abs(minutes), 60)
    return f"{int(moment.timestamp())} {sign}{hours:02d}{minutes:02d}"


@dataclass(slots=True)
class _Builder:
    """The repository while it grows; the index holds the tree of ``staged``."""

    patches: Path
    repo: Path
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    staged: str | None = None

    def __post_init__(self) -> None:
        kind = ("--bare", "--quiet", "--template=", "--object-format=sha1")
        run_git(None, "init", *kind, f"--initial-branch={MAIN}", str(self.repo))

    def take(self, step: Step) -> None:
        """Do one step."""
        if step.action == "commit":
            parents = [self._tip(step, step.name)] if self.branches else []
            self._commit(step, parents)
        elif step.action == "merge":
            self._commit(step, [self._tip(step, step.name), self._tip(step, step.source)])
        elif step.action == "branch":
            self._refuse_taken(step, self.branches)
            start = self.tags.get(step.source) or self._tip(step, step.source)
            self.branches[step.name] = start
        elif step.action == "tag":
            self._refuse_taken(step, self.tags)
            self.tags[step.name] = self._tip(step, step.source)
        elif self._tip(step, step.name) != step.source:
            found = self._tip(step, step.name)
            raise PatchError(f"{step.where}: {step.name} is at {found}, expected {step.source}")

    def finish(self) -> str:
        """Write the references; return where ``main`` is."""
        if MAIN not in self.branches:
            raise PatchError(f"{self.patches.parent}: the series makes no branch {MAIN!r}")
        created = [f"create refs/heads/{name} {sha}\n" for name, sha in self.branches.items()]
        created += [f"create refs/tags/{name} {sha}\n" for name, sha in self.tags.items()]
        run_git(self.repo, "update-ref", "--stdin", stdin="".join(created).encode())
        (self.repo / "index").unlink(missing_ok=True)
        return self.branches[MAIN]

    def _tip(self, step: Step, branch: str) -> str:
        if branch not in self.branches:
            known = ", ".join(sorted(self.branches)) or "none"
            raise PatchError(f"{step.where}: unknown branch {branch!r}; known here: {known}")
        return self.branches[branch]

    def _refuse_taken(self, step: Step, taken: dict[str, str]) -> None:
        if step.name in taken:
            raise PatchError(f"{step.where}: {step.action} {step.name!r} exists already")

    def _commit(self, step: Step, parents: list[str]) -> None:
        path = self.patches / step.patch
        patch = read_patch(path)
        first = parents[0] if parents else None
        if first != self.staged:
            run_git(self.repo, "read-tree", first or "--empty")
        if patch.diff.strip():
            self._apply(path, step, patch.diff)
        tree = run_git(self.repo, "write-tree").decode().strip()
        people = [f"{role} {patch.person} {patch.stamp}" for role in ("author", "committer")]
        head = [f"tree {tree}", *(f"parent {parent}" for parent in parents), *people, "", ""]
        raw = "\n".join(head).encode() + patch.message
        written = run_git(self.repo, "hash-object", "-t", "commit", "-w", "--stdin", stdin=raw)
        self.staged = self.branches[step.name] = written.decode().strip()

    def _apply(self, path: Path, step: Step, diff: bytes) -> None:
        try:
            run_git(self.repo, "apply", "--cached", "--whitespace=nowarn", stdin=diff)
        except GitError as error:
            reason = str(error).rsplit("error: ", 1)[-1]
            raise PatchError(f"{path}: does not apply to {step.name}: {reason}") from error
