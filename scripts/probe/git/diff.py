"""Diffs as values: what `git` prints for one commit, parsed once and never kept for all."""

from dataclasses import dataclass

from probe.records import FileChange


@dataclass(frozen=True, slots=True)
class Hunk:
    """One run of changed lines, without context (``-U0``).

    ``old_start`` and ``new_start`` are 1-based; with a count of 0 they name the line *after which*
    the other side's lines stand, as git prints it (0 for the start of the file).
    """

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    removed: tuple[str, ...]
    added: tuple[str, ...]
    section: str = ""


@dataclass(frozen=True, slots=True)
class FileDiff:
    """The text changes of one path; ``hunks`` is empty for binary files and submodules."""

    change: FileChange
    hunks: tuple[Hunk, ...] = ()
    cut: bool = False
    """Hunks beyond the size limit were left out; the line counts in ``change`` are still whole."""


@dataclass(frozen=True, slots=True)
class CommitDiff:
    """All file diffs of a commit against its first parent, in git's order."""

    sha: str
    files: tuple[FileDiff, ...]
    problem: str = ""
    """What could not be read, and why; those files are listed without hunks."""
    listed: bool = True
    """False: a tree is missing, so not even the changed paths are known."""

    @property
    def missing(self) -> bool:
        """Something of it could not be read."""
        return bool(self.problem)
