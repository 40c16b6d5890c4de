"""A pass in parts, for a model whose window is smaller than the pass.

The plan is one for all models, so that all are asked the same; only the questions are smaller. Files
stay whole as long as one fits. A longer one is cut between units, top-level ones if possible, and
each piece begins with a few lines of the one before, so that a fault at the cut is seen whole.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Self

from probe.code.languages import language_of
from probe.code.tokens import count_tokens
from probe.code.units import find_units
from probe.errors import FinderError
from probe.snapshot.material import numbered

OVERLAP_LINES = 20
"""Lines that two neighbouring pieces of a file share, at most."""

OVERLAP_SHARE = 0.25
"""Share of a piece that these lines may take, in tokens."""

LEAST_ROOM = 400
"""Tokens for files below which a pass is not worth its many questions."""

_FRAME = 48
"""Tokens around a piece beside its path and lines: its heading, and what is said of the rest."""


class NoPartError(FinderError):
    """A pass that cannot be cut into parts of the wanted size."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines of a file, 1-based and inclusive."""

    path: str
    """The file."""
    first: int
    """First line."""
    last: int
    """Last line."""
    total: int
    """Lines of the whole file."""
    repeated: int = 0
    """How many of the first lines end the file's previous piece as well."""

    @classmethod
    def of_file(cls, path: str, source: str) -> Self:
        """A whole file as one piece."""
        lines = source.count("\n") + 1
        return cls(path, 1, lines, lines)

    @property
    def whole(self) -> bool:
        """Whether it is the whole file."""
        return self.first == 1 and self.last == self.total

    def text(self, source: str) -> str:
        """The lines with their numbers; of a part of a file, also which lines it is.

        Args:
            source: text of the whole file.
        """
        if self.whole:
            return numbered(source)
        lines = source.split("\n")[self.first - 1 : self.last]
        before = f"(lines 1 to {self.first - 1} are not shown)\n" if self.first > 1 else ""
        after = (
            f"\n(lines {self.last + 1} to {self.total} are not shown)"
            if self.last < self.total
            else ""
        )
        return before + numbered("\n".join(lines), self.first) + after


def split_pass(sources: Mapping[str, str], room: int) -> list[tuple[Piece, ...]]:
    """Cut a pass into parts: several whole files, or one piece of a longer file.

    Args:
        sources: text of each file by path, in the pass's order.
        room: tokens (cl100k_base) of a part's files, at most, numbers and headings included.

    Returns:
        Parts in the pass's order. Together they show every line of every file.

    Raises:
        NoPartError: there is no room, or not even for a single line; the message names the line.
    """
    if room < LEAST_ROOM:
        raise NoPartError(
            f"there is room for {max(room, 0)} tokens of files, but a part has {LEAST_ROOM}"
        )
    parts: list[tuple[Piece, ...]] = []
    together: list[Piece] = []
    left = room
    for path, text in sources.items():
        costs = line_costs(text)
        frame = _FRAME + count_tokens(path)
        size = frame + sum(costs)
        if size > left and together:
            parts.append(tuple(together))
            together, left = [], room
        if size <= left:
            together.append(Piece.of_file(path, text))
            left -= size
        else:
            parts += [(piece,) for piece in _pieces(path, text, costs, room - frame)]
    return [*parts, tuple(together)] if together else parts


def line_costs(text: str) -> list[int]:
    """Tokens of each line with its number.

    Their sum is the text's: a number begins every line, and the tokenizer splits before digits.
    """
    return [count_tokens(f"{line}\n") for line in numbered(text).split("\n")]


def _pieces(path: str, text: str, costs: Sequence[int], room: int) -> Iterator[Piece]:
    sums = [0, *accumulate(costs)]
    levels = _cuts(path, text)
    shown = 0
    while shown < len(costs):
        if costs[shown] > room:
            raise NoPartError(
                f"{path}:{shown + 1} alone has {costs[shown]} tokens, but there is room for {room}"
            )
        start = _start(sums, shown, room)
        end = bisect_right(sums, sums[start] + room) - 1
        if end < len(costs):
            end = _cut(levels, shown, end)
        yield Piece(path, start + 1, end, len(costs), repeated=shown - start)
        shown = end


def _start(sums: Sequence[int], shown: int, room: int) -> int:
    """Where a piece begins whose first new line is ``shown`` (0-based)."""
    start = max(0, shown - OVERLAP_LINES)
    most = min(room * OVERLAP_SHARE, room - (sums[shown + 1] - sums[shown]))
    while sums[shown] - sums[start] > most:
        start += 1
    return start


def _cut(levels: Sequence[Sequence[int]], shown: int, end: int) -> int:
    """The best line to end before: in the second half of the new lines, between outer units."""
    least = shown + (end - shown + 1) // 2
    for level in levels:
        index = bisect_right(level, end) - 1
        if index >= 0 and level[index] > max(least, shown):
            return level[index]
    return end


def _cuts(path: str, text: str) -> list[list[int]]:
    """Lines (0-based) before which a file can be cut, those between top-level units first."""
    language = language_of(path)
    if language is None:
        return []
    units = find_units(language, text.encode("utf-8", errors="replace"))
    depths = sorted({unit.name.count(".") for unit in units})
    return [
        sorted(
            {line for u in units if u.name.count(".") == depth for line in (u.first - 1, u.last)}
        )
        for depth in depths
    ]
