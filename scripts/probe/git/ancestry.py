"""Steps along the first-parent line."""

from pathlib import Path

from probe.git.process import run_git


def first_parent_ancestor(mirror: Path, rev: str, steps: int) -> str:
    """The commit ``steps`` back on the first-parent line, or the line's oldest commit.

    Raises:
        GitError: no such revision.
    """
    count = f"--max-count={steps + 1}"
    listed = run_git(mirror, "rev-list", "--first-parent", count, rev, "--").split()
    return listed[-1].decode("ascii")
