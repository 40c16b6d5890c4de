"""Syntax trees, shared by what asks about one text several times in a row."""

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from probe.code.languages import parser_for

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

KEPT = 8
"""Trees kept: a fix touches few files, and a tree takes some twenty times its text."""
PATIENCE = 0.1
"""Hundreds of parser steps a byte before a text counts as hopeless: code takes 0.007 to 0.017, random
tokens take 2 and more, quadratically. Steps, not seconds: every machine gives up on the same texts."""
_CHUNK = 65536
_LEAST = 1000


@lru_cache(maxsize=KEPT)
def parse(language: str, text: bytes) -> "Tree":
    """The syntax tree of a text; broken code has one too, hopeless text that of an empty text.

    Raises:
        KeyError: no such language.
    """
    tree = try_parse(language, text)
    return tree if tree is not None else parser_for(language).parse(b"")


def try_parse(language: str, text: bytes) -> "Tree | None":
    """The syntax tree of a text, not kept; None where the parser gives up.

    Raises:
        KeyError: no such language.
    """
    steps, most = 0, _LEAST + int(PATIENCE * len(text))

    def give_up(*_: object) -> bool:
        nonlocal steps
        steps += 1
        return steps > most

    parser = parser_for(language)
    try:
        return parser.parse(
            lambda offset, _: text[offset : offset + _CHUNK], progress_callback=give_up
        )
    except ValueError:
        # the parser would go on with this text at the next one
        parser.reset()
        return None


def touches(node: "Node", rows: Sequence[int]) -> bool:
    """Whether a node covers any of some ascending rows (0-based)."""
    index = bisect_left(rows, node.start_point[0])
    return index < len(rows) and rows[index] <= node.end_point[0]
