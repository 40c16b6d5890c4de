"""Where a line of one commit stands in a later one, if that still has it."""

from functools import lru_cache
from pathlib import Path

from probe.git.diff import FileDiff, Hunk
from probe.git.log import diff_between


def carry_line(mirror: Path, old: str, new: str, path: str, line: int) -> tuple[str, int] | None:
    """Path and line in ``new`` of a line of ``old``.

    None where the line was changed or deleted between the two, white space included, or where its
    file's diff is too large to be kept.

    Args:
        mirror: a git directory.
        old: full object name.
        new: full object name.
        path: a file of ``old``.
        line: 1-based.
    """
    if old == new:
        return path, line
    file = _changed_files(mirror, old, new).get(path)
    if file is None:
        return path, line
    if file.change.status == "D" or file.cut or file.change.added is None:
        return None
    moved = shift_line(file.hunks, line)
    return None if moved is None else (file.change.path, moved)


def shift_line(hunks: tuple[Hunk, ...], line: int) -> int | None:
    """The new number of old line ``line`` (1-based) behind ``hunks``; None where they remove it."""
    shift = 0
    for hunk in hunks:
        # Without removed lines a hunk names the line after which it inserts.
        first_touched = hunk.old_start if hunk.old_count else hunk.old_start + 1
        if line < first_touched:
            break
        if line < first_touched + hunk.old_count:
            return None
        shift += hunk.new_count - hunk.old_count
    return line + shift


@lru_cache(maxsize=32)
def _changed_files(mirror: Path, old: str, new: str) -> dict[str, FileDiff]:
    files = diff_between(mirror, old, new).files
    return {file.change.old_path or file.change.path: file for file in files}
