"""Streams commits and their diffs out of a mirror: a few git processes for any number of commits.

A mirror may lack blobs (its source was a partial clone), and git may fail in other ways. It dies at
the first object that it needs; the commit is then read again as far as it can be, marked with
what is missing, and the stream goes on after it. A list that ends early is an error, never a
shorter list.
"""

from collections.abc import Generator, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

from pydantic import ValidationError

from probe.errors import GitError
from probe.git.damage import read_damaged
from probe.git.diff import CommitDiff, FileDiff
from probe.git.patch import HEADER_FORMAT, Block, RawEntry, Section, marked, read_blocks
from probe.git.process import RENAME_LIMIT, available_processors, stream_git
from probe.git.times import commit_time
from probe.git.window import Member, window_members
from probe.records import Commit, FileChange

MAX_FILE_LINES = 20_000
"""A file's hunks beyond this many changed lines are counted, not kept."""

_MAX_LANES = 4
_RUN = 50
_DIFF = (
    "diff-tree",
    "--stdin",
    "-r",
    "--root",
    "--always",
    "--diff-merges=first-parent",
    "--no-abbrev",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=none",
    "--submodule=short",
    "--encoding=UTF-8",
    f"--format={HEADER_FORMAT}",
    "--raw",
    f"-l{RENAME_LIMIT}",
)
_PATCH = ("-p", "-U0", "--full-index", "--src-prefix=a/", "--dst-prefix=b/")


def iter_window(mirror: Path, t0: str, t1: str) -> Iterator[Commit]:
    """Yield the window's commits in window order, with line counts but without hunks.

    Args:
        mirror: a git directory.
        t0: full object name of the snapshot commit; itself no member.
        t1: full object name of the last commit.

    Raises:
        GitError: see :func:`probe.git.window.window_members`, or git failed otherwise than by a
            missing blob.
    """
    members = window_members(mirror, t0, t1)
    # Not --numstat: git aligns equal lines otherwise there, and its counts differ from the hunks'.
    blocks = _read(mirror, [member.sha for member in members], _PATCH, 0)
    for position, (member, (block, problem)) in enumerate(zip(members, blocks, strict=True)):
        yield _commit(block, position, member, problem)


def iter_diffs(
    mirror: Path,
    shas: Iterable[str],
    *,
    max_file_lines: int = MAX_FILE_LINES,
    algorithm: str = "myers",
) -> Iterator[CommitDiff]:
    """Yield the diff of each commit against its first parent, in the order given.

    Args:
        mirror: a git directory.
        shas: full object names; a root commit is compared with nothing.
        max_file_lines: a file's hunks beyond this many changed lines are left out (``cut``).
        algorithm: git's ``--diff-algorithm``: myers, minimal, patience or histogram.

    Raises:
        GitError: a commit is unknown, or git failed otherwise than by a missing blob.
    """
    options = (*_PATCH, f"--diff-algorithm={algorithm}")
    for block, problem in _read(mirror, list(shas), options, max_file_lines):
        yield _commit_diff(block, problem)


def iter_history(
    mirror: Path,
    t0: str,
    t1: str,
    *,
    max_file_lines: int = MAX_FILE_LINES,
    algorithm: str = "myers",
) -> Iterator[tuple[Commit, CommitDiff]]:
    """Yield what :func:`iter_window` and :func:`iter_diffs` yield, from a single pass."""
    members = window_members(mirror, t0, t1)
    options = (*_PATCH, f"--diff-algorithm={algorithm}")
    blocks = _read(mirror, [member.sha for member in members], options, max_file_lines)
    for position, (member, (block, problem)) in enumerate(zip(members, blocks, strict=True)):
        diff = _commit_diff(block, problem)
        changes = tuple(file.change for file in diff.files)
        yield _commit(block, position, member, problem, changes), diff


def diff_between(
    mirror: Path, old: str, new: str, *, max_file_lines: int = MAX_FILE_LINES
) -> CommitDiff:
    """The diff from commit ``old`` to commit ``new``, whatever lies between them.

    Args:
        mirror: a git directory.
        old: full object name.
        new: full object name; the result's ``sha``.
        max_file_lines: see :func:`iter_diffs`.
    """
    return next(iter_diffs_between(mirror, [(old, new)], max_file_lines=max_file_lines))


