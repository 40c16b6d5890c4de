"""Which tokens of a text mean something to the program, line by line.

A diff shows lines; whether a hunk can change behaviour is a question about tokens. Comparing the
streams of both sides finds re-wrapped, re-quoted, commented and re-imported code, which a
line-based comparison takes for changes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from probe.code.languages import LANGUAGES
from probe.code.languages.base import TokenKinds
from probe.code.trees import parse, touches

if TYPE_CHECKING:
    from tree_sitter import Node, TreeCursor

TokenKind = Literal["code", "comment", "import", "annotation"]


@dataclass(frozen=True, slots=True)
class Token:
    """A leaf of the syntax tree, or one line's part of a leaf that spans lines."""

    text: str
    kind: TokenKind
    depth: int
    """How many statement blocks hold it: in Python a re-indented statement changes this alone."""


_CLOSING = {")", "]", "}"}


def line_tokens(language: str, text: bytes, wanted: Iterable[int]) -> dict[int, list[Token]]:
    """Tokens of the wanted lines (1-based), in order, with what each is for.

    Docstrings and other strings that stand alone as statements count as comments. Python's type
    annotations are told apart from code; TypeScript's are code, since a wrong public type is a
    defect there. Commas before a closing bracket on a later line, and semicolons, are left out:
    formatters add and remove them, and parentheses that group nothing. Quotes are normalised.

    Raises:
        KeyError: no such language.
    """
    rows = sorted({line - 1 for line in wanted})
    found: dict[int, list[Token]] = {row + 1: [] for row in rows}
    if rows:
        _Collector(language, text, rows, found).walk(parse(language, text).walk())
    return found


class _Collector:
    """A depth-first walk that skips subtrees without a wanted line."""

    def __init__(
        self, language: str, text: bytes, rows: list[int], found: dict[int, list[Token]]
    ) -> None:
        self.text = text
        self.kinds = LANGUAGES[language].tokens
        self.rows = rows
        self.found = found
        self.depth = 0
        self.marks: list[tuple[int, TokenKind]] = []
        self.blocks: list[int] = []

    def walk(self, cursor: "TreeCursor") -> None:
        while True:
            node = cursor.node
            if node is not None and touches(node, self.rows):
                self._mark(node)
                if node.child_count == 0:
                    self._leaf(node)
                elif cursor.goto_first_child():
                    self.depth += 1
                    continue
            self._leave()
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return
                self.depth -= 1
                self._leave()

    def _mark(self, node: "Node") -> None:
        kind, kinds = node.type, self.kinds
        if kind in kinds.blocks:
            self.blocks.append(self.depth)
        if kind in kinds.comments or (kind == "expression_statement" and _is_bare_string(node)):
            self.marks.append((self.depth, "comment"))
        elif kind in kinds.imports:
            self.marks.append((self.depth, "import"))
        elif kind in kinds.annotations:
            self.marks.append((self.depth, "annotation"))

    def _leave(self) -> None:
        while self.marks and self.marks[-1][0] >= self.depth:
            self.marks.pop()
        while self.blocks and self.blocks[-1] >= self.depth:
            self.blocks.pop()

    def _leaf(self, node: "Node") -> None:
        if node.type == ";" or _is_trailing_comma(node):
            return
        if node.type in {"(", ")"} and _groups_nothing(self.kinds, node):
            return
        kind = self.marks[0][1] if self.marks else "code"
        if self.kinds.annotations and node.type in {":", "->"} and _annotates(node):
            kind = "annotation"
        text = self.text[node.start_byte : node.end_byte].decode("utf-8", errors="replace")
        if node.type in {"string_start", "string_end", '"', "'"}:
            text = text.replace("'", '"')
        for offset, part in enumerate(text.split("\n")):
            row = node.start_point[0] + offset + 1
            if row in self.found and part.strip():
                self.found[row].append(Token(part.strip(), kind, len(self.blocks)))


def _annotates(node: "Node") -> bool:
    return node.next_sibling is not None and node.next_sibling.type == "type"


def _is_bare_string(node: "Node") -> bool:
    return node.named_child_count == 1 and node.named_children[0].type in {
        "string",
        "concatenated_string",
    }


def _groups_nothing(kinds: TokenKinds, node: "Node") -> bool:
    """Parentheses around a whole right side or condition, or around one bare arrow parameter."""
    held = node.parent
    outer = held.parent if held is not None else None
    if held is None or outer is None:
        return False
    if held.type == "parenthesized_expression":
        return outer.type in kinds.whole
    return (
        held.type == "formal_parameters"
        and outer.type in kinds.arrows
        and [child.type for child in held.named_children]
        in [[kind] for kind in kinds.bare_parameters]
        and held.named_children[0].child_count <= 1
    )


def _is_trailing_comma(node: "Node") -> bool:
    if node.type != ",":
        return False
    after = node.next_sibling
    return (
        after is not None and after.type in _CLOSING and after.start_point[0] > node.start_point[0]
    )
