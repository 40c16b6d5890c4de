"""Where lines of the window come from: blame from the snapshot, recursively.

Blame names the commit that wrote a line last. When that commit rewrote an older line, the defect
may be the older line's: the trace then goes on from the most similar line that it deleted, as
often as needed, until the snapshot is reached or a line turns out to be new. Plain SZZ, which
stops at the first commit, drops defects whose code was reformatted, split or moved.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from probe.git.blame import BlamedLine
from probe.git.diff import CommitDiff
from probe.reference.lineage import DeletedLines, Predecessor


class History(Protocol):
    """What the trace asks of a mirror; tests answer from small dictionaries."""

    def blame(self, rev: str, path: str, lines: Sequence[int]) -> list[BlamedLine]:
        """Blame of single lines of a file at a revision, stopping at the snapshot."""
        ...

    def diffs(self, shas: Iterable[str]) -> Iterable[CommitDiff]:
        """Diffs against the first parent, in the given order."""
        ...


class Origins(Protocol):
    """Where lines of the window come from: by `git blame` (:class:`Tracer`) or by replay."""

    def parent(self, sha: str) -> str | None:
        """First parent of a window commit, None for a root commit."""
        ...

    def trace(self, places: "Iterable[Place]") -> "dict[Place, Origin]":
        """The origin of every place."""
        ...


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """One line of one file at one revision."""

    rev: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a line comes from."""

    place: Place | None
    """The line at the boundary; None where it was born in the window."""
    writers: tuple[str, ...]
    """Window commits that wrote or rewrote it, youngest first; empty for an untouched line."""
    likeness: float = 1.0
    """Product of the similarities of the rewrites, 0…1."""
    renamed: bool = False
    """The boundary's path is another one."""
    unknown: bool = False
    """git could not say: ``place`` is None without meaning that the line is new."""


MAX_HOPS = 64
"""Rewrites followed for one line: real chains are shorter than ten."""


class Tracer:
    """Traces lines to the snapshot; answers are kept, since fixes share their past.

    Args:
        history: the mirror.
        parents: first parent of every window commit that has one; a commit that is not among the
            keys and no root lies before the snapshot.
        ignored: commits that only laid code out anew: they write nothing.
    """

    def __init__(
        self, history: History, parents: Mapping[str, str], ignored: Collection[str] = ()
    ) -> None:
        self._history = history
        self._parents = parents
        self.ignored = frozenset(ignored)
        self._unread: set[str] = set()
        self._blamed: dict[Place, BlamedLine | None] = {}
        self._steps: dict[Place, Predecessor | None] = {}
        self._deleted: dict[str, DeletedLines] = {}

    def parent(self, sha: str) -> str | None:
        """First parent of a window commit, None for a root commit."""
        return self._parents.get(sha)

    def trace(self, places: Iterable[Place]) -> dict[Place, Origin]:
        """The origin of every place; all of them advance together, a round a rewrite."""
        wanted = sorted(set(places))
        frontier = set(wanted)
        for _ in range(MAX_HOPS):
            self._blame(frontier)
            born = {self._written(place) for place in frontier} - {None}
            self._step({written for written in born if written is not None})
            frontier = {
                following
                for written in born
                if written is not None
                for following in [self._before(written)]
                if following is not None
            } - self._blamed.keys()
            if not frontier:
                break
        return {place: self._follow(place) for place in wanted}

    def _blame(self, places: Iterable[Place]) -> None:
        by_file: dict[tuple[str, str], list[int]] = defaultdict(list)
        for place in places:
            if place not in self._blamed:
                by_file[place.rev, place.path].append(place.line)
        for (rev, path), lines in sorted(by_file.items()):
            for line in lines:
                self._blamed[Place(rev, path, line)] = None
            if rev not in self._parents:
                # before the window: git would blame an empty range
                for line in lines:
                    self._blamed[Place(rev, path, line)] = BlamedLine(
                        line, rev, boundary=True, source_path=path, source_line=line
                    )
                continue
            for blamed in self._history.blame(rev, path, sorted(lines)):
                self._blamed[Place(rev, path, blamed.line)] = blamed

    def _written(self, place: Place) -> Place | None:
        """The line as its window commit wrote it, None where it is older than the window."""
        blamed = self._blamed.get(place)
        if blamed is None or blamed.boundary:
            return None
        return Place(blamed.commit, blamed.source_path, blamed.source_line)

    def _step(self, written: Iterable[Place]) -> None:
        """Find what each written line replaced, reading each commit's diff once."""
        open_places = sorted(place for place in written if place not in self._steps)
        unread = sorted({place.rev for place in open_places} - self._deleted.keys())
        for diff in self._history.diffs(unread):
            self._deleted[diff.sha] = DeletedLines(diff, neutral=diff.sha in self.ignored)
            if diff.missing:
                self._unread.add(diff.sha)
        for place in open_places:
            lines = self._deleted.get(place.rev)
            self._steps[place] = lines.predecessor(place.path, place.line) if lines else None

    def _before(self, written: Place) -> Place | None:
        step = self._steps.get(written)
        parent = self._parents.get(written.rev)
        return Place(parent, step.path, step.line) if step and parent else None

    def _follow(self, place: Place) -> Origin:
        writers: list[str] = []
        likeness = 1.0
        here: Place | None = place
        while here is not None:
            blamed = self._blamed.get(here)
            if blamed is None:
                return Origin(None, tuple(writers), likeness, unknown=True)
            if blamed.boundary:
                found = Place(blamed.commit, blamed.source_path, blamed.source_line)
                return Origin(found, tuple(writers), likeness, found.path != place.path)
            written = Place(blamed.commit, blamed.source_path, blamed.source_line)
            step = self._steps.get(written)
            if step is None or step.likeness < 1.0:
                writers.append(blamed.commit)
            likeness *= step.likeness if step else 0.0
            here = self._before(written)
            if here is None and blamed.commit in self._unread:
                return Origin(None, tuple(writers), likeness, unknown=True)
        return Origin(None, tuple(writers), likeness)
