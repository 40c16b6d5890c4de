"""Mirrors of repositories: bare, one branch each, with T0 and T1 pinned as refs.

What a date or an abbreviation means is decided once, when the mirror first sees it, and kept as a
ref: a branch that moves, is rewritten or vanishes later changes nothing, and a mirror that holds
all pins of a row is not fetched again, with or without a network.
"""

import fcntl
import hashlib
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from probe.errors import GitError
from probe.git.borrow import borrow, give_back
from probe.git.partial import copy_partial, count_missing
from probe.git.process import run_git
from probe.git.revisions import Line, check_range, read_line, resolve
from probe.git.source import Source, default_branch, open_source, shallow_problem, show_url
from probe.git.window import window_members
from probe.records import History

_INCOMING = "refs/probe/incoming"


class _Pins:
    """The refs that a mirror keeps for one source and choice of branch."""

    def __init__(self, mirror: Path, url: str, branch: str | None) -> None:
        self._mirror = mirror
        self._source = _key(show_url(url), branch or "")

    def branch(self) -> str | None:
        """The branch as it was called when it was last fetched."""
        if not (self._mirror / "HEAD").is_file():
            return None
        name = f"refs/probe/branches/{self._source}"
        printed = run_git(self._mirror, "for-each-ref", "--format=%(symref:lstrip=2)", name)
        return printed.decode().strip() or None

    def commit(self, spec: str) -> str | None:
        """What ``spec`` was taken to mean; None for a new one."""
        if not (self._mirror / "HEAD").is_file():
            return None
        printed = run_git(self._mirror, "for-each-ref", "--format=%(objectname)", self._ref(spec))
        return printed.decode().strip() or None

    def keep_branch(self, name: str) -> None:
        """Remember the branch, and make it the mirror's HEAD."""
        for ref in (f"refs/probe/branches/{self._source}", "HEAD"):
            run_git(self._mirror, "symbolic-ref", ref, f"refs/heads/{name}")

    def keep(self, spec: str, sha: str) -> None:
        """Remember what ``spec`` means."""
        run_git(self._mirror, "update-ref", self._ref(spec), sha)

    def _ref(self, spec: str) -> str:
        return f"refs/probe/pins/{self._source}/{_key(spec.lower())}"


def fetch_mirror(
    url: str,
    mirror: Path,
    *,
    t0: str,
    t1: str,
    branch: str | None = None,
    repo: str,
    neighbours: Sequence[Path] = (),
) -> History:
    """Bring the history up to T1 into ``mirror`` and pin both ends.

    Calls for the same mirror wait for each other. What is pinned already is not fetched again; a
    T1 that is new to the mirror fetches what it lacks.

    Args:
        url: a URL or a local path; see :func:`probe.git.source.open_source`.
        mirror: the bare repository to make or to extend.
        t0: the snapshot: a commit of the default branch's first-parent line, full or abbreviated,
            or a date YYYY-MM-DD (the last such commit before that day, UTC).
        t1: the window's end, in the same form.
        branch: the default branch; None for the one that the source's HEAD names.
        repo: the repository's key in the inventory, for messages.
        neighbours: mirrors that may be of the same source; a new mirror takes from them what they
            have, and only the rest from a remote source.

    Raises:
        GitError: one line naming the repository, what was found, and what to do.
    """
    with _locked(mirror):
        pins = _Pins(mirror, url, branch)
        name, first, last = pins.branch(), pins.commit(t0), pins.commit(t1)
        if name is None or first is None or last is None:
            lenders = (one for one in neighbours if _lends(one, url, branch))
            line = _fetch(open_source(url, repo), mirror, branch, lenders)
            name = line.branch
            first = first or resolve(line, "T0", t0)
            last = last or resolve(line, "T1", t1)
            check_range(line, first, last)
            pins.keep_branch(name)
        _check_window(mirror, first, last, repo)
        pins.keep(t0, first)
        pins.keep(t1, last)
        missing = count_missing(mirror, first, last) if _is_partial(mirror) else 0
    return History(
        repo=repo,
        url=show_url(url),
        default_branch=name,
        t0=first,
        t1=last,
        missing_blobs=missing,
    )


