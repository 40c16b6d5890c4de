"""The window: which commits it holds, and in which order.

The order follows the default branch: first by the first-parent step that brought a commit in,
then inside the step with parents before children. Neither part looks at anything that comes
after the step, so that a later T1 only appends.
"""

from dataclasses import dataclass
from pathlib import Path

from probe.errors import GitError
from probe.git.process import run_git


@dataclass(frozen=True, slots=True)
class Member:
    """A commit of the window and the first-parent step that brought it in."""

    sha: str
    step: str


def window_members(mirror: Path, t0: str, t1: str) -> list[Member]:
    """List the window T0..T1 without merges, in window order.

    Args:
        mirror: a git directory.
        t0: full object name; not part of the window.
        t1: full object name; the last member unless it is a merge. Equal to ``t0``: no members.

    Raises:
        GitError: a commit is unknown, or T0 does not lie on T1's first-parent line.
    """
    listed = run_git(mirror, "rev-list", "--parents", t1, f"^{t0}", "--").decode().split("\n")
    return arrange({words[0]: words[1:] for line in listed if (words := line.split())}, t0, t1)


def arrange(parents: dict[str, list[str]], t0: str, t1: str) -> list[Member]:
    """Put the commits of a range in window order and leave out merges.

    Args:
        parents: parents of every commit in T0..T1; those outside the range may be named as parents.
        t0: where the first-parent line of ``t1`` leaves the range.
        t1: the newest commit.

    Raises:
        GitError: T0 does not lie on T1's first-parent line.
    """
    members: list[Member] = []
    placed: set[str] = set()
    for step in reversed(_first_parent_line(parents, t0, t1)):
        for sha in _closure(parents, step, placed):
            if len(parents[sha]) < 2:
                members.append(Member(sha, step))
    return members


def _first_parent_line(parents: dict[str, list[str]], t0: str, t1: str) -> list[str]:
    """Walk from T1 back to T0; T1 comes first, T0 is left out."""
    line: list[str] = []
    at = t1
    while at != t0:
        if at not in parents or not parents[at]:
            raise GitError(
                f"T0 {t0[:12]} is not on the first-parent line of T1 {t1[:12]} (the line ends at "
                f"{at[:12]}); choose two commits of the default branch's own line, T0 the older"
            )
        line.append(at)
        at = parents[at][0]
    return line


def _closure(parents: dict[str, list[str]], step: str, placed: set[str]) -> list[str]:
    """Commits that ``step`` brings in, parents before children; adds them to ``placed``."""
    found: list[str] = []
    stack = [step]
    while stack:
        sha = stack[-1]
        waiting = [p for p in parents[sha] if p in parents and p not in placed]
        if waiting:
            stack.append(waiting[0])
            continue
        stack.pop()
        placed.add(sha)
        found.append(sha)
    return found
