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
