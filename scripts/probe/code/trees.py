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


@lru_cache(maxsize=KEPT)
def parse(language: str, text: bytes) -> "Tree":
    """The syntax tree of a text; broken code has one too.

    Raises:
        KeyError: no such language.
    """
    return parser_for(language).parse(text)


def touches(node: "Node", rows: Sequence[int]) -> bool:
    """Whether a node covers any of some ascending rows (0-based)."""
    index = bisect_left(rows, node.start_point[0])
    return index < len(rows) and rows[index] <= node.end_point[0]
