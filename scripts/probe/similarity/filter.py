"""Which pairs a judge is asked about: those of which any signal reaches its threshold."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from probe.records import Pair
from probe.similarity.items import Item
from probe.similarity.signals import Signals, iter_signals

DIGITS = 6
"""Decimals of a signal in a record: float32 carries no more."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What each signal must reach for a pair to be kept; None switches a signal off.

    The defaults were chosen on judged pairs of review comments (text signals) and on the fix
    commits of the development labels (location signals); docs/method.md has the figures.
    """

    line_distance: int | None = 10
    """At most so many lines apart in a shared file."""
    path: float | None = None
    """Off: every pair of reports in one file would pass."""
    snippet: float | None = 0.4
    text: float | None = 0.15
    identifiers: float | None = 0.25
    title: float | None = 0.3


def similar_pairs(
    left: Sequence[Item], right: Sequence[Item], thresholds: Thresholds
) -> list[Pair]:
    """Pairs of left × right of which any signal reaches its threshold, sorted by both ids.

    The result does not depend on the order of either side; empty sides give no pairs.

    Raises:
        ValueError: an id occurs twice on one side.
    """
    _need_unique(left)
    _need_unique(right)
    pairs = [
        _pair(left[block.start + row], right[column], block, row, column)
        for block in iter_signals(left, right)
        for row, column in _kept(reached(block, thresholds))
    ]
    return sorted(pairs, key=lambda pair: (pair.left, pair.right))


def similar_within(
    items: Sequence[Item], thresholds: Thresholds, *, also: Iterable[tuple[str, str]] = ()
) -> list[Pair]:
    """Unordered pairs of one list; ``left`` is the item that comes earlier in it.

    Args:
        items: what is compared.
        thresholds: any one that is reached keeps a pair.
        also: pairs of ids, the earlier item first, that are kept whatever their signals.

    Returns:
        Sorted by the positions of the left and of the right item.

    Raises:
        ValueError: an id occurs twice.
    """
    _need_unique(items)
    position = {item.id: index for index, item in enumerate(items)}
    wanted = [(position[a], position[b]) for a, b in also if a in position and b in position]
    forced = np.array(wanted, dtype=np.intp).reshape(-1, 2)
    pairs: list[Pair] = []
    for block in iter_signals(items, items):
        kept = reached(block, thresholds)
        rows = forced[:, 0] - block.start
        inside = (rows >= 0) & (rows < len(kept))
        kept[rows[inside], forced[inside, 1]] = True
        pairs += [
            _pair(items[block.start + row], items[column], block, row, column)
            for row, column in _kept(kept)
            if block.start + row < column
        ]
    return pairs


def reached(block: Signals, thresholds: Thresholds) -> NDArray[np.bool_]:
    """Which pairs of a block have a signal that reaches its threshold."""
    kept = np.zeros(block.line_distance.shape, dtype=np.bool_)
    for field in fields(thresholds):
        limit = getattr(thresholds, field.name)
        if limit is None:
            continue
        values = getattr(block, field.name)
        if field.name == "line_distance":
            kept |= values <= np.float32(limit)
        else:
            # a threshold of exactly the stored value must keep the pair it was read from
            kept |= values >= np.float32(limit) - np.float32(0.5 * 10**-DIGITS)
    return kept


def _kept(mask: NDArray[np.bool_]) -> Iterable[tuple[int, int]]:
    rows, columns = np.nonzero(mask)
    return zip(rows.tolist(), columns.tolist(), strict=True)


def _pair(left: Item, right: Item, block: Signals, row: int, column: int) -> Pair:
    distance = block.line_distance[row, column]
    return Pair(
        left=left.id,
        right=right.id,
        line_overlap=_overlap(left, right) if distance == 0 else 0.0,
        line_distance=int(distance) if np.isfinite(distance) else None,
        path_similarity=_number(block.path, row, column),
        snippet_similarity=_number(block.snippet, row, column),
        text_similarity=_number(block.text, row, column),
        identifier_similarity=_number(block.identifiers, row, column),
        title_similarity=_number(block.title, row, column),
    )


def _overlap(left: Item, right: Item) -> float:
    """Jaccard of the two sets of lines, over all places of both."""
    one, other = _lines(left), _lines(right)
    return round(len(one & other) / len(one | other), DIGITS)


def _lines(item: Item) -> set[tuple[str, int]]:
    return {(at.path, line) for at in item.locations for line in range(at.first, at.last + 1)}


def _number(matrix: NDArray[np.float32], row: int, column: int) -> float:
    return min(1.0, round(float(matrix[row, column]), DIGITS))


def _need_unique(items: Sequence[Item]) -> None:
    seen: set[str] = set()
    for item in items:
        if item.id in seen:
            raise ValueError(f"item {item.id} occurs twice on one side of a comparison")
        seen.add(item.id)
