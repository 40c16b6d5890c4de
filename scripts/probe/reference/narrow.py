"""From the places that a model names for one bug to what anchoring takes.

A heuristic candidate has all changes of its commit. A model's bug has some of them: those at its
places, with the words that the fix takes away there, so that anchoring, lineage and presence look
at each bug of a commit by itself.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from probe.code.paths import SourceScope
from probe.git.diff import CommitDiff, FileDiff, Hunk
from probe.reference.extract import (
    Extracted,
    FaultyFile,
    Read,
    insertion_line,
    is_production_change,
    render_fix,
    thin_out,
)
from probe.reference.extract_check import NEAR, AnsweredBug, old_path
from probe.reference.hunks import Change, Weight, mark_moved, weigh_changes
from probe.reference.mirror import split_lines

LONGEST_WORDS = 1_000
"""Characters of the model's words that a suggested fix keeps."""

_LEVELS: tuple[Weight, ...] = ("behaviour", "side")


@dataclass(slots=True)
class _Spot:
    """The places of one bug in one file, and the changes of the fix at them."""

    file: FileDiff
    ranges: list[tuple[int, int]] = field(default_factory=list)
    points: list[int] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)

    @property
    def path(self) -> str:
        return old_path(self.file)


class Narrower:
    """Cuts a fix down to single bugs; weighs its changes once for all of them.

    Args:
        diff: the fix.
        parent: its first parent.
        scope: which files are production code.
        read: reads files of the fix and of its parent.
        bugs: all that will be asked for: of other files only production code is weighed.
    """

    def __init__(
        self,
        diff: CommitDiff,
        parent: str,
        scope: SourceScope,
        read: Read,
        bugs: Iterable[AnsweredBug],
    ) -> None:
        self._sha = diff.sha
        self._parent = parent
        self._read = read
        self._production = [file for file in diff.files if is_production_change(file, scope)]
        named = {path for bug in bugs for path in bug.paths()}
        placed = [file for file in diff.files if _holds_places(file, named)]
        weighing = [*placed, *(file for file in self._production if file not in placed)]
        weighed = mark_moved([self._weigh(file) for file in weighing])
        self._placed = list(zip(placed, weighed, strict=False))

    def narrow(self, bug: AnsweredBug, *, alone: bool) -> Extracted:
        """What the fix changes for one bug.

        Removed lines in a range are faulty, with the words that the fix takes away from them; those
        of a change beside a range are too. Where a range holds no removed line, its own lines are
        faulty, and lose nothing. A bug for which the fix only adds has insertions alone.

        Args:
            bug: with places that hold (:mod:`probe.reference.extract_check`).
            alone: it is the commit's only bug: its suggested fix is then the whole production diff.
        """
        spots = self._spots(bug)
        level = next(
            (w for w in _LEVELS if any(c.weight == w for s in spots for c in s.changes)), ""
        )
        for spot in spots:
            spot.changes = [change for change in spot.changes if change.weight == level]
        additive = _only_adds(spots)
        files = [self._faulty_file(spot, additive=additive) for spot in spots]
        return Extracted(
            commit=self._sha,
            parent=self._parent,
            files=thin_out([file for file in files if file.faulty or file.insertions]),
            new_files=(),
            suggested_fix=self._suggested_fix(spots, bug.suggested_fix, alone=alone),
        )

    def _weigh(self, file: FileDiff) -> list[Change]:
        if not file.hunks:
            return []
        old, new = self._read(self._parent, old_path(file)), self._read(self._sha, file.change.path)
        return weigh_changes(file, old, new)

    def _spots(self, bug: AnsweredBug) -> list[_Spot]:
        spots: dict[str, _Spot] = {}
        for file, changes in self._placed:
            spot = _Spot(file)
            spot.ranges = [(r.first_line, r.last_line) for r in bug.ranges if r.path == spot.path]
            spot.points = [p.after_line for p in bug.insertion_points if p.path == spot.path]
            if spot.path not in spots and (spot.ranges or spot.points):
                found = [_at_range(changes, *one) for one in spot.ranges]
                found += [_at_point(changes, line) for line in spot.points]
                chosen = {id(change) for some in found for change in some}
                spot.changes = [change for change in changes if id(change) in chosen]
                spots[spot.path] = spot
        return list(spots.values())

    def _faulty_file(self, spot: _Spot, *, additive: bool) -> FaultyFile:
        lost = {} if additive else self._lost(spot)
        insertions = {insertion_line(change) for change in spot.changes if not change.faulty}
        if not spot.changes:
            insertions.update(spot.points)
        return FaultyFile(
            path=spot.path,
            faulty=tuple(sorted(lost)),
            lost=tuple(lost[line] for line in sorted(lost)),
            insertions=tuple(sorted(insertions)),
            changes=tuple(spot.changes),
        )

    def _lost(self, spot: _Spot) -> dict[int, frozenset[str]]:
        """The faulty lines of a file with what the fix takes away from each."""
        lost: dict[int, frozenset[str]] = {}
        for change in spot.changes:
            words = dict(zip(change.faulty, change.lost, strict=True))
            inside = {line for line in words if _in_any(line, spot.ranges)}
            lost.update({line: words[line] for line in inside or words})
        for first, last in spot.ranges:
            if not any(first <= line <= last for line in lost):
                lost.update(dict.fromkeys(self._saying(spot.path, first, last), frozenset()))
        return lost

    def _saying(self, path: str, first: int, last: int) -> Iterable[int]:
        """The lines of a range that hold a letter or digit; all of them where none does."""
        lines = split_lines(self._read(self._parent, path) or b"")[first - 1 : last]
        saying = [n for n, line in enumerate(lines, first) if any(map(str.isalnum, line))]
        return saying or range(first, last + 1)

    def _suggested_fix(self, spots: Sequence[_Spot], words: str, *, alone: bool) -> str:
        """The model's words, and the bug's own hunks below them."""
        own = [] if alone else [cut for spot in spots if (cut := _own_hunks(spot)).hunks]
        return "\n".join([*_said(words), render_fix(own or self._production)])


