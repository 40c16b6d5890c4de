"""Whether the places that a model names for a bug can be right: in the parent, and at the fix.

A model's line numbers are claims. Each is held against the tree before the fix and the diff; what
does not hold is told to the model in its next turn, and has a name of its own in the records.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import StringConstraints

from probe.git.diff import CommitDiff, FileDiff
from probe.records import Record
from probe.reference.extract import Read
from probe.reference.extract_text import hunk_span
from probe.reference.mirror import split_lines

NEAR = 3
"""Lines between a place and a hunk, at most: a model may point at the line beside a change."""

SHOWN = 8
"""Hunks of a file, or files of a diff, that a message names."""

FlawReason = Literal[
    "path does not exist", "location outside the file", "range touches no hunk", "no location"
]

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class AnsweredRange(Record):
    """Lines that were wrong before the fix; what a model says, checked later."""

    path: str
    """The file, by its path before the fix."""
    first_line: int
    """First wrong line, by the numbers shown."""
    last_line: int
    """Last wrong line, inclusive."""


class AnsweredPoint(Record):
    """A place where something was missing; what a model says, checked later."""

    path: str
    """The file, by its path before the fix."""
    after_line: int
    """The line after which the fix adds; 0 for the start of the file."""


class AnsweredBug(Record):
    """One bug as a model words and places it."""

    title: Text
    """One line in the present tense that names the wrong behaviour before the fix."""
    root_cause: Text
    """Which mistake leads to the wrong behaviour, and when."""
    ranges: tuple[AnsweredRange, ...]
    """Lines that were wrong; may be empty."""
    insertion_points: tuple[AnsweredPoint, ...]
    """Places where something was missing; may be empty."""
    suggested_fix: str
    """How to repair it, in one or two sentences."""

    def paths(self) -> set[str]:
        """All files that it names."""
        return {one.path for one in self.ranges} | {one.path for one in self.insertion_points}


@dataclass(frozen=True, slots=True)
class Flaw:
    """Why a bug cannot be placed."""

    reason: FlawReason
    """The kind, which is counted."""
    detail: str
    """Which place, and what would be right; for the model and for people."""


class Ground:
    """The tree before a fix and the fix's hunks, as far as places are held against them.

    Keeps numbers only; a file is read when a place in it is looked at.

    Args:
        diff: the fix.
        parent: its first parent.
        read: reads files of the parent.
    """

    def __init__(self, diff: CommitDiff, parent: str, read: Read) -> None:
        self._parent = parent
        self._read = read
        self._spans: dict[str, list[tuple[int, int]]] = {}
        self._renamed: dict[str, str] = {}
        touched = [file for file in diff.files if file.change.status != "A"]
        for file in touched:
            self._spans.setdefault(old_path(file), []).extend(map(hunk_span, file.hunks))
            if file.change.status == "R":
                self._renamed[file.change.path] = old_path(file)
        self._cut = {old_path(file) for file in touched if file.cut}

    def flaw(self, bug: AnsweredBug) -> Flaw | None:
        """The first thing that is wrong with a bug's places, None where all can be right."""
        if not bug.ranges and not bug.insertion_points:
            return Flaw("no location", "it has neither a range nor an insertion point")
        places = [
            *((one.path, one.first_line, one.last_line, 1) for one in bug.ranges),
            *((one.path, one.after_line, one.after_line, 0) for one in bug.insertion_points),
        ]
        found = (self._flaw_of(*place) for place in places)
        return next((flaw for flaw in found if flaw is not None), None)

    def _flaw_of(self, path: str, first: int, last: int, lowest: int) -> Flaw | None:
        content = self._read(self._parent, path) if _readable(path) else None
        if content is None and path not in self._spans:
            return Flaw("path does not exist", f"{path}: {self._instead(path)}")
        said = _lines_text(first, last) if lowest else f"after line {first}"
        if content is not None:
            length = len(split_lines(content))
            if not lowest <= first <= last <= length:
                return Flaw(
                    "location outside the file", f"{path}: {said}, but the file has {length} lines"
                )
        if path in self._cut:  # hunks beyond the size limit are not known
            return None
        spans = self._spans.get(path, [])
        reach = last if lowest else last + 1
        if any(first <= end + NEAR and start <= reach + NEAR for start, end in spans):
            return None
        return Flaw("range touches no hunk", f"{path}: {said}, but {self._hunks_text(path)}")

    def _instead(self, path: str) -> str:
        if path in self._renamed:
            return f"no such file before the fix, where it was {self._renamed[path]}"
        return f"no such file before the fix; {self._changed_text()}"

    def _hunks_text(self, path: str) -> str:
        if path not in self._spans:
            return f"the fix does not change that file; {self._changed_text()}"
        if not self._spans[path]:
            return "the fix changes no line of that file"
        spans = [_span_text(*span) for span in self._spans[path]]
        return f"the fix changes it at {_some(spans)}"

    def _changed_text(self) -> str:
        return f"the diff changes {_some(list(self._spans)) or 'no file that was there'}"


def old_path(file: FileDiff) -> str:
    """A file's path before the fix."""
    return file.change.old_path or file.change.path


def flaws_of(bugs: Sequence[AnsweredBug], ground: Ground) -> Mapping[int, Flaw]:
    """What is wrong with the places of each bug that cannot be placed, by its number from 1."""
    flaws = {number: ground.flaw(bug) for number, bug in enumerate(bugs, 1)}
    return {number: flaw for number, flaw in flaws.items() if flaw is not None}


def flaws_text(flaws: Mapping[int, Flaw]) -> Iterator[str]:
    """A line for each flaw, for the model."""
    for number, flaw in flaws.items():
        yield f"bug {number}: {flaw.reason}: {flaw.detail}"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{', '.join(names[:SHOWN])}{more}"


def _span_text(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _lines_text(first: int, last: int) -> str:
    return f"{'line' if first == last else 'lines'} {_span_text(first, last)}"


def _readable(path: str) -> bool:
    """Whether git can be asked for a path: a model may say anything, and git dies of ``./``."""
    parts = path.split("/")
    return path.isprintable() and not {"", ".", ".."} & set(parts)
