"""The heuristic reference set of a small history, from its commits to its bugs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from builders import HistoryBuilder

from probe.code.paths import SourceScope
from probe.git.log import iter_diffs, iter_window
from probe.records import (
    Bug,
    Candidate,
    Classification,
    Commit,
    Dropped,
    Location,
    Presence,
    Report,
)
from probe.reference.blocks import select_fixes
from probe.reference.bugs import merge_bugs
from probe.reference.candidates import build_candidates
from probe.reference.classify import classify_window
from probe.reference.deduplicate import judge_duplicates, pair_reports
from probe.reference.habits import Habits
from probe.reference.merge import Merged
from probe.reference.presences import judge_presences
from probe.reference.reports import write_reports

SCOPE = SourceScope(source=["pkg/"], tests=["/tests/"])
LOOSE = Habits(commits=200, prefixed=0.1, fixes=0.01)
"""Of a project that never writes ``fix:``: the diff carries most of the verdict."""
LISTS = '''"""Helpers for lists."""


def first(items):
    return items[0]


def clamp(value, low, high):
    if value < low:
        return high
    return min(value, high)


def join(names, separator=","):
    text = ""
    for name in names:
        text += name + separator
    return text
'''
CLAMP_WRONG, CLAMP_RIGHT = "        return high\n", "        return low\n"
FIRST_WRONG = "    return items[0]\n"
FIRST_RIGHT = "    if not items:\n        return None\n    return items[0]\n"
CLAMPED = LISTS.replace(CLAMP_WRONG, CLAMP_RIGHT)
GUARDED = LISTS.replace(FIRST_WRONG, FIRST_RIGHT)
TEST_FIRST = "def test_first_of_an_empty_list():\n    assert first([]) is None\n"


def begin(path: Path, files: dict[str, str] | None = None) -> tuple[HistoryBuilder, str]:
    """A history whose first commits lie before T0, and T0."""
    history = HistoryBuilder(path / "repo")
    history.commit({"README.md": "# pkg\n"}, "Begin")
    return history, history.commit(files or {"pkg/lists.py": LISTS}, "Add helpers")


@dataclass(frozen=True)
class Mined:
    """What each stage said."""

    commits: Sequence[Commit]
    verdicts: dict[str, Classification]
    candidates: dict[str, Candidate]
    """By commit."""
    dropped: dict[str, Dropped]
    """Fixes without a candidate, by commit."""
    presences: dict[str, Presence]
    """By commit."""
    reports: Sequence[Report]
    merged: Merged

    @property
    def bugs(self) -> list[Bug]:
        return self.merged.bugs

    @property
    def fixes(self) -> list[str]:
        """In window order."""
        return [commit.sha for commit in self.commits if self.verdicts[commit.sha].is_fix]

    def why(self, sha: str) -> str:
        return self.verdicts[sha].rationale


def classified(
    history: HistoryBuilder,
    t0: str,
    scope: SourceScope = SCOPE,
    habits: Habits | None = None,
) -> tuple[list[Commit], dict[str, Classification]]:
    """The window from T0 to the builder's tip, and the verdicts by commit."""
    commits = list(iter_window(history.path, t0, history.tip()))
    diffs = iter_diffs(history.path, [commit.sha for commit in commits])
    answers = classify_window(commits, diffs, scope, habits)
    return commits, {answer.commit: answer for answer in answers}


def mine(
    history: HistoryBuilder,
    t0: str,
    scope: SourceScope = SCOPE,
    habits: Habits | None = None,
) -> Mined:
    """All stages, with the heuristic engine, from T0 to the builder's tip."""
    t1, mirror = history.tip(), history.path
    commits, verdicts = classified(history, t0, scope, habits)
    fixes = select_fixes(commits, verdicts.values())
    candidates, dropped = build_candidates(mirror, t0, t1, fixes, scope)
    presences = judge_presences(mirror, t0, candidates)
    reports, left = write_reports(mirror, t0, candidates, presences)
    assert not left
    judgements = judge_duplicates(pair_reports(reports, candidates), candidates)
    order = [fix.sha for fix in fixes]
    merged = merge_bugs(mirror, "pkg", commits, order, candidates, reports, judgements)
    by_id = {candidate.id: candidate.commit for candidate in candidates}
    return Mined(
        commits,
        verdicts,
        {candidate.commit: candidate for candidate in candidates},
        {item.commit: item for item in dropped},
        {by_id[presence.candidate]: presence for presence in presences},
        reports,
        merged,
    )


def place(path: str, text: str, line: str) -> Location:
    """Where a line stands that a text has once."""
    lines = text.splitlines()
    assert lines.count(line.rstrip("\n")) == 1, line
    number = lines.index(line.rstrip("\n")) + 1
    return Location(path=path, first=number, last=number)
