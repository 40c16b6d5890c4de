"""The six signals of a pair, for all pairs of two lists at once.

Set signals are sparse matrix products: the shared pieces of every pair come from one product of
two incidence matrices. Dense results are made block by block, so that memory stays bounded by
``rows`` × the length of the right side, whatever the number of pairs.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from probe.similarity.items import Item
from probe.similarity.words import (
    path_suffixes,
    prose_identifiers,
    prose_words,
    snippet_tokens,
    title_trigrams,
)

T = TypeVar("T")
Matrix = NDArray[np.float32]
FAR = np.float32(np.inf)
"""Line distance of two items that share no file."""
BLOCK_PAIRS = 2_000_000
"""Pairs in one block: six float32 matrices of this size are 48 MB."""


@dataclass(frozen=True, slots=True)
class Signals:
    """The six signals of a block of pairs: rows ``start``… of the left side × all of the right.

    Every field is a float32 matrix. All lie in 0…1 but for ``line_distance``, in lines.
    """

    start: int
    line_distance: Matrix
    """Lines between the nearest ranges in a shared file: 0 where they overlap, 1 where they touch,
    infinite where no file is shared. The minimum over the items' locations."""
    path: Matrix
    """Shared trailing parts of the two paths over the parts of the longer one; 1 for the same
    path. The maximum over the items' locations."""
    snippet: Matrix
    """Jaccard |A∩B| / |A∪B| of the snippets' token sets; 0 where both are empty."""
    text: Matrix
    """Cosine of the TF-IDF vectors (sublinear tf, smooth idf over both sides) of title and
    description."""
    identifiers: Matrix
    """Jaccard of the code identifiers named in title and description; 0 where both are empty."""
    title: Matrix
    """Dice 2|A∩B| / (|A|+|B|) of the titles' character trigram sets."""