def is_pinned(url: str, mirror: Path, *, t0: str, t1: str, branch: str | None) -> bool:
    """Whether a mirror already knows both ends, so that nothing will be fetched."""
    pins = _Pins(mirror, url, branch)
    return pins.commit(t0) is not None and pins.commit(t1) is not None


def forget_mirror(mirror: Path) -> None:
    """Remove a mirror with its pins: its source was made anew and is another history."""
    with _locked(mirror):
        if mirror.exists():
            shutil.rmtree(mirror)


def check_local(url: str, t0: str, t1: str, branch: str | None, repo: str) -> None:
    """Find the faults of a local repository's row early, without writing anything.

    Remote URLs and bundles are not looked at. Arguments as in :func:`fetch_mirror`.

    Raises:
        GitError: one line naming the repository, what was found, and what to do.
    """
    source = open_source(url, repo)
    if source.git_dir is None:
        return
    name, tip = default_branch(source, branch)
    line = read_line(repo, source.git_dir, name, tip)
    check_range(line, resolve(line, "T0", t0), resolve(line, "T1", t1))


def _lends(mirror: Path, url: str, branch: str | None) -> bool:
    """Whether a mirror is of this source, and whole."""
    return _Pins(mirror, url, branch).branch() is not None and not _is_partial(mirror)


def _fetch(source: Source, mirror: Path, branch: str | None, lenders: Iterable[Path]) -> Line:
    name, tip = default_branch(source, branch)
    if not (mirror / "HEAD").is_file():
        kind = "sha256" if len(tip) == 64 else "sha1"
        run_git(
            None, "init", "--quiet", "--bare", "--template=", f"--object-format={kind}", str(mirror)
        )
        if source.git_dir is None:
            borrow(mirror, name, lenders)
    run_git(mirror, "update-ref", "-d", _INCOMING)
    try:
        run_git(
            mirror,
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--no-recurse-submodules",
            source.location,
            f"+refs/heads/{name}:{_INCOMING}",
            user_config=True,
        )
    except GitError as error:
        if source.git_dir is None or not copy_partial(source.git_dir, mirror, tip):
            cause = str(error).replace(source.location, source.shown)
            raise source.problem(
                f"cannot be fetched ({cause})", "try again, or check the source"
            ) from error
        run_git(mirror, "config", "probe.partial", "true")
        run_git(mirror, "update-ref", _INCOMING, tip)
    return _publish(source, mirror, name)


def _publish(source: Source, mirror: Path, name: str) -> Line:
    """Move the branch to what came in. A shallow source has sent nothing, and git calls it fine."""
    incoming = run_git(mirror, "for-each-ref", "--format=%(objectname)", _INCOMING).decode().strip()
    if not incoming:
        raise shallow_problem(source)
    run_git(mirror, "update-ref", f"refs/heads/{name}", incoming)
    run_git(mirror, "update-ref", "-d", _INCOMING)
    give_back(mirror)
    # Blame asks for each commit whether it touched one path; the graph answers without trees.
    run_git(mirror, "commit-graph", "write", "--reachable", "--changed-paths")
    return read_line(source.repo, mirror, name, incoming)


def _check_window(mirror: Path, t0: str, t1: str, repo: str) -> None:
    try:
        window_members(mirror, t0, t1)
    except GitError as error:
        raise GitError(f"{repo}: {error}") from error


def _is_partial(mirror: Path) -> bool:
    printed = run_git(mirror, "config", "--type=bool", "--default=false", "probe.partial")
    return printed.strip() == b"true"


@contextmanager
def _locked(mirror: Path) -> Iterator[None]:
    lock = mirror.parent / f".{mirror.name}.lock"
    try:
        mirror.parent.mkdir(parents=True, exist_ok=True)
        stream = lock.open("w")
    except OSError as error:
        raise GitError(f"{lock}: cannot write: {error.strerror}; fix its permissions") from error
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX)
        except OSError as error:
            raise GitError(
                f"{lock}: cannot lock: {error.strerror}; use a file system with flock"
            ) from error
        _remove_stale_locks(mirror)
        yield


def _remove_stale_locks(mirror: Path) -> None:
    """Remove what a killed git left behind; nobody else works here while we hold our lock."""
    for folder in ("", "refs/**/", "objects/info/**/"):
        for stale in sorted(mirror.glob(f"{folder}*.lock")):
            stale.unlink()


def _key(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
