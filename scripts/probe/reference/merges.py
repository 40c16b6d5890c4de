"""How the lines of a merge map to those of its other parents."""

import os
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from probe.git.names import decode_path, unquote
from probe.git.process import run_git

_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class LineMap:
    """Where the lines of one file of a merge stood in one parent."""

    old_path: str
    hunks: tuple[tuple[int, int, int, int], ...]
    """Old start and count, new start and count, as git prints them; ascending."""

    def before(self, line: int) -> int | None:
        """The line's number in the parent, None where the parent does not have it."""
        starts = [new_start + (new_count == 0) for _, _, new_start, new_count in self.hunks]
        index = bisect_right(starts, line) - 1
        if index < 0:
            return line
        old_start, old_count, new_start, new_count = self.hunks[index]
        if new_count and line < new_start + new_count:
            return None
        old_end = old_start + old_count + (old_count == 0)
        new_end = new_start + new_count + (new_count == 0)
        return old_end + line - new_end


def merge_maps(mirror: Path, parents: Sequence[str], merge: str) -> list[dict[str, LineMap]]:
    """For each parent the line maps of the files that differ from it, by path in the merge."""
    return [_read(mirror, parent, merge) for parent in parents]


def _read(mirror: Path, parent: str, merge: str) -> dict[str, LineMap]:
    printed = run_git(
        mirror, "diff-tree", "-r", "-p", "-U0", "-M", "--no-color", "--no-ext-diff",
        "--src-prefix=a/", "--dst-prefix=b/", parent, merge,
    )  # fmt: skip
    found: dict[str, LineMap] = {}
    old_path = new_path = ""
    hunks: list[tuple[int, int, int, int]] = []
    for line in printed.split(b"\n"):
        if line.startswith(b"diff --git "):
            _keep(found, old_path, new_path, hunks)
            old_path, new_path, hunks = "", "", []
        elif line.startswith(b"--- ") and not hunks:
            old_path = _name(line[4:])
        elif line.startswith(b"+++ ") and not hunks:
            new_path = _name(line[4:])
        elif match := _HUNK.match(line):
            old_start, old_count, new_start, new_count = match.groups(default=b"1")
            hunks.append((int(old_start), int(old_count), int(new_start), int(new_count)))
    _keep(found, old_path, new_path, hunks)
    return found


def _keep(
    found: dict[str, LineMap],
    old_path: str,
    new_path: str,
    hunks: Sequence[tuple[int, int, int, int]],
) -> None:
    if new_path:
        found[new_path] = LineMap(old_path or new_path, tuple(hunks))


def _name(printed: bytes) -> str:
    """A path without its prefix; empty for the null device."""
    name = unquote(printed.removesuffix(b"\t"))
    return "" if name == os.fsencode(os.devnull) else decode_path(name[2:])
