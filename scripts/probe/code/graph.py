"""The static call graph of a snapshot: who calls whom, across files, and how sure that is.

Syntax and imports only; nothing is run. A call of a class is an edge to its own constructor where it
defines one, otherwise to the class. A function handed on as a value is an edge too (``callback``):
whoever hands it on decides what it is called with.
"""

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from probe.code.facts import Facts
from probe.code.languages import language_of
from probe.code.project import Project
from probe.code.reading import read_facts
from probe.code.targets import Edges
from probe.code.trees import try_parse
from probe.records import CallEdge, ParsedFile

if TYPE_CHECKING:
    from tree_sitter import Tree

LARGEST = 1_000_000
"""Bytes; a larger file is carried as text."""
MINIFIED = 300
"""A file whose lines are longer than this on average, in bytes, is carried as text."""
DEEPEST = 6000
"""Brackets that are nested or left open: a query over the tree takes time with their square."""
_ROUNDS = 200
_UTF16 = frozenset({b"\xff\xfe", b"\xfe\xff"})
_NO_BRACKETS = bytes(set(range(256)) - set(b"()[]{}"))


class Source(NamedTuple):
    """A file to read."""

    path: str
    text: bytes
    language: str | None
    """Key of its plugin; None: carried as text."""
    text_only: str | None = None
    """Why it is carried as text; None to parse it."""


@dataclass(frozen=True, slots=True)
class CallGraph:
    """What ``callgraph.jsonl`` and ``parsing.jsonl`` hold."""

    edges: list[CallEdge]
    """Sorted by caller's path and line, then the callee's."""
    parsing: list[ParsedFile]
    """Sorted by path."""


def build_callgraph(sources: Iterable[Source]) -> CallGraph:
    """The calls between units of some files.

    Args:
        sources: files in any order, each path once; a file's text and tree are dropped once its
            facts are read, so that a generator keeps memory low.

    Returns:
        Edges between units of these files, and how far each file could be read. The same files give
        the same graph, in whatever order they come.
    """
    with _no_collections():
        read: list[tuple[ParsedFile, Facts | None]] = [_read(source) for source in sources]
        edges = Edges(Project(facts for _, facts in read if facts is not None))
        edges.resolve()
        parsing = [edges.count(parsed) for parsed, _ in sorted(read, key=lambda one: one[0].path)]
        return CallGraph(edges.records(), parsing)


def sources_of(texts: dict[str, bytes]) -> Iterator[Source]:
    """Files by path as sources, their language by the path's ending."""
    for path, text in texts.items():
        yield Source(path, text, language_of(path))


def _read(source: Source) -> tuple[ParsedFile, Facts | None]:
    path, language = source.path, source.language
    why = source.text_only or why_text(source)
    text = source.text
    if text[:2] in _UTF16:
        text = text.decode("utf-16", errors="replace").encode()
    tree = try_parse(language, text) if why is None and language is not None else None
    if tree is None or language is None:
        why = why or f"the parser gives up: hardly any {language} in it"
        return ParsedFile(path=path, language=language, status="text", reason=why), None
    facts = read_facts(path, language, text, tree)
    broken = _first_error(tree) if tree.root_node.has_error else None
    parsed = ParsedFile(
        path=path,
        language=language,
        status="parsed" if broken is None else "partial",
        reason=None if broken is None else f"syntax that the grammar does not know, line {broken}",
        units=len(facts.units),
        calls=len(facts.calls) + facts.unread,
    )
    return parsed, facts


def why_text(source: Source) -> str | None:
    """Why a file is carried as text, in words; None where it is parsed."""
    text = source.text
    if source.language is None:
        return "no grammar"
    if len(text) > LARGEST:
        return f"{len(text)} bytes, more than {LARGEST}"
    if len(text) / (text.count(b"\n") + 1) > MINIFIED:
        return f"minified: lines of more than {MINIFIED} bytes on average"
    if b"\0" in text[:8000] and text[:2] not in _UTF16:
        return "binary"
    opened = _left_open(text)
    if opened > DEEPEST:
        return f"{opened} brackets nested or left open, more than {DEEPEST}"
    return None


def _left_open(text: bytes) -> int:
    """Brackets that are left when pairs are taken away from the inside for some rounds."""
    brackets = text.translate(None, _NO_BRACKETS)
    for _ in range(_ROUNDS):
        if len(brackets) <= DEEPEST:
            break
        size = len(brackets)
        brackets = brackets.replace(b"()", b"").replace(b"[]", b"").replace(b"{}", b"")
        if len(brackets) == size:
            break
    return len(brackets)


def _first_error(tree: "Tree") -> int:
    """Line of the first syntax error of a tree that has one."""
    node = tree.root_node
    while not (node.is_error or node.is_missing):
        inner = next((child for child in node.children if child.has_error), None)
        if inner is None:
            break
        node = inner
    return node.start_point[0] + 1


@contextmanager
def _no_collections() -> Iterator[None]:
    """Nothing that the graph makes is a cycle before its end, and looking for some costs a third."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
