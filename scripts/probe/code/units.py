"""Functions, methods, classes and named types of a source text, with qualified names.

Syntax only, by tree-sitter, which yields a tree for broken code too: a fix's parent may not parse,
and a snapshot must never stop the workflow. The qualified name is what survives when lines move.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from probe.code.languages import LANGUAGES
from probe.code.languages.base import UnitKinds
from probe.code.trees import parse, touches

if TYPE_CHECKING:
    from tree_sitter import Node, TreeCursor

UnitKind = Literal["function", "method", "class", "type"]


class Unit(NamedTuple):
    """A named piece of a file; lines are 1-based and inclusive."""

    name: str
    """Names of the enclosing units and of the unit itself, joined by dots."""
    kind: UnitKind
    first: int
    """First line, decorators included."""
    last: int
    head_first: int
    """The line that carries the name or keyword, after decorators."""
    head_last: int
    """The last line before the body's first: the end of the signature."""


_Scope = tuple[int, str, bool] | tuple[int, str, bool, int]


def find_units(language: str, text: bytes, lines: Iterable[int] | None = None) -> list[Unit]:
    """The units of a text, in order of their first line, outer before inner.

    Args:
        language: a key of :data:`probe.code.languages.LANGUAGES`.
        text: the file's bytes in any encoding; undecodable names are replaced.
        lines: only the units that hold one of these lines (1-based), which is far quicker; all
            units by default.

    Returns:
        An empty list for text without units, however broken it is.

    Raises:
        KeyError: no such language.
    """
    rows = None if lines is None else sorted({line - 1 for line in lines})
    kinds = LANGUAGES[language].units
    units = list(_walk(kinds, text, parse(language, text).walk(), rows))
    return sorted(units, key=lambda unit: (unit.first, -unit.last, unit.name))


def enclosing_unit(units: Sequence[Unit], line: int) -> Unit | None:
    """The innermost unit that holds a line, None at module level."""
    holding = [unit for unit in units if unit.first <= line <= unit.last]
    return min(holding, key=lambda unit: (unit.last - unit.first, -unit.first), default=None)


def _walk(
    kinds: UnitKinds, text: bytes, cursor: "TreeCursor", rows: Sequence[int] | None
) -> Iterator[Unit]:
    """Depth-first without recursion: generated code nests deeper than Python's stack."""
    scopes: list[tuple[int, str, bool]] = []
    depth = 0
    while True:
        node = cursor.node
        wanted = rows is None or (node is not None and touches(node, rows))
        if node is not None and node.is_named and wanted:
            found = unit_at(kinds, node, scopes, text)
            if found is not None:
                name, unit = found
                scopes.append((depth, name, unit is not None and unit.kind == "class"))
                if unit is not None:
                    yield unit
        if wanted and cursor.goto_first_child():
            depth += 1
            continue
        _leave(scopes, depth)
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            depth -= 1
            _leave(scopes, depth)


def _leave(scopes: list[tuple[int, str, bool]], depth: int) -> None:
    while scopes and scopes[-1][0] >= depth:
        scopes.pop()


def unit_at(
    kinds: UnitKinds, node: "Node", scopes: Sequence[_Scope], text: bytes
) -> tuple[str, Unit | None] | None:
    """The scope that a node opens, with its unit where it is one; None for all other nodes.

    Args:
        kinds: the language's node types.
        node: any node.
        scopes: the scopes around it, outer first: the second of each is its name, the third whether
            it is a class.
        text: the file's bytes.
    """
    kind = node.type
    value: Node | None = node
    if kind in kinds.bindings:
        name_field, value_field = kinds.bindings[kind]
        name = _text(node.child_by_field_name(name_field), text)
        value = node.child_by_field_name(value_field)
    elif (
        kind in kinds.functions
        or kind in kinds.classes
        or kind in kinds.types
        or kind in kinds.namespaces
    ):
        name = _text(node.child_by_field_name("name"), text)
    elif kind in kinds.defaults:
        value = node.child_by_field_name(kinds.defaults[kind])
        name = "default" if value is not None and not value.child_by_field_name("name") else ""
    else:
        return None
    if not name or value is None:
        return None
    unit_kind = _kind(kinds, value.type, in_class=bool(scopes) and scopes[-1][2])
    if unit_kind is None:
        is_scope = value.type in kinds.namespaces or value.type in kinds.objects
        return (name, None) if is_scope else None
    owner = _owner(node, kinds.owners[kind], text) if kind in kinds.owners else ""
    qualified = ".".join([scope[1] for scope in scopes] + [owner + name])
    return name, _make(kinds, qualified, unit_kind, node, value)


def _kind(kinds: UnitKinds, node_type: str, *, in_class: bool) -> UnitKind | None:
    if node_type in kinds.classes:
        return "class"
    if node_type in kinds.types:
        return "type"
    if node_type in kinds.functions or node_type in kinds.values:
        return "method" if in_class or node_type in kinds.methods else "function"
    return None


def _owner(node: "Node", field: str, text: bytes) -> str:
    """The type whose method stands outside it: the last name of the receiver ``(s *Store[T])``."""
    receiver = node.child_by_field_name(field)
    if receiver is None:
        return ""
    written = text[receiver.start_byte : receiver.end_byte][:200].decode("utf-8", "replace")
    names = re.findall(r"[^\W\d]\w*", written.split("[")[0])
    return f"{names[-1]}." if names else ""


def _make(kinds: UnitKinds, name: str, kind: UnitKind, node: "Node", value: "Node") -> Unit:
    outer = node
    while outer.parent is not None and outer.parent.type in kinds.wrappers:
        outer = outer.parent
    body = value.child_by_field_name("body")
    head_first = node.start_point[0] + 1
    head_last = head_first
    if body is not None:
        body_line = body.start_point[0] + 1
        head_last = max(head_first, body_line - (body.type in kinds.indented))
    return Unit(name, kind, outer.start_point[0] + 1, _last_line(outer), head_first, head_last)


def _last_line(node: "Node") -> int:
    row, column = node.end_point
    return max(node.start_point[0] + 1, row + (1 if column else 0))


def _text(node: "Node | None", text: bytes) -> str:
    """A name as written, without quotes, brackets and the ``prototype`` step."""
    if node is None:
        return ""
    start, end = node.start_byte, node.end_byte
    written = text[start:end].decode("utf-8", errors="replace") if end - start <= 800 else ""
    if len(written) > 200 or "\n" in written:
        return ""
    return written.strip("\"'`[]").replace(".prototype.", ".")
