"""Markdown as plain pieces, without badges, links, tables and HTML."""

import re
from collections.abc import Iterator

from probe.context.blocks import ITEM, Block, Reader

_FENCE = re.compile(r"^\s*(?:[-*+>]\s+)*(`{3,}|~{3,})")
_ATX = re.compile(r"^\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_TITLE_TAG = re.compile(r"^\s*<h([1-6])\b[^>]*>(.*?)(?:</h\1>|$)", re.IGNORECASE)
_UNDERLINE = re.compile(r"^(=+|-{2,})\s*$")
_NOTHING = re.compile(r"^\s*$|^\s*([-*_=])(?:\s*\1){2,}\s*$|^\s*\||^\s{0,3}\[[^\]]+\]:\s*\S+")
"""Empty lines, rules, rows of tables, targets of links."""
_INDENTED = re.compile(r"^(?: {4}|\t)")
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_OPENS = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})|(?P<span>`[^`\n]+`)|(?P<comment><!--)"
    r"|<(?P<tag>script|style|svg|table|picture)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""Where something begins that browsers do not show as text, or code, in which the same is text."""
_INLINE = (
    (re.compile(r"\[!\[[^\]]*\]\([^)]*\)\]\([^)]*\)"), ""),
    (re.compile(r"\[!\[[^\]]*\](?:\[[^\]]*\]|\([^)]*\))\](?:\[[^\]]*\])?"), ""),
    (re.compile(r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])"), ""),
    (re.compile(r"\[([^\[\]]*)\]\([^()]*(?:\([^()]*\)[^()]*)*\)"), r"\1"),
    (re.compile(r"\[([^\[\]]+)\]\[[^\[\]]*\]"), r"\1"),
    (re.compile(r"\[!(?:NOTE|TIP|WARNING|IMPORTANT|CAUTION)\]", re.IGNORECASE), ""),
    (re.compile(r"(?<![\w*])\*\*\*?(?=\S)(.+?)(?<=\S)\*\*\*?(?!\w)"), r"\1"),
    (re.compile(r"(?<![\w_])__(?=\S)(.+?)(?<=\S)__(?![\w_])"), r"\1"),
    (re.compile(r"(?<![\w:]):[a-z0-9_+-]+:(?![\w:])"), ""),
    (re.compile(r"<(https?://[^<>\s]+)>"), r"\1"),
)


def read_markdown(text: str) -> Iterator[Block]:
    """The pieces of a Markdown document, in order."""
    text = _shown(_FRONT.sub(lambda found: "\n" * found[0].count("\n"), text))
    reader = Reader(text.split("\n"), _INLINE)
    while reader.at < len(reader.lines):
        line = reader.lines[reader.at]
        reader.at += 1
        yield from _read(reader, line)
    yield from reader.flush()


def _read(reader: Reader, line: str) -> Iterator[Block]:
    fence = _FENCE.match(line)
    title = _ATX.match(line) or _TITLE_TAG.match(line)
    if fence:
        yield from reader.flush()
        end = _fence_end(reader, fence[1])
        yield from reader.code(end)
        reader.at = end + 1
    elif title:
        level = len(title[1]) if title[1].startswith("#") else int(title[1])
        yield from reader.flush()
        yield Block("heading", reader.plain(title[2]), reader.at, level)
    elif reader.holds_text and _UNDERLINE.match(line):
        yield from reader.flush_heading(1 if line[0] == "=" else 2)
    elif _NOTHING.match(line):
        yield from reader.flush()
    elif item := ITEM.match(line):
        yield from reader.begin("item", line[item.end() :])
    elif _INDENTED.match(line) and reader.is_empty:
        reader.at -= 1
        yield from reader.code(reader.indented_end())
    else:
        reader.add(re.sub(r"^\s*>\s?", "", line))


def _fence_end(reader: Reader, fence: str) -> int:
    closing = re.compile(rf"^\s*(?:>\s*)*{re.escape(fence[0])}{{{len(fence)},}}\s*$")
    lines = range(reader.at, len(reader.lines))
    return next((n for n in lines if closing.match(reader.lines[n])), len(reader.lines))


def _shown(text: str) -> str:
    """The document without what browsers hide; lines keep their numbers.

    An end that is missing is looked for once, however often it is missing.
    """
    kept: list[str] = []
    unclosed: set[str] = set()
    at = 0
    while found := _OPENS.search(text, at):
        end = None
        if found["span"] is None and (closes := _closes(found)) not in unclosed:
            end = re.compile(closes, re.IGNORECASE | re.MULTILINE).search(text, found.end())
            unclosed |= set() if end else {closes}
        if end is None:
            kept.append(text[at : found.end()])
            at = found.end()
            continue
        inside = text[found.start() : end.end()]
        kept += [text[at : found.start()], inside if found["fence"] else "\n" * inside.count("\n")]
        at = end.end()
    return "".join([*kept, text[at:]])


def _closes(found: re.Match[str]) -> str:
    if found["fence"]:
        return rf"^[ \t]*{found['fence'][0]}{{{len(found['fence'])},}}"
    return "-->" if found["comment"] else rf"</{found['tag'].lower()}>"
