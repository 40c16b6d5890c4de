"""What programmers wrote beside the code: comments and docstrings, each with its line and its unit."""

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from probe.code.languages import LANGUAGES, parser_for
from probe.code.trees import parse

if TYPE_CHECKING:
    from tree_sitter import Node, Query


class Comment(NamedTuple):
    """A comment, adjacent line comments joined, or a string that stands alone."""

    text: str
    """Without its marks; line breaks are kept."""
    line: int
    """First line, 1-based."""
    last: int
    """Last line."""
    is_string: bool
    """A docstring, or a string that is used like one."""


_QUOTES = re.compile(r"^[rRuUbB]{0,2}('''|\"\"\"|'|\")(.*?)\1?$", re.DOTALL)
_BLOCK_MARKS = re.compile(r"^\s*\*+ ?", re.MULTILINE)
_LINE_MARKS = re.compile(r"^\s*(?:#+!?:?|//+[/!]?|--)\s?")
TOOL_REMARK = re.compile(
    r"copyright|licen[cs]e|eslint|prettier|istanbul|c8 ignore|@ts-|@flow|@format|pylint|noqa|mypy:"
    r"|flake8|isort|type: ignore|coding[:=]|^!|<reference|use strict|@jest|sourceMappingURL|jshint"
    r"|jslint|globals? |fmt: o|pragma:",
    re.IGNORECASE,
)
"""Comments for tools and lawyers, which say nothing of the program."""


@cache
def _query(language: str) -> "Query":
    from tree_sitter import Query

    grammar = parser_for(language).language
    if grammar is None:
        raise KeyError(language)
    kinds = sorted(kind for kind in LANGUAGES[language].tokens.comments if _has(language, kind))
    patterns = [f"({kind}) @comment" for kind in kinds]
    if _has(language, "expression_statement") and _has(language, "string"):
        patterns.append("(expression_statement (string) @string)")
    return Query(grammar, "\n".join(patterns))


def _has(language: str, kind: str) -> bool:
    grammar = parser_for(language).language
    return grammar is not None and grammar.id_for_node_kind(kind, True) is not None


def comments_of(language: str, text: str) -> list[Comment]:
    """The comments of a file, in order of their lines.

    Args:
        language: a key of :data:`probe.code.languages.LANGUAGES`.
        text: the file.
    """
    from tree_sitter import QueryCursor

    data = text.encode("utf-8", errors="replace")
    captures = QueryCursor(_query(language)).captures(parse(language, data).root_node)
    nodes = [(node, name == "string") for name, found in captures.items() for node in found]
    nodes.sort(key=lambda pair: (pair[0].start_byte, pair[0].end_byte))
    return list(_joined(data, nodes))


def _joined(data: bytes, nodes: "list[tuple[Node, bool]]") -> Iterator[Comment]:
    held: Comment | None = None
    column = -1
    for node, is_string in nodes:
        raw = data[node.start_byte : node.end_byte].decode("utf-8", errors="replace")
        line, last = node.start_point[0] + 1, node.end_point[0] + 1
        is_line = not is_string and _LINE_MARKS.match(raw) is not None
        one = Comment(_plain(raw, is_string), line, last, is_string)
        follows = held is not None and line == held.last + 1 and node.start_point[1] == column
        if held is not None and is_line and follows:
            held = held._replace(text=f"{held.text}\n{one.text}", last=last)
            continue
        if held is not None:
            yield held
            held = None
        if is_line:
            held, column = one, node.start_point[1]
        else:
            yield one
    if held is not None:
        yield held


def _plain(raw: str, is_string: bool) -> str:
    if is_string:
        found = _QUOTES.match(raw)
        return (found[2] if found else raw).strip()
    if raw.startswith("/*"):
        return _BLOCK_MARKS.sub("", raw[2:].removesuffix("*/").lstrip("*")).strip()
    return _LINE_MARKS.sub("", raw).rstrip()


def head_comment(text: str, comments: list[Comment]) -> str:
    """What a file says of itself at its top; empty where it says nothing.

    Licences and remarks to tools are passed over. A comment right above the first unit is that
    unit's, unless it is marked as the file's or an empty line follows it.
    """
    lines = text.split("\n")
    below = 1
    for comment in comments:
        while below < comment.line and not lines[below - 1].strip():
            below += 1
        if comment.line > below:
            return ""
        below = comment.last + 1
        says = comment.text.strip()
        if not says or TOOL_REMARK.search(says[:300]):
            continue
        after = lines[comment.last].strip() if comment.last < len(lines) else ""
        marked = re.search(r"@(?:file|fileoverview|module|packageDocumentation|overview)\b", says)
        if comment.is_string or not after or marked or after.startswith(("import", "require")):
            return re.sub(r"@\w+\s*", "", says)
        return ""
    return ""


def plain_marks(text: str) -> str:
    """A text with the marks of Sphinx and JSDoc for code (roles, links) as plain backticks."""
    text = re.sub(r"``(.+?)``", r"`\1`", text)
    text = re.sub(r":[\w:]+:`[~!]?([^`]+)`", r"`\1`", text)
    return re.sub(r"\{@\w+ ([^}]+)\}", r"`\1`", text)


def first_sentence(text: str, limit: int = 160) -> str:
    """The first sentence of a comment on one line, cut at a word; markup marks taken away."""
    text = re.sub(r"^\s*(?:#{1,6}\s.*|\.\. .*|[-=~^*]{3,}\s*)$", "", text, flags=re.MULTILINE)
    paragraph = re.split(
        r"\n\s*(?:\n|@\w|:\w+|[-=~^*]{3,}\s*(?:\n|$)|>>>|\.\. )", text.strip() + "\n"
    )[0]
    plain = plain_marks(" ".join(paragraph.split()))
    if re.fullmatch(r"(?:see:?\s+)?https?://\S+", plain, re.IGNORECASE):
        return ""
    found = re.match(r"(.{12,}?[.!?])(?:\s+[A-Z`(]|$)", plain)
    sentence = found[1] if found else plain
    if len(sentence) <= limit:
        return sentence
    return sentence[: limit - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + " …"
