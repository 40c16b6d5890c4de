"""Reads one commit in which git died: all of it that can be read, and the names of what cannot.

What could be missing is tried from the least to the most: blobs of some paths, the contents of all
paths, and at last the trees, so that nothing but the message is left.
"""

import os
from collections.abc import Collection
from io import BytesIO
from itertools import islice
from pathlib import Path

from probe.errors import GitError
from probe.git.names import encode_candidates
from probe.git.patch import HEADER_FORMAT, Block, RawEntry, Section, marked, read_blocks
from probe.git.process import run_git

_NAMED = 5
"""Paths that a problem names; the others are counted."""


def read_damaged(
    mirror: Path,
    request: str,
    command: tuple[str, ...],
    options: tuple[str, ...],
    limit: int,
    cause: GitError,
) -> tuple[Block, str]:
    """Read a commit in which git died.

    Paths that cannot be read are listed without counts (shown as binary); renames are looked for
    among the others only. Without trees the block lists no path.

    Args:
        mirror: a git directory.
        request: the line that asks for the commit.
        command: the ``diff-tree`` command that failed, as far as it prints headers and raw lines.
        options: the rest of it: what to print about contents.
        limit: as in :func:`probe.git.patch.read_blocks`.
        cause: what it failed with.

    Returns:
        The block, and a line that names what is missing or how git failed.

    Raises:
        GitError: there is no such commit, git cannot print its message either, or fails without a
            commit too.
    """
    run_git(mirror, *command, "-M", *options)  # fails where it is not the commit's fault
    fed = marked(request).encode()
    try:
        whole = _first_block(run_git(mirror, *command, "--no-renames", stdin=fed))
    except GitError as error:
        return _header_only(mirror, request, error), str(error)
    try:
        lost = _missing(mirror, whole.entries)
        gone = [entry for entry in whole.entries if {entry.old_blob, entry.new_blob} & lost]
        if not gone:
            return _without_contents(whole), str(cause)
        excluded = [
            f":(top,literal,exclude){os.fsdecode(name)}"
            for entry in gone
            for name in encode_candidates(entry.path)
        ]
        printed = run_git(mirror, *command, "-M", *options, "--", ":(top)", *excluded, stdin=fed)
        rest = _first_block(printed, limit, contents=True)
    except GitError as error:
        return _without_contents(whole), str(error)
    both = list(zip(rest.entries, rest.sections, strict=True))
    both += [(entry, Section(binary=True)) for entry in gone]
    both.sort(key=lambda pair: pair[0].path.encode("utf-8"))
    found = Block(whole.header, [entry for entry, _ in both], [section for _, section in both])
    return found, f"blobs are missing: {_names(sorted({entry.path for entry in gone}))}"


def _first_block(printed: bytes, limit: int = 0, *, contents: bool = False) -> Block:
    block = next(read_blocks(BytesIO(printed), max_file_lines=limit, contents=contents), None)
    if block is None:
        raise GitError("git diff-tree: printed nothing of the commit")
    return block


def _without_contents(whole: Block) -> Block:
    return Block(whole.header, whole.entries, [Section(binary=True) for _ in whole.entries])


def _header_only(mirror: Path, request: str, cause: GitError) -> Block:
    sha = request.split()[0]
    form = ("--no-patch", "--encoding=UTF-8", f"--format={HEADER_FORMAT}")
    try:
        printed = run_git(mirror, "log", "--no-walk", *form, sha, "--")
    except GitError as error:
        raise cause from error
    return Block(printed.split(b"\0")[: HEADER_FORMAT.count("%x00")], listed=False)


def _missing(mirror: Path, entries: list[RawEntry]) -> set[bytes]:
    blobs = {
        blob
        for entry in entries
        for mode, blob in ((entry.old_mode, entry.old_blob), (entry.new_mode, entry.new_blob))
        if mode not in (b"160000", b"000000")
    }
    fed = b"".join(blob + b"\n" for blob in sorted(blobs))
    told = run_git(mirror, "cat-file", "--batch-check", stdin=fed).splitlines()
    return {line.split(b" ")[0] for line in told if line.endswith(b" missing")}


def _names(paths: Collection[str]) -> str:
    shown = ", ".join(islice(paths, _NAMED))
    return shown if len(paths) <= _NAMED else f"{shown} and {len(paths) - _NAMED} more"
