"""What one project's commit subjects usually look like, learnt from many of its commits.

A "refactor:" of a project that calls every third change a "fix:" hardly ever hides a fix; in a
project that never writes "fix:" it often does. So what a prefix is worth is counted per repository.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Self

from probe.code.paths import SourceScope
from probe.records import Commit, Record
from probe.reference.classify_message import parse_message

_FEW = 8
"""Below this many production commits a share says nothing."""


class Habits(Record):
    """Shares of one repository's non-merge commits that touch production code (``habits.json``)."""

    commits: int = 0
    """How many such commits the window has."""
    prefixed: float = 0.0
    """Share whose subject has a known prefix."""
    fixes: float = 0.0
    """Share whose prefix says fix, or that came from a private fork."""
    prefixes: tuple[str, ...] = ()
    """Known prefixes, most frequent first."""
    forks: int = 0
    """Single-parent commits titled "Merge commit from fork"."""

    @classmethod
    def learn(cls, commits: Iterable[Commit], scope: SourceScope) -> Self:
        """Count prefixes; merges and commits without production code are left out."""
        total = prefixed = fixes = forks = 0
        seen: Counter[str] = Counter()
        for commit in commits:
            if len(commit.parents) != 1 or not _touches_production(commit, scope):
                continue
            message = parse_message(commit.subject, commit.body)
            total += 1
            forks += message.fork
            prefixed += message.prefix is not None or message.fork or message.release
            fixes += message.kind == "fix" or message.fork
            if message.prefix:
                seen[message.prefix] += 1
        order = sorted(seen, key=lambda name: (-seen[name], name))
        share = 1 / total if total else 0.0
        return cls(
            commits=total,
            prefixed=prefixed * share,
            fixes=fixes * share,
            prefixes=tuple(order),
            forks=forks,
        )

    @property
    def strictness(self) -> float:
        """From 0, prefixes are not used or never say fix, to 1, fixes are always called so.

        The product of two shares: prefixes are common, and "fix" is as common among them as fixes
        are in open-source windows (a fifth to a third of the production commits).
        """
        if self.commits < _FEW:
            return 0.5
        return self.prefixed * min(1.0, self.fixes / 0.15)


def _touches_production(commit: Commit, scope: SourceScope) -> bool:
    return any(scope.is_production(change.path) for change in commit.files)
