"""What an audit has found so far, and how much it has looked at."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import get_args

from probe.isolation.changelog import is_changelog, late_entries
from probe.isolation.gitdata import GitKind, find_git
from probe.isolation.listing import NESTED, Listing
from probe.records import Leak, LeakKind

_SLACK_S = 1.0
"""File systems round times."""


class Findings:
    """Leaks by kind and place, each once, and the number of things looked at by kind."""

    def __init__(self, cutoff: datetime) -> None:
        """Nothing was looked at yet.

        Args:
            cutoff: T0's time.
        """
        self.cutoff = cutoff
        self.checks: Counter[LeakKind] = Counter()
        self.late_git: set[str] = set()
        """Places of git data that holds a commit after T0."""
        self._leaks: dict[tuple[LeakKind, str], Leak] = {}

    @property
    def leaks(self) -> list[Leak]:
        """In the order of their finding."""
        return list(self._leaks.values())

    def count(self, kind: LeakKind, number: int) -> None:
        """So many things were looked at."""
        self.checks[kind] += number

    def add(self, leaks: Sequence[Leak]) -> None:
        """Keep leaks; of two of a kind at one place the first."""
        for leak in leaks:
            self._leaks.setdefault((leak.kind, leak.where), leak)

    def look_for_git(self, listing: Listing) -> None:
        """Git data anywhere in a listing."""
        for kind in get_args(GitKind):
            self.count(kind, len(listing.entries))
        for found in find_git(listing, self.cutoff):
            self.add([found.leak])
            if found.late:
                self.late_git.add(found.leak.where)

    def look_at_dates(self, listing: Listing, below: Sequence[str], changelog_bytes: int) -> None:
        """Times of files, and headings of changelogs, below some folders.

        Where there is no changelog, the names of all files were looked at to know it.

        Args:
            listing: what is there.
            below: absolute folders, each with a slash at its end.
            changelog_bytes: how much of each changelog is read.
        """
        files = [
            entry
            for entry in listing.files()
            if entry.path.startswith(tuple(below)) and NESTED not in entry.path
        ]
        self.count("mtime", len(files))
        self.count("changelog", len(files))
        last = self.cutoff.timestamp() + _SLACK_S
        for entry in files:
            if entry.mtime > last:
                changed = datetime.fromtimestamp(entry.mtime, UTC)
                self._add("mtime", entry.path, f"changed {changed:%Y-%m-%d}, {self._after}")
        logs = [entry.path for entry in files if is_changelog(entry.path)]
        for path, content in listing.read_all(logs, changelog_bytes).items():
            text = content.decode("utf-8", errors="replace")
            for late in late_entries(text, self.cutoff):
                self._add("changelog", path, f"line {late.line}, {self._after}: {late.text}")
                break

    @property
    def _after(self) -> str:
        return f"after T0 ({self.cutoff:%Y-%m-%d})"

    def _add(self, kind: LeakKind, where: str, detail: str) -> None:
        self.add([Leak(kind=kind, where=where, detail=detail)])
