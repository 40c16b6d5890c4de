"""Where lines come from: `git blame` over a range, parsed from its porcelain output."""

import os
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from probe.errors import GitError
from probe.git.carry import carry_line
from probe.git.names import decode_path, encode_candidates, unquote
from probe.git.process import run_git

_LINE = re.compile(rb"([0-9a-f]{40,64}) ([0-9]+) ([0-9]+)(?: [0-9]+)?\n?")
_DETECTION = (("-M", "-w"), ("-w",), ())
"""Ways to blame, the best first; the plainer ones need fewer blobs."""


@dataclass(frozen=True, slots=True)
class BlamedLine:
    """One line of a file and the commit that it comes from; line numbers are 1-based.

    ``source_path`` and ``source_line`` are the line's place in ``commit``. ``boundary``: the line
    was there where the range begins, and ``commit`` is the boundary.
    """

    line: int
    commit: str
    boundary: bool
    source_path: str
    source_line: int


def blame(
    mirror: Path,
    rev: str,
    path: str,
    *,
    boundary: str,
    ranges: Sequence[tuple[int, int]] | None = None,
    ignored: Collection[str] = (),
) -> list[BlamedLine]:
    """Blame lines of ``path`` in ``rev``, looking back no further than ``boundary``.

    Moved lines inside a file and changes of white space are seen through where the mirror has the
    blobs for it.

    Args:
        mirror: a git directory.
        rev: the commit whose file is blamed.
        path: a file of ``rev``.
        boundary: full object name of the commit where to stop. On a branch that forked off before
            it and was merged after it, git stops at the fork; such a line is carried forward to the
            boundary, and where the boundary no longer has it, keeps the fork as its commit and is
            no boundary line.
        ranges: first and last line of each range, 1-based and inclusive; all lines by default.
        ignored: full object names of commits to look through: a line that one of them changed
            goes to who wrote it before, where git finds out.

    Returns:
        One entry a line, sorted by line, each line once.

    Raises:
        GitError: no such file or line, or a blob is missing even for the plainest way.
    """
    if ranges is not None and not ranges:
        return []
    chosen = [f"-L{first},{last}" for first, last in ranges or ()]
    chosen += [f"--ignore-rev={sha}" for sha in sorted(ignored)]
    failure: GitError | None = None
    for name in encode_candidates(path):
        for detection in _DETECTION:
            command = ("blame", "--porcelain", *detection, *chosen, f"{boundary}..{rev}")
            try:
                printed = run_git(mirror, *command, "--", os.fsdecode(name))
            except GitError as error:
                failure = failure or error
            else:
                found = parse_porcelain(printed.split(b"\n"))
                return [_carried(mirror, line, boundary) for line in found]
    raise GitError(f"{path} at {rev[:12]}: cannot be blamed: {failure}")


def parse_porcelain(lines: Iterable[bytes]) -> list[BlamedLine]:
    """Parse ``git blame --porcelain``, sorted by line; ``boundary`` as git says it.

    Facts about a commit come once, before its first line; a path comes again where it differs.

    Args:
        lines: the output, split at newlines.

    Raises:
        GitError: the output is not in that format.
    """
    found: list[BlamedLine] = []
    edges: set[bytes] = set()
    paths: dict[bytes, bytes] = {}
    current: tuple[bytes, int, int] | None = None
    for line in lines:
        if line.startswith(b"\t"):
            if current is None or current[0] not in paths:
                raise GitError("git blame: a line of content without its commit")
            sha, source, final = current
            where = decode_path(unquote(paths[sha]))
            found.append(BlamedLine(final, sha.decode(), sha in edges, where, source))
            current = None
        elif current is None:
            if line:
                current = _start(line)
        elif line == b"boundary":
            edges.add(current[0])
        elif line.startswith(b"filename "):
            paths[current[0]] = line.removeprefix(b"filename ")
    return sorted(found, key=lambda blamed: blamed.line)


def _carried(mirror: Path, line: BlamedLine, boundary: str) -> BlamedLine:
    if not line.boundary or line.commit == boundary:
        return line
    place = carry_line(mirror, line.commit, boundary, line.source_path, line.source_line)
    if place is None:
        return replace(line, boundary=False)
    return replace(line, commit=boundary, source_path=place[0], source_line=place[1])


def _start(line: bytes) -> tuple[bytes, int, int]:
    match = _LINE.fullmatch(line)
    if match is None:
        raise GitError(f"git blame: cannot read the line {line!r}")
    return match[1], int(match[2]), int(match[3])
