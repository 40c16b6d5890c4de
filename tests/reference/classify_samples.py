"""Commits and diffs as plain values, for the classifier's tests."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from probe.code.paths import SourceScope
from probe.git.diff import CommitDiff, FileDiff, Hunk
from probe.records import Classification, Commit, FileChange
from probe.reference.classify import classify
from probe.reference.habits import Habits

NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)
SCOPE = SourceScope(source=["/lib/"], tests=["/tests/"])
STRICT = Habits(commits=200, prefixed=0.95, fixes=0.3, prefixes=("fix", "feat"))
LOOSE = Habits(commits=200, prefixed=0.1, fixes=0.01)

Sides = tuple[Sequence[str], Sequence[str]]
"""Removed and added lines of a hunk."""

GUARD: Sides = (
    ["    return items[0]"],
    ["    if not items:", "        return None", "    return items[0]"],
)
TEST: Sides = ([], ["def test_first_of_empty():", "    assert first([]) is None"])


FIXED_FILES: dict[str, list[Sides]] = {"lib/first.py": [GUARD], "tests/test_first.py": [TEST]}


def sample(
    subject: str,
    files: dict[str, list[Sides]],
    *,
    body: str = "",
    number: int = 1,
    parents: int = 1,
    changes: dict[str, dict[str, Any]] | None = None,
) -> tuple[Commit, CommitDiff]:
    """A commit whose files change by the given hunks.

    Args:
        files: path to hunks.
        changes: fields of a path's :class:`FileChange` that differ from a plain modification.
    """
    sha = f"{number:040x}"
    diffs = []
    for path, hunks in files.items():
        facts: dict[str, Any] = {
            "path": path,
            "status": "M",
            "added": sum(len(new) for _, new in hunks),
            "deleted": sum(len(old) for old, _ in hunks),
        }
        facts.update((changes or {}).get(path, {}))
        line = 1
        parts = []
        for old, new in hunks:
            parts.append(Hunk(line, len(old), line, len(new), tuple(old), tuple(new)))
            line += 20
        diffs.append(FileDiff(FileChange(**facts), tuple(parts)))
    commit = Commit(
        sha=sha,
        position=number,
        step=sha,
        parents=tuple(f"{number + 1000 + n:040x}" for n in range(parents)),
        author_time=NOON,
        committer_time=NOON,
        subject=subject,
        body=body,
        files=tuple(diff.change for diff in diffs),
    )
    return commit, CommitDiff(sha, tuple(diffs))


def verdict(
    subject: str,
    files: dict[str, list[Sides]],
    *,
    habits: Habits = STRICT,
    scope: SourceScope = SCOPE,
    **more: Any,
) -> Classification:
    """The engine's answer on one commit."""
    commit, diff = sample(subject, files, **more)
    return classify(commit, diff, scope, habits)
