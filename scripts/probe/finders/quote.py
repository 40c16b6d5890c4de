"""Whether lines that a finder names hold the text that it quotes, and where that text stands if not.

Models count lines badly and copy text well, so the quote decides where the two disagree. All
whitespace is left aside in the comparison: quotes are dedented, rewrapped, cut at both ends.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

MIN_QUOTE = 8
"""Characters, whitespace apart, from which a quote that occurs several times says where it is from:
the nearest occurrence counts. A shorter one must occur once."""

MAX_OCCURRENCES = 1_000
"""Occurrences that are looked at; a quote that occurs more often says nothing."""

_NUMBERED = re.compile(r"^\s*\d+\s*(?:\||:|→|\t)\s?")
_DIFF_MARK = re.compile(r"^[-+](?![-+])")
_LEFT_OUT = re.compile(r"^\s*(?:#|//|/\*)?\s*(?:\.\.\.|…|\[\.\.\.\])\s*(?:\*/)?\s*$")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_SPACE = re.compile(r"\s+")


class Squeezed(NamedTuple):
    """A file without its whitespace."""

    text: str
    """All other characters, in order."""
    lines: Sequence[int]
    """The line of each of them, counted from 1."""


class Span(NamedTuple):
    """Lines of a file, counted from 1, inclusive."""

    first: int
    last: int

    def distance(self, other: "Span") -> int:
        """Lines between the nearest ends; 0 where the two overlap."""
        return max(self.first - other.last, other.first - self.last, 0)


class Quoted(NamedTuple):
    """What a quote says of the lines that a finder names."""

    outcome: Literal["agrees", "moved", "unknown"]
    """agrees: the quote stands in or across these lines; moved: it stands elsewhere in the file;
    unknown: it stands nowhere, or says too little to tell."""
    span: Span | None
    """Where it stands, for ``moved``; None otherwise."""


def squeeze(lines: Sequence[str]) -> Squeezed:
    """A file's lines without whitespace."""
    parts = [_SPACE.sub("", line) for line in lines]
    places = [number for number, part in enumerate(parts, 1) for _ in part]
    return Squeezed("".join(parts), places)


def check_quote(quote: str, file: Squeezed, first: int | None, last: int | None) -> Quoted:
    """Hold a quote against a file and the lines that are claimed for it.

    Args:
        quote: as the finder wrote it; a line ``...`` stands for lines left out, and line numbers,
            diff marks or fences around it are seen through.
        file: the file's text.
        first: first line claimed, counted from 1; None or less than 1 where there is none.
        last: last line claimed; None: the first.
    """
    claimed = None
    if first is not None and first >= 1:
        claimed = Span(first, max(first, last or first))
    for pieces in _readings(quote):
        spans = list(_occurrences(pieces, file))
        if not spans or len(spans) > MAX_OCCURRENCES:
            continue
        if claimed is not None and any(span.distance(claimed) == 0 for span in spans):
            return Quoted("agrees", None)
        if len(spans) == 1:
            return Quoted("moved", spans[0])
        if claimed is not None and sum(map(len, pieces)) >= MIN_QUOTE:
            return Quoted("moved", min(spans, key=lambda span: (span.distance(claimed), span)))
    return Quoted("unknown", None)


def _readings(quote: str) -> Iterator[tuple[str, ...]]:
    """The quote as pieces without whitespace, as it is, then without what is put around code."""
    lines = [line for line in quote.split("\n") if line.strip()]
    seen: set[tuple[str, ...]] = set()
    bare = [line for line in lines if not _FENCE.match(line)]
    for reading in (lines, bare, _stripped(bare, _NUMBERED), _stripped(bare, _DIFF_MARK)):
        for pieces in ((_squeezed(reading),), tuple(map(_squeezed, _split(reading)))):
            kept = tuple(piece for piece in pieces if piece)
            if kept and kept not in seen:
                seen.add(kept)
                yield kept


def _stripped(lines: Sequence[str], mark: re.Pattern[str]) -> list[str]:
    """The lines without a mark, where all that are not left out have one; else none."""
    real = [line for line in lines if not _LEFT_OUT.match(line)]
    if not real or not all(mark.match(line) for line in real):
        return []
    return [mark.sub("", line) for line in lines]


def _split(lines: Sequence[str]) -> list[list[str]]:
    """The lines between those that stand for others."""
    pieces: list[list[str]] = [[]]
    for line in lines:
        if _LEFT_OUT.match(line):
            pieces.append([])
        else:
            pieces[-1].append(line)
    return pieces


def _squeezed(lines: Sequence[str]) -> str:
    return _SPACE.sub("", "".join(lines))


def _occurrences(pieces: Sequence[str], file: Squeezed) -> Iterator[Span]:
    """Where the pieces stand one after the other, each as near after the last as it can."""
    start = file.text.find(pieces[0])
    count = 0
    while start >= 0 and count <= MAX_OCCURRENCES:
        end = start + len(pieces[0])
        for piece in pieces[1:]:
            place = file.text.find(piece, end)
            if place < 0:
                return
            end = place + len(piece)
        yield Span(file.lines[start], file.lines[end - 1])
        count += 1
        start = file.text.find(pieces[0], start + 1)