def _holds_places(file: FileDiff, named: Collection[str]) -> bool:
    return file.change.status != "A" and old_path(file) in named


def _said(words: str) -> list[str]:
    """One line that no reader of patches takes for a part of one."""
    line = " ".join(words.split()).lstrip("-+@ ")[:LONGEST_WORDS]
    return [line] if line else []


def _only_adds(spots: Sequence[_Spot]) -> bool:
    """Whether all that the fix does at a bug's places is to add; not where it does nothing there."""
    changes = [change for spot in spots for change in spot.changes]
    ranges = any(spot.ranges for spot in spots)
    return not any(change.faulty for change in changes) and (bool(changes) or not ranges)


def _at_range(changes: Sequence[Change], first: int, last: int) -> list[Change]:
    """Changes that a range overlaps; else the nearest ones beside it."""
    distances = [_distance(change, first, last) for change in changes]
    least = min(distances, default=NEAR + 1)
    if least > NEAR:
        return []
    return [
        change for change, away in zip(changes, distances, strict=True) if away == max(0, least)
    ]


def _at_point(changes: Sequence[Change], line: int) -> list[Change]:
    """Changes at the gap behind a line, those that only add before others."""
    found = _at_range(changes, line, line + 1)
    return [change for change in found if not change.removed] or found


def _distance(change: Change, first: int, last: int) -> int:
    """Lines between a change and a range; 0 where they overlap, or where it adds beside the range."""
    if change.removed:
        start, end = change.old_start, change.old_start + len(change.removed) - 1
    else:
        start, end = change.old_start, change.old_start + 1
    return max(0, start - last, first - end)


def _in_any(line: int, ranges: Iterable[tuple[int, int]]) -> bool:
    return any(first <= line <= last for first, last in ranges)


def _own_hunks(spot: _Spot) -> FileDiff:
    hunks = [h for h in spot.file.hunks if any(_holds(h, change) for change in spot.changes)]
    return FileDiff(spot.file.change, tuple(hunks))


def _holds(hunk: Hunk, change: Change) -> bool:
    """Whether a change is a part of a hunk; see :func:`probe.reference.hunks.weigh_changes`."""
    before = hunk.old_start - bool(hunk.old_count and not change.removed)
    return before <= change.old_start <= hunk.old_start + max(0, hunk.old_count - 1)
