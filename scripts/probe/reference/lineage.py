"""Which deleted line an added line replaced, within one commit."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from rapidfuzz import fuzz, process

from probe.git.diff import CommitDiff, FileDiff, Hunk

SAME_HUNK = 0.5
"""Likeness that a line deleted by the same hunk must reach: the hunk itself is evidence."""
SAME_FILE = 0.75
"""… by another hunk of the same file."""
OTHER_FILE = 0.85
"""… in another file of the commit (splits and moves)."""
KEPT_WORDS = 0.4
"""… or the share of the line's words that the hunk kept, where no single line is so alike."""
REWORDED = 0.9
"""Factor of such a likeness: 1 is kept for lines that differ in whitespace alone."""
MAX_WORD_PRODUCT = 4_000_000
"""Larger hunks are compared line by line only: aligning their words takes seconds."""
MIN_MOVED_LENGTH = 8
"""Shorter lines (``else:``, ``return x``) say nothing about where they came from."""


_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Predecessor:
    """The line that an added line replaced."""

    path: str
    """Path in the commit's first parent."""
    line: int
    likeness: float
    """Normalised similarity of the two lines without whitespace, 0…1; 1 for the same text."""


@dataclass(frozen=True, slots=True)
class _Deleted:
    path: str
    line: int
    before: str
    after: str


class DeletedLines:
    """The deleted lines of one commit, searchable by what replaced them.

    Args:
        diff: the commit's.
        neutral: the commit only laid code out anew, as its project says: whatever a hunk added
            stands for something that it removed, and counts as the same text.
    """

    def __init__(self, diff: CommitDiff, *, neutral: bool = False) -> None:
        self._neutral = neutral
        self._files = {file.change.path: file for file in diff.files if file.hunks}
        self._texts: list[str] = []
        self._places: list[_Deleted] = []
        self._by_text: dict[str, list[int]] = defaultdict(list)
        self._indexed = False
        self._aligned: dict[tuple[int, int], dict[int, dict[int, float]]] = {}

    def predecessor(self, path: str, line: int) -> Predecessor | None:
        """The most similar deleted line, None where nothing is similar enough.

        Looks in the hunk that added the line, then in the file, then in the whole commit; among
        equals the one with similar neighbours wins, then the nearest.

        Args:
            path: the file after the commit.
            line: an added line of it.
        """
        file = self._files.get(path)
        hunk = _hunk_of(file, line) if file else None
        if file is None or hunk is None:
            return None
        found = self._in_hunk(file, hunk, line) or self._elsewhere(file, hunk, line)
        if not self._neutral:
            return found
        if found is not None:
            return replace(found, likeness=1.0)
        index = (line - hunk.new_start) * len(hunk.removed) // len(hunk.added)
        return Predecessor(_old_path(file), hunk.old_start + index, 1.0) if hunk.removed else None

    def _in_hunk(self, file: FileDiff, hunk: Hunk, line: int) -> Predecessor | None:
        if not hunk.removed:
            return None
        index = line - hunk.new_start
        text = squeeze(hunk.added[index])
        kept = self._kept(hunk).get(index, {})
        ranked: list[tuple[float, float, int]] = []
        for number, removed in enumerate(hunk.removed):
            likeness = fuzz.ratio(text, squeeze(removed)) / 100
            if likeness >= SAME_HUNK:
                offset = abs(number / len(hunk.removed) - index / len(hunk.added))
                ranked.append((likeness, -offset, -number))
        if not ranked and sum(kept.values()) >= KEPT_WORDS:
            ranked = [(REWORDED * share, 0.0, -number) for number, share in kept.items()]
        if not ranked:
            return None
        likeness, _, negative = max(ranked)
        return Predecessor(_old_path(file), hunk.old_start - negative, likeness)

    def _kept(self, hunk: Hunk) -> dict[int, dict[int, float]]:
        """The words of each added line that a hunk kept, by the removed line they stood in."""
        key = (hunk.old_start, hunk.new_start)
        if key not in self._aligned:
            self._aligned[key] = _align(hunk)
        return self._aligned[key]

    def _elsewhere(self, file: FileDiff, hunk: Hunk, line: int) -> Predecessor | None:
        index = line - hunk.new_start
        text = squeeze(hunk.added[index])
        if len(text) < MIN_MOVED_LENGTH:
            return None
        self._build_index()
        before, after = _neighbours(hunk.added, index)
        old_path = _old_path(file)
        found: list[tuple[float, float, bool, int]] = []
        for number, likeness in self._alike(text):
            place = self._places[number]
            same_file = place.path == old_path
            if likeness < (SAME_FILE if same_file else OTHER_FILE):
                continue
            context = fuzz.ratio(before, place.before) + fuzz.ratio(after, place.after)
            found.append((round(likeness, 2), context, same_file, number))
        if not found:
            return None
        best = max(found, key=lambda rank: (rank[0] + rank[1] / 400, rank[2], -rank[3]))
        place = self._places[best[3]]
        return Predecessor(place.path, place.line, best[0])

    def _alike(self, text: str) -> Iterator[tuple[int, float]]:
        exact = self._by_text.get(text)
        if exact:
            yield from ((number, 1.0) for number in exact)
            return
        for _, score, number in process.extract(
            text, self._texts, scorer=fuzz.ratio, processor=None, score_cutoff=100 * SAME_FILE,
            limit=20,
        ):  # fmt: skip
            yield number, score / 100

    def _build_index(self) -> None:
        if self._indexed:
            return
        self._indexed = True
        for file in self._files.values():
            for hunk in file.hunks:
                for index, removed in enumerate(hunk.removed):
                    text = squeeze(removed)
                    before, after = _neighbours(hunk.removed, index)
                    self._by_text[text].append(len(self._texts))
                    self._texts.append(text)
                    self._places.append(
                        _Deleted(_old_path(file), hunk.old_start + index, before, after)
                    )


def _align(hunk: Hunk) -> dict[int, dict[int, float]]:
    """Added line → removed line → share of the added line's word characters found there.

    Words are aligned over the whole hunk, so that wrapped, joined and split lines find theirs.
    """
    old = [(n, word) for n, line in enumerate(hunk.removed) for word in _WORD.findall(line)]
    new = [(n, word) for n, line in enumerate(hunk.added) for word in _WORD.findall(line)]
    if len(old) * len(new) > MAX_WORD_PRODUCT:
        return {}
    whole: dict[int, int] = defaultdict(int)
    for number, word in new:
        whole[number] += len(word)
    shares: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    matcher = SequenceMatcher(None, [w for _, w in old], [w for _, w in new], autojunk=False)
    for block in matcher.get_matching_blocks():
        for step in range(block.size):
            number, word = new[block.b + step]
            shares[number][old[block.a + step][0]] += len(word) / whole[number]
    return shares


def squeeze(line: str) -> str:
    """A line without whitespace: re-indenting and re-spacing do not change it."""
    return "".join(line.split())


def _hunk_of(file: FileDiff, line: int) -> Hunk | None:
    for hunk in file.hunks:
        if hunk.new_start <= line < hunk.new_start + len(hunk.added):
            return hunk
    return None


def _old_path(file: FileDiff) -> str:
    return file.change.old_path or file.change.path


def _neighbours(lines: Sequence[str], index: int) -> tuple[str, str]:
    before = squeeze(lines[index - 1]) if index > 0 else ""
    after = squeeze(lines[index + 1]) if index + 1 < len(lines) else ""
    return before, after
