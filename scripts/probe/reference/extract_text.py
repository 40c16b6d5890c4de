"""What a model is shown of the files before a fix: numbered lines around its hunks, within a budget.

Small files come whole, others as the units around each hunk. Where that is too much, all files lose
surroundings alike, so that no file of a wide fix stays unseen while another is shown in full.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from probe.code.languages import language_of
from probe.code.tokens import count_tokens
from probe.code.units import find_units
from probe.git.diff import Hunk
from probe.reference.classify_text import clean
from probe.reference.extract import runs

LONGEST_LINE = 400
"""Characters of a line that are shown, at most: a minified file has all its code in one."""

NOTHING = "[no file before the fix can be shown]"


class Detail(NamedTuple):
    """How much of a file is shown around its hunks."""

    whole: int
    """Lines of a file that is shown whole, at most."""
    unit: int
    """Lines of a function, method or class that is shown whole, at most; of longer ones the head."""
    around: int
    """Lines before and after each hunk."""


DETAILS = (Detail(400, 200, 20), Detail(120, 100, 12), Detail(0, 40, 8), Detail(0, 0, 3))
"""From the richest: the first that fits the budget is taken for all files of a commit."""


@dataclass(frozen=True, slots=True)
class ParentFile:
    """A file before the fix, and where the fix changes it."""

    path: str
    content: bytes
    lines: Sequence[str]
    """As git counts them; see :func:`probe.reference.mirror.split_lines`."""
    hunks: tuple[Hunk, ...]


def files_text(files: Sequence[ParentFile], budget: int, more: int = 0) -> str:
    """The files with line numbers, as much of them as the budget holds.

    Args:
        files: the most telling first.
        budget: tokens (cl100k_base) of the result, at most.
        more: how many further files there are that are not shown at all.
    """
    if not files:
        return NOTHING
    for detail in DETAILS:
        parts = [_shown(file, detail) for file in files]
        text = "\n\n".join([*parts, *_left_out(more)])
        if _fits(text, budget):
            return text
    return _as_many_as_fit(files, budget, more)


def hunk_span(hunk: Hunk) -> tuple[int, int]:
    """First and last parent-side line of a hunk; of one that only adds, the lines beside it."""
    if hunk.old_count == 0:
        return hunk.old_start, hunk.old_start + 1
    return hunk.old_start, hunk.old_start + hunk.old_count - 1


def _left_out(number: int) -> list[str]:
    return [f"[{number} more files of this commit are not shown]"] if number else []


def _as_many_as_fit(files: Sequence[ParentFile], budget: int, more: int) -> str:
    """The leading files with the least surroundings; the last one may end early."""
    parts: list[str] = []
    left = len(files) + more
    room = budget - sum(count_tokens(note) + 1 for note in _left_out(left))
    for file in files:
        text = _shown(file, DETAILS[-1])
        if not _fits(text, room - 2):
            text = _leading_lines(text, room - 2)
            room = 0
        parts += [text] if text else []
        left -= bool(text)
        room -= count_tokens(text) + 2
        if room <= 0:
            break
    return "\n\n".join([*parts, *_left_out(left)]) or NOTHING


def _leading_lines(text: str, room: int) -> str:
    """Whole lines from the start of a text, and a line that says so; empty where too few fit."""
    note = "[... the rest of this file is not shown ...]"
    kept: list[str] = []
    left = room - count_tokens(note) - 3
    for line in text.split("\n"):
        left -= count_tokens(line) + 1
        if left < 0:
            break
        kept.append(line)
    return "\n".join([*kept, note]) if len(kept) > 1 else ""


def _fits(text: str, budget: int) -> bool:
    """Whether a text has at most so many tokens; one that is far too long is not counted."""
    return len(text) <= 16 * max(budget, 0) and count_tokens(text) <= budget


def _shown(file: ParentFile, detail: Detail) -> str:
    lines = [f"FILE {file.path} ({len(file.lines)} lines)"]
    for first, last in runs(sorted(_wanted(file, detail))):
        if first > 1:
            lines.append("...")
        lines += [_numbered(number, file.lines[number - 1]) for number in range(first, last + 1)]
    return clean("\n".join(lines))


def _numbered(number: int, line: str) -> str:
    cut = line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} [line cut]"
    return f"{number}|{cut}"


def _wanted(file: ParentFile, detail: Detail) -> set[int]:
    total = len(file.lines)
    if total <= detail.whole:
        return set(range(1, total + 1))
    spans = [hunk_span(hunk) for hunk in file.hunks]
    wanted: set[int] = set()
    for first, last in spans:
        wanted.update(range(first - detail.around, last + detail.around + 1))
    if detail.unit:
        wanted.update(_unit_lines(file, spans, detail.unit))
    return {number for number in wanted if 1 <= number <= total}


def _unit_lines(file: ParentFile, spans: Sequence[tuple[int, int]], most: int) -> Iterator[int]:
    """Lines of the units around some spans: whole ones, or the heads of long ones."""
    language = language_of(file.path)
    if language is None:
        return
    touched = [line for span in spans for line in span if line > 0]
    for unit in find_units(language, file.content, touched):
        short = unit.last - unit.first < most
        yield from range(unit.first, (unit.last if short else unit.head_last) + 1)
