"""Prose out of Markdown and reStructuredText: headings, paragraphs, items and code, line by line.

A renderer would give HTML, and take badges, navigation and directives along. What is wanted here is
the plain words of a README or a manual page, each with its line, and nothing that only a browser or
Sphinx understands. What is not recognised stays text; nothing can fail.
"""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from probe.context.blocks import Block
from probe.context.markdown import read_markdown
from probe.context.restructured import read_restructured

LARGEST = 300_000
"""Characters of a page that are read."""


class Section(NamedTuple):
    """What stands below a heading, up to the next heading."""

    heading: str
    """Empty before the first heading."""
    blocks: Sequence[Block]
    level: int


def blocks_of(path: str, text: str) -> list[Block]:
    """The pieces of a document, in order; by the path's ending it is reStructuredText or Markdown."""
    is_rst = PurePosixPath(path).suffix.lower() in {".rst", ".txt"}
    found = (read_restructured if is_rst else read_markdown)(text[:LARGEST])
    return [block for block in found if block.kind == "code" or re.search(r"\w", block.text)]


def sections_of(blocks: Sequence[Block]) -> list[Section]:
    """The document by its headings, in order."""
    sections: list[tuple[str, list[Block], int]] = [("", [], 0)]
    for block in blocks:
        if block.kind == "heading":
            sections.append((block.text, [], block.level))
        else:
            sections[-1][1].append(block)
    return [Section(*section) for section in sections]


_END = re.compile(r"([.!?][\"')\]]*)\s+(?=[A-Z`\"'(\[])")
_BREAK = "\x1e"
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|Dr|No|St)\.$", re.IGNORECASE)


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order; what cannot be told apart stays together."""
    found: list[str] = []
    for part in _END.sub(rf"\1{_BREAK}", text).split(_BREAK):
        if found and _ABBREVIATION.search(found[-1]):
            found[-1] += " " + part
        elif part.strip():
            found.append(part.strip())
    return found
