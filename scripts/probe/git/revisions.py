"""Which commits T0 and T1 mean."""

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from probe.errors import GitError
from probe.git.process import run_git
from probe.git.times import commit_time

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_SHA = re.compile(r"[0-9a-f]{4,64}")


@dataclass(frozen=True, slots=True)
class Step:
    """A commit of a branch's own line."""

    sha: str
    time: datetime


@dataclass(frozen=True)
class Line:
    """The first-parent line of a branch, newest first, in a git directory."""

    repo: str
    git_dir: Path
    branch: str
    steps: tuple[Step, ...]

    def place(self, sha: str) -> int | None:
        """How many steps below the branch's tip ``sha`` stands; None off the line."""
        return next((n for n, step in enumerate(self.steps) if step.sha == sha), None)


def read_line(repo: str, git_dir: Path, branch: str, tip: str) -> Line:
    """Read the first-parent line that ends at ``tip``.

    Raises:
        GitError: the commit is unknown or its history incomplete.
    """
    printed = run_git(
        git_dir, "log", "--first-parent", "--format=%H %ct", tip, "--", user_config=True
    )
    steps = []
    for line in printed.decode().splitlines():
        sha, seconds = line.split(" ")
        steps.append(Step(sha, commit_time(seconds)))
    return Line(repo, git_dir, branch, tuple(steps))


def resolve(line: Line, key: str, spec: str) -> str:
    """The commit of ``line`` that ``spec`` means.

    Args:
        line: the default branch's own line.
        key: ``T0`` or ``T1``, for messages.
        spec: a commit, full or abbreviated to at least four digits; or a date YYYY-MM-DD, meaning
            the last commit on the line whose committer time lies before that day begins in UTC.
            As T0, a date later than the whole line is an error; as T1 it means the newest commit.

    Raises:
        GitError: one line naming repository, key, what was found and what to do.
    """
    if _DATE.fullmatch(spec):
        return _resolve_date(line, key, spec)
    if not _SHA.fullmatch(spec.lower()):
        raise _problem(line, key, spec, "neither a commit nor a date", "write a sha or YYYY-MM-DD")
    return _resolve_sha(line, key, spec)


def check_range(line: Line, t0: str, t1: str) -> None:
    """Refuse a window that runs backwards; both commits are on the line.

    Raises:
        GitError: T1 comes before T0.
    """
    first, last = line.place(t0), line.place(t1)
    if first is not None and last is not None and last > first:
        early, late = line.steps[last], line.steps[first]
        raise GitError(
            f"{line.repo}: T1 {t1[:12]} ({early.time:%Y-%m-%d}) comes before "
            f"T0 {t0[:12]} ({late.time:%Y-%m-%d}); exchange them or choose a later T1"
        )


def _resolve_date(line: Line, key: str, spec: str) -> str:
    try:
        cutoff = datetime.fromisoformat(f"{spec}T00:00:00+00:00")
    except ValueError as error:
        raise _problem(line, key, spec, "no such day", "write a date as YYYY-MM-DD") from error
    newest, oldest = line.steps[0], line.steps[-1]
    if key == "T0" and all(step.time < cutoff for step in line.steps):
        raise _problem(
            line,
            key,
            spec,
            f"after the last commit of branch {line.branch} ({newest.time:%Y-%m-%d})",
            "choose an earlier date, so that commits follow it",
        )
    for step in line.steps:
        if step.time < cutoff:
            return step.sha
    raise _problem(
        line,
        key,
        spec,
        f"before the first commit of branch {line.branch} ({oldest.time:%Y-%m-%d})",
        "choose a later date",
    )


def _resolve_sha(line: Line, key: str, spec: str) -> str:
    matches = [step.sha for step in line.steps if step.sha.startswith(spec.lower())]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise _problem(line, key, spec, "an ambiguous abbreviation", "write the full sha")
    if _exists(line.git_dir, spec.lower()):
        raise _problem(
            line,
            key,
            spec,
            f"not on the first-parent line of branch {line.branch}",
            "choose a commit of that line (git log --first-parent), or set branch",
        )
    raise _problem(
        line,
        key,
        spec,
        f"no such commit on branch {line.branch}",
        "check the sha, or set branch to the one that it is on",
    )


def _exists(git_dir: Path, sha: str) -> bool:
    name = f"{sha}^{{commit}}"
    try:
        run_git(git_dir, "rev-parse", "--verify", "--quiet", name, user_config=True)
    except GitError:
        return False
    return True


def _problem(line: Line, key: str, spec: str, found: str, remedy: str) -> GitError:
    return GitError(f"{line.repo}: {key} {spec}: {found}; {remedy}")
