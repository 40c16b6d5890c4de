"""reStructuredText as plain pieces, without roles, substitutions, tables and most directives."""

import re
from collections.abc import Iterator

from probe.context.blocks import ITEM, Block, Reader

_UNDERLINE = re.compile(r"^([=\-~^\"'`#*+.:_])\1{2,}\s*$")
_TABLE = re.compile(r"^\s*(?:\|.*\|\s*$|\+[-=+]{3,}|={2,}\s+={2,})")
_DIRECTIVE = re.compile(r"^(\s*)\.\.\s+(?:\|[^|]+\|\s+)?([\w:+-]+)::\s*(.*)$")
_COMMENT = re.compile(r"^(\s*)\.\.(?:\s|$)")
_FIELD = re.compile(r"^\s*:[\w -]+:(?:\s|$)")
_ADMONITIONS = {
    "note", "warning", "caution", "important", "attention", "danger", "hint", "tip", "versionadded",
    "versionchanged", "deprecated", "admonition",
}  # fmt: skip
_TITLED = {"versionadded", "versionchanged", "deprecated", "admonition"}
"""Directives with text, whose first line is not part of it."""
_CODE = {
    "code-block", "code", "sourcecode", "highlight", "doctest", "parsed-literal", "testcode", "example",
    "ipython",
}  # fmt: skip
_INLINE = (
    (re.compile(r"``(.+?)``"), r"`\1`"),
    (re.compile(r":[\w:+-]+:`[~!]?([^`<]*?)\s*<[^`]*>`"), r"`\1`"),
    (re.compile(r":[\w:+-]+:`[~!]?([^`]+)`"), r"`\1`"),
    (re.compile(r"`([^`<]+?)\s*<[^`]*>`_{0,2}"), r"\1"),
    (re.compile(r"`([^`]+)`_{1,2}(?!\w)"), r"\1"),
    (re.compile(r"\|[\w .-]+\|_{0,2}"), ""),
    (re.compile(r"(?<![\w*])\*\*(?=\S)(.+?)(?<=\S)\*\*(?!\w)"), r"\1"),
    (re.compile(r"(?<=\w)_{1,2}(?=[\s.,;:)]|$)"), ""),
    (re.compile(r"\[[\w#*]+\]_"), ""),
)


def read_restructured(text: str) -> Iterator[Block]:
    """The pieces of a reStructuredText document, in order."""
    reader = Reader(text.expandtabs(4).split("\n"), _INLINE)
    marks: list[str] = []
    while reader.at < len(reader.lines):
        line = reader.lines[reader.at]
        reader.at += 1
        if not line.strip() or _FIELD.match(line) or _TABLE.match(line):
            yield from reader.flush()
        elif _DIRECTIVE.match(line) or _COMMENT.match(line):
            yield from reader.flush()
            yield from _directive(reader, line)
        elif reader.is_empty and (heading := _heading(reader, line, marks)) is not None:
            yield heading
        else:
            yield from _words(reader, line)
    yield from reader.flush()


def _directive(reader: Reader, line: str) -> Iterator[Block]:
    """Text of a note, code of an example; the rest is passed over."""
    found = _DIRECTIVE.match(line)
    name = found[2] if found else ""
    if name in _ADMONITIONS:
        if found and found[3] and name not in _TITLED:
            reader.add(found[3])
        return
    end = reader.indented_end(len(line) - len(line.lstrip()) + 1)
    if name in _CODE:
        yield from reader.code(end, drop=_FIELD)
    reader.at = end


def _heading(reader: Reader, line: str, marks: list[str]) -> Block | None:
    """A heading that begins with this line, under its own mark or between two; None for others."""
    after = reader.lines[reader.at : reader.at + 2]
    if _UNDERLINE.match(line) and len(after) == 2 and _UNDERLINE.match(after[1]):
        reader.at += 2
        return Block("heading", reader.plain(after[0]), reader.at - 1, _level(marks, line[0] * 2))
    if line[:1] != " " and after and _UNDERLINE.match(after[0]):
        reader.at += 1
        return Block("heading", reader.plain(line), reader.at - 1, _level(marks, after[0][0]))
    return None


def _words(reader: Reader, line: str) -> Iterator[Block]:
    """A line of a paragraph or item, and the code that it introduces."""
    introduces = line.rstrip().endswith("::")
    text = line.rstrip()[:-1] if introduces else line
    if item := ITEM.match(text):
        yield from reader.begin("item", text[item.end() :])
    else:
        reader.add(text)
    if introduces:
        yield from reader.flush()
        end = reader.indented_end(len(line) - len(line.lstrip()) + 1)
        if end > reader.at:
            yield from reader.code(end)


def _level(marks: list[str], mark: str) -> int:
    if mark not in marks:
        marks.append(mark)
    return marks.index(mark) + 1