def iter_signals(
    left: Sequence[Item], right: Sequence[Item], *, rows: int | None = None
) -> Iterator[Signals]:
    """All signals for left × right, in blocks of whole rows.

    The values of a pair depend on the two sets of items (through the idf), never on their order.

    Args:
        left: items of the rows.
        right: items of the columns.
        rows: rows a block; by default as many as make :data:`BLOCK_PAIRS` pairs.
    """
    if not left or not right:
        return
    rows = rows or max(1, BLOCK_PAIRS // len(right))
    builder = _Builder(left, right)
    for start in range(0, len(left), rows):
        yield builder.block(start, min(start + rows, len(left)))


class _Builder:
    """Everything that is computed once for both sides."""

    def __init__(self, left: Sequence[Item], right: Sequence[Item]) -> None:
        self.snippet = _Sets(left, right, lambda item: snippet_tokens(item.snippet))
        self.identifiers = _Sets(
            left, right, lambda item: prose_identifiers(f"{item.title}\n{item.description}")
        )
        self.title = _Sets(left, right, lambda item: title_trigrams(item.title))
        self.text_left, self.text_right = _tf_idf(left, right)
        self.paths = _Paths(left, right)
        self.width = len(right)
        self.lines = _line_distances(left, right)

    def block(self, start: int, stop: int) -> Signals:
        """The signals of the left rows start…stop − 1."""
        return Signals(
            start=start,
            line_distance=_dense_distances(self.lines, start, stop, self.width),
            path=self.paths.block(start, stop),
            snippet=self.snippet.jaccard(start, stop),
            text=_product(self.text_left[start:stop], self.text_right),
            identifiers=self.identifiers.jaccard(start, stop),
            title=self.title.dice(start, stop),
        )


class _Sets(Generic[T]):
    """Two incidence matrices over the pieces that both sides have, and the sizes of the sets."""

    def __init__(
        self, left: Sequence[T], right: Sequence[T], pieces: Callable[[T], frozenset[str]]
    ) -> None:
        left_sets = [pieces(item) for item in left]
        right_sets = [pieces(item) for item in right]
        shared = frozenset().union(*left_sets) & frozenset().union(*right_sets)
        vocabulary = {piece: column for column, piece in enumerate(sorted(shared))}
        self.left = _incidence(left_sets, vocabulary)
        self.right = _incidence(right_sets, vocabulary).T.tocsr()
        self.left_sizes = np.array([len(s) for s in left_sets], dtype=np.float32)
        self.right_sizes = np.array([len(s) for s in right_sets], dtype=np.float32)

    def jaccard(self, start: int, stop: int) -> Matrix:
        common = _product(self.left[start:stop], self.right)
        union = self.left_sizes[start:stop, None] + self.right_sizes[None, :]
        union -= common
        return _ratio(common, union)

    def dice(self, start: int, stop: int) -> Matrix:
        common = _product(self.left[start:stop], self.right)
        total = self.left_sizes[start:stop, None] + self.right_sizes[None, :]
        common *= 2
        return _ratio(common, total)


class _Paths:
    """Path similarity over the distinct groups of paths of both sides, spread to the items."""

    def __init__(self, left: Sequence[Item], right: Sequence[Item]) -> None:
        left_groups, self.left_index = _path_groups(left)
        right_groups, self.right_index = _path_groups(right)
        left_paths = sorted(set(chain.from_iterable(left_groups)))
        right_paths = sorted(set(chain.from_iterable(right_groups)))
        table = _path_table(left_paths, right_paths)
        table = _best_rows(table, left_groups, left_paths)
        self.table = np.ascontiguousarray(_best_rows(table.T, right_groups, right_paths).T)

    def block(self, start: int, stop: int) -> Matrix:
        return self.table[self.left_index[start:stop]].take(self.right_index, axis=1)


def _path_groups(items: Sequence[Item]) -> tuple[list[tuple[str, ...]], NDArray[np.intp]]:
    """The distinct path sets of the items, and which of them each item has."""
    keys = [tuple(sorted({place.path for place in item.locations})) for item in items]
    groups = sorted(set(keys))
    position = {key: index for index, key in enumerate(groups)}
    return groups, np.array([position[key] for key in keys], dtype=np.intp)


def _path_table(left: Sequence[str], right: Sequence[str]) -> Matrix:
    """Similarity of every two paths: two paths share as many suffixes as trailing parts."""
    sides = _Sets(left, right, lambda path: frozenset(path_suffixes(path)))
    shared = _product(sides.left, sides.right)
    longest = np.maximum(sides.left_sizes[:, None], sides.right_sizes[None, :])
    return _ratio(shared, longest)


def _best_rows(table: Matrix, groups: Sequence[tuple[str, ...]], paths: Sequence[str]) -> Matrix:
    """One row a group of paths: the column-wise best of its paths, 0 for items without place."""
    position = {path: index for index, path in enumerate(paths)}
    best = np.zeros((len(groups), table.shape[1]), dtype=np.float32)
    for row, group in enumerate(groups):
        if group:
            best[row] = table[[position[path] for path in group]].max(axis=0)
    return best


def _incidence(sets: Sequence[frozenset[str]], vocabulary: dict[str, int]) -> sparse.csr_array:
    """Items × pieces, 1 where the item has the piece; pieces outside the vocabulary are left out."""
    columns = [sorted(vocabulary[p] for p in pieces if p in vocabulary) for pieces in sets]
    pointers = np.concatenate(([0], np.cumsum([len(c) for c in columns], dtype=np.int64)))
    indices = np.fromiter(chain.from_iterable(columns), dtype=np.int64, count=int(pointers[-1]))
    ones = np.ones(len(indices), dtype=np.float32)
    return sparse.csr_array((ones, indices, pointers), shape=(len(sets), max(1, len(vocabulary))))


def _ratio(part: Matrix, whole: Matrix) -> Matrix:
    """``part / whole`` in place, keeping the zeros of ``part`` where the whole is 0."""
    np.divide(part, whole, out=part, where=whole > 0)
    return part


def _product(left: sparse.csr_array, right: sparse.csr_array) -> Matrix:
    """Dense float32 product of two sparse matrices."""
    return np.asarray((left @ right).toarray(), dtype=np.float32)


def _tf_idf(
    left: Sequence[Item], right: Sequence[Item]
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Unit TF-IDF vectors of both sides: left by rows, right transposed."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize

    texts = [f"{item.title}\n{item.description}" for item in chain(left, right)]
    if not any(prose_words(text) for text in texts):
        nothing = _incidence([frozenset()] * len(texts), {})
        return nothing[: len(left)], nothing[len(left) :].T.tocsr()
    vectorizer = TfidfVectorizer(
        tokenizer=prose_words, token_pattern=None, lowercase=False, sublinear_tf=True, norm=None
    )
    vectors = vectorizer.fit_transform(texts)
    # sums run in the order of the columns: only sorted ones make them the same for any item order
    vectors.sort_indices()
    unit = sparse.csr_array(normalize(vectors).astype(np.float32))
    return unit[: len(left)], unit[len(left) :].T.tocsr()


def _line_distances(
    left: Sequence[Item], right: Sequence[Item]
) -> tuple[NDArray[np.intp], NDArray[np.intp], Matrix]:
    """Rows, columns and distances of all pairs that share a file, sorted by row."""
    by_path: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for index, item in enumerate(right):
        for place in item.locations:
            by_path[place.path].append((index, place.first, place.last))
    columns = {path: np.array(places, dtype=np.int64) for path, places in by_path.items()}
    rows, cols, distances = [], [], []
    for index, item in enumerate(left):
        for place in item.locations:
            other = columns.get(place.path)
            if other is None:
                continue
            gap = np.maximum(other[:, 1] - place.last, place.first - other[:, 2])
            rows.append(np.full(len(other), index, dtype=np.intp))
            cols.append(other[:, 0].astype(np.intp))
            distances.append(np.maximum(gap, 0).astype(np.float32))
    if not rows:
        return np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0, np.float32)
    return np.concatenate(rows), np.concatenate(cols), np.concatenate(distances)


def _dense_distances(
    known: tuple[NDArray[np.intp], NDArray[np.intp], Matrix], start: int, stop: int, width: int
) -> Matrix:
    rows, cols, distances = known
    low, high = np.searchsorted(rows, (start, stop))
    dense = np.full((stop - start, width), FAR, dtype=np.float32)
    np.minimum.at(dense, (rows[low:high] - start, cols[low:high]), distances[low:high])
    return dense
