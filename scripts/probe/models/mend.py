"""The only repairs that are made to a model's JSON in place: fences and stray commas.

Both are marks around or between values, never values: removing them invents nothing. An answer
that was cut, that lacks a field, or that hides in prose is asked again, never completed or
searched for. Text inside strings is never touched, and valid JSON comes back as it is.
"""

import json
import re
from collections.abc import Iterator

_FENCED = re.compile(r"\s*```[a-zA-Z0-9_-]*[ \t]*\r?\n(.*?)\r?\n?[ \t]*```\s*", re.DOTALL)
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"?|\s+|,|[^\s",]+', re.DOTALL)


class DuplicateKeyError(ValueError):
    """An object names a key twice: which of the values is meant is anybody's guess."""


def mend(text: str) -> str:
    """``text`` without a fence around the whole of it and without commas that separate nothing."""
    fenced = _FENCED.fullmatch(text)
    return "".join(_without_stray_commas(fenced[1] if fenced else text))


def parse(text: str) -> object:
    """The JSON value of a mended text.

    Raises:
        DuplicateKeyError: a key occurs twice in one object.
        ValueError: it is not JSON.
    """
    return json.loads(text, object_pairs_hook=_distinct, parse_constant=_no_constant)


def _without_stray_commas(text: str) -> Iterator[str]:
    """All pieces but commas that have a value on one side only, or another comma before them."""
    pieces = _PIECE.findall(text)
    follows = _next_marks(pieces)
    before = ""
    for place, piece in enumerate(pieces):
        if piece == "," and (
            before[-1:] in ("", "[", "{", ",") or follows[place] in ("", "]", "}")
        ):
            continue
        if not piece.isspace():
            before = piece
        yield piece


def _next_marks(pieces: list[str]) -> list[str]:
    """For each piece the first character after it that is neither space nor comma."""
    marks, mark = [""] * len(pieces), ""
    for place in range(len(pieces) - 1, -1, -1):
        marks[place] = mark
        if pieces[place] != "," and not pieces[place].isspace():
            mark = pieces[place][0]
    return marks


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise DuplicateKeyError(f"the key {twice!r} occurs twice in one object")
    return found


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON value")
