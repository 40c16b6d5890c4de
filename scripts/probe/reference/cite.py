"""The commands behind a dropped candidate, run and quoted, so that anybody can repeat them."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from probe.errors import GitError
from probe.git.process import run_git
from probe.records import Candidate, Evidence, Location

MAX_OUTPUT = 2000
"""Characters of a command's output that are quoted."""
MAX_FILES = 3
"""Files blamed as evidence: the first say enough."""
MAX_RANGES = 20
"""Ranges blamed in one file."""


def cite(mirror: Path, t0: str, candidate: Candidate) -> tuple[Evidence, ...]:
    """Who wrote a candidate's lines since the snapshot; lines of the snapshot itself show ``^``.

    Args:
        mirror: a git directory with the window.
        t0: the snapshot commit.
        candidate: the dropped candidate.

    Returns:
        One blame a file; the commit's own change list where it has no place in its parent.
    """
    places = candidate.parent_locations or candidate.insertion_points
    paths = list(dict.fromkeys(place.path for place in places))[:MAX_FILES]
    if not paths:
        return (
            _run(
                mirror,
                ("diff-tree", "-r", "--name-status", f"{candidate.commit}^1", candidate.commit),
            ),
        )
    return tuple(_blame(mirror, t0, candidate.commit, path, places) for path in paths)


def _blame(mirror: Path, t0: str, commit: str, path: str, places: Sequence[Location]) -> Evidence:
    ranges = [f"-L{place.first},{place.last}" for place in places if place.path == path]
    options = ("-s", "-M", "-w", *ranges[:MAX_RANGES])
    return _run(mirror, ("blame", *options, f"{t0}..{commit}^1", "--", path))


def _run(mirror: Path, arguments: tuple[str, ...]) -> Evidence:
    status: int | None = 0
    try:
        printed = run_git(mirror, *arguments).decode("utf-8", errors="replace")
    except GitError as error:
        printed, status = str(error), None
    command = shlex.join(["git", *arguments])
    return Evidence(command=command, output=printed[:MAX_OUTPUT], exit=status)
