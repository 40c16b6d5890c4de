"""Reads one commit of which the mirror lacks blobs: everything but the missing paths' contents."""

import os
from io import BytesIO
from pathlib import Path

from probe.errors import GitError
from probe.git.names import encode_candidates
from probe.git.patch import Block, RawEntry, Section, marked, read_blocks
from probe.git.process import run_git


def read_damaged(
    mirror: Path,
    request: str,
    command: tuple[str, ...],
    options: tuple[str, ...],
    limit: int,
    cause: GitError,
) -> Block:
    """Read a commit in which git died.

    Paths with a missing blob are listed without counts (shown as binary); renames are looked for
    among the others only.

    Args:
        mirror: a git directory.
        request: the line that asks for the commit.
        command: the ``diff-tree`` command that failed, as far as it prints headers and raw lines.
        options: the rest of it: what to print about contents.
        limit: as in :func:`probe.git.patch.read_blocks`.
        cause: what it failed with; raised again where nothing of the commit is missing.
    """
    fed = marked(request).encode()
    listed = run_git(mirror, *command, "--no-renames", stdin=fed)
    whole = next(read_blocks(BytesIO(listed), max_file_lines=0, contents=False))
    lost = _missing(mirror, whole.entries)
    if not lost:
        raise cause
    gone = [entry for entry in whole.entries if {entry.old_blob, entry.new_blob} & lost]
    excluded = [
        f":(top,literal,exclude){os.fsdecode(name)}"
        for entry in gone
        for name in encode_candidates(entry.path)
    ]
    printed = run_git(mirror, *command, "-M", *options, "--", ":(top)", *excluded, stdin=fed)
    rest = next(read_blocks(BytesIO(printed), max_file_lines=limit))
    both = list(zip(rest.entries, rest.sections, strict=True))
    both += [(entry, Section(binary=True)) for entry in gone]
    both.sort(key=lambda pair: pair[0].path.encode("utf-8"))
    return Block(whole.header, [entry for entry, _ in both], [section for _, section in both])


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
