"""What readers of markup have in common: pieces of a document, and lines that become one."""

import html
import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

BlockKind = Literal["heading", "text", "item", "code"]

LONGEST = 4_000
"""Characters of a paragraph or item that are read."""

ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?=\S)")
"""How an item of a list begins."""

_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_TEMPLATE = re.compile(r"\{%.*?%\}")
_SPAN = re.compile(r"(`[^`]*`)")


class Block(NamedTuple):
    """A piece of a document."""

    kind: BlockKind
    text: str
    """On one line, but for code."""
    line: int
    """Its first line, 1-based."""
    level: int = 0
    """Of a heading, 1 for the topmost."""


class Reader:
    """Goes through the lines of a document and joins them into paragraphs and items.

    Args:
        lines: the document.
        inline: replacements that turn marks inside a paragraph into plain words.
    """

    def __init__(self, lines: Sequence[str], inline: Sequence[tuple[re.Pattern[str], str]]) -> None:
        self.lines = lines
        self.at = 0
        """Index of the next line."""
        self._inline = inline
        self._held: list[str] = []
        self._kind: BlockKind = "text"
        self._first = 1

    @property
    def holds_text(self) -> bool:
        """Whether a paragraph has begun."""
        return bool(self._held) and self._kind == "text"

    @property
    def is_empty(self) -> bool:
        """Whether neither a paragraph nor an item has begun."""
        return not self._held

    def plain(self, text: str) -> str:
        """A text on one line, without marks, tags and directives of site generators."""
        for pattern, into in self._inline:
            text = pattern.sub(into, text)
        parts = _SPAN.split(text)
        for number in range(0, len(parts), 2):
            parts[number] = html.unescape(_TAG.sub("", _TEMPLATE.sub("", parts[number])))
        return " ".join("".join(parts).split())

    def begin(self, kind: BlockKind, text: str) -> Iterator[Block]:
        """Begin a paragraph or item with the line that was just read."""
        yield from self.flush()
        self._kind, self._first, self._held = kind, self.at, [text]

    def add(self, text: str) -> None:
        """Go on with the line that was just read; a paragraph where nothing has begun."""
        if not self._held:
            self._kind, self._first = "text", self.at
        self._held.append(text)

    def flush(self) -> Iterator[Block]:
        """End what has begun."""
        if self._held:
            yield Block(self._kind, self.plain("\n".join(self._held)[:LONGEST]), self._first)
        self._held = []

    def flush_heading(self, level: int) -> Iterator[Block]:
        """End what has begun as a heading."""
        for block in self.flush():
            yield Block("heading", block.text, block.line, level)

    def code(self, end: int, *, drop: re.Pattern[str] | None = None) -> Iterator[Block]:
        """The lines up to ``end`` as code, without those that match ``drop``."""
        kept = [one for one in self.lines[self.at : end] if drop is None or not drop.match(one)]
        yield Block("code", _dedent(kept), self.at + 1)
        self.at = end

    def indented_end(self, indent: int = 1) -> int:
        """Where the next lines stop being indented by ``indent``; empty lines between are theirs.

        The next line itself where it is not indented so.
        """
        end = self.at
        for number in range(self.at, len(self.lines)):
            line = self.lines[number]
            if line.strip():
                if len(line) - len(line.lstrip()) < indent:
                    break
                end = number + 1
        return end


def _dedent(lines: Sequence[str]) -> str:
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[indent:].rstrip() for line in lines).strip("\n")
