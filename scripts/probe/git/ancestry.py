"""Steps along the first-parent line, and the revision of a checkout."""

from pathlib import Path

from probe.errors import GitError
from probe.git.process import run_git


def first_parent_ancestor(mirror: Path, rev: str, steps: int) -> str:
    """The commit ``steps`` back on the first-parent line, or the line's oldest commit.

    Raises:
        GitError: no such revision.
    """
    count = f"--max-count={steps + 1}"
    listed = run_git(mirror, "rev-list", "--first-parent", count, rev, "--").split()
    return listed[-1].decode("ascii")


def read_parents(
    mirror: Path, *selection: str, stdin: bytes | None = None
) -> dict[str, tuple[str, ...]]:
    """Parents of each commit that ``git rev-list`` selects, in its order; empty for root commits.

    Raises:
        GitError: no such revision.
    """
    printed = run_git(mirror, "rev-list", "--parents", *selection, stdin=stdin).decode()
    rows = (line.split() for line in printed.splitlines())
    return {row[0]: tuple(row[1:]) for row in rows}


def first_parents(mirror: Path, *selection: str) -> dict[str, str]:
    """First parent of each commit that ``git rev-list`` selects and that has one.

    Raises:
        GitError: no such revision.
    """
    parents = read_parents(mirror, *selection)
    return {sha: found[0] for sha, found in parents.items() if found}


def checkout_revision(folder: Path) -> str | None:
    """The commit that a checkout is at, ``-dirty`` where it was changed since; None outside of one."""
    try:
        described = run_git(
            None,
            *("-C", str(folder), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"),
        )
    except GitError:
        return None
    return described.decode("ascii").strip()