def iter_diffs_between(
    mirror: Path, pairs: Iterable[tuple[str, str]], *, max_file_lines: int = MAX_FILE_LINES
) -> Iterator[CommitDiff]:
    """Yield :func:`diff_between` of each pair (old, new), in the order given."""
    # git takes further names on a commit's line as its parents.
    requests = [f"{new} {old}" for old, new in pairs]
    for block, problem in _read(mirror, requests, _PATCH, max_file_lines):
        yield _commit_diff(block, problem)


def _read(
    mirror: Path, requests: list[str], options: tuple[str, ...], limit: int
) -> Iterator[tuple[Block, str]]:
    """Yield a block for each commit and what of it could not be read, in order.

    A request is a commit, or a commit and the one to compare it with instead of its parent. Runs
    of requests go to a few git processes in turn; each works ahead until its pipe is full.
    """
    count = max(1, min(_MAX_LANES, available_processors()))
    runs = [requests[at : at + _RUN] for at in range(0, len(requests), _RUN)]
    parts = [[request for run in runs[n::count] for request in run] for n in range(count)]
    lanes = [_read_lane(mirror, part, options, limit) for part in parts if part]
    try:
        started = [chain([next(lane)], lane) for lane in lanes]
        for number, run in enumerate(runs):
            yield from islice(started[number % count], len(run))
        for rest in started:
            for block, _ in rest:  # none: asking for it checks git's exit code
                raise GitError(f"git diff-tree in {mirror}: an unexpected commit {block.sha}")
    finally:
        for lane in lanes:
            lane.close()


def _read_lane(
    mirror: Path, requests: list[str], options: tuple[str, ...], limit: int
) -> Generator[tuple[Block, str], None, None]:
    """Read the requests by one git process, and by a new one after each commit that it dies in."""
    done = 0
    while done < len(requests):
        command = (*_DIFF, "-M", *options)
        fed = "".join(marked(request) for request in requests[done:]).encode()
        try:
            with stream_git(mirror, *command, stdin=fed) as stream:
                for block in read_blocks(stream, max_file_lines=limit):
                    if not requests[done].startswith(block.sha):
                        raise GitError(f"git diff-tree: got {block.sha}, not {requests[done]}")
                    done += 1
                    yield block, ""
        except GitError as error:
            if done == len(requests):
                raise
            yield read_damaged(mirror, requests[done], _DIFF, options, limit, error)
            done += 1
        else:
            if done < len(requests):
                raise GitError(f"git diff-tree in {mirror}: ended before commit {requests[done]}")


def _commit(
    block: Block,
    position: int,
    member: Member,
    problem: str,
    changes: tuple[FileChange, ...] | None = None,
) -> Commit:
    sha, parents, author_time, committer_time, subject, body = block.header
    if changes is None:
        changes = tuple(_changes(block))
    added = sum(entry.status == "A" for entry in block.entries)
    deleted = sum(entry.status == "D" for entry in block.entries)
    return Commit(
        sha=sha.decode(),
        position=position,
        step=member.step,
        parents=tuple(parents.decode().split()),
        author_time=commit_time(author_time),
        committer_time=commit_time(committer_time),
        subject=subject.decode("utf-8", errors="replace"),
        body=body.decode("utf-8", errors="replace").strip("\n"),
        files=changes,
        truncated=bool(problem),
        unread=problem,
        renames_limited=added * deleted > RENAME_LIMIT**2,
    )


def _commit_diff(block: Block, problem: str) -> CommitDiff:
    files = tuple(
        FileDiff(change, () if change.submodule else tuple(section.hunks), section.cut)
        for change, section in zip(_changes(block), block.sections, strict=True)
    )
    return CommitDiff(block.sha, files, problem, block.listed)


def _changes(block: Block) -> Iterator[FileChange]:
    for entry, section in zip(block.entries, block.sections, strict=True):
        try:
            yield _change(entry, section)
        except ValidationError as error:
            reason = error.errors(include_url=False)[0]["msg"]
            raise GitError(f"commit {block.sha}: unusable path {entry.path!r}: {reason}") from error


def _change(entry: RawEntry, section: Section) -> FileChange:
    counted = not (section.binary or entry.submodule)
    return FileChange.model_validate(
        {
            "path": entry.path,
            "old_path": entry.old_path,
            "status": entry.status,
            "added": section.added if counted else None,
            "deleted": section.deleted if counted else None,
            "binary": section.binary,
            "submodule": entry.submodule,
        }
    )
