"""Functions, methods, classes and named types of a source text, with qualified names.

Syntax only, by tree-sitter, which yields a tree for broken code too: a fix's parent may not parse,
and a snapshot must never stop the workflow. The qualified name is what survives when lines move.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from probe.code.trees import parse, touches

if TYPE_CHECKING:
    from tree_sitter import Node, TreeCursor

UnitKind = Literal["function", "method", "class", "type"]


@dataclass(frozen=True, slots=True)
class Unit:
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


_CLASSES = {
    "class_definition",
    "class_declaration",
    "abstract_class_declaration",
    "class",
}
_TYPES = {"interface_declaration", "type_alias_declaration", "enum_declaration"}
_FUNCTIONS = {
    "function_definition",
    "function_declaration",
    "generator_function_declaration",
    "method_definition",
    "function_signature",
    "abstract_method_signature",
}
_VALUES = {"arrow_function", "function_expression", "function", "generator_function", "class"}
_NAMESPACES = {"internal_module", "module"}
_BINDINGS = {
    "variable_declarator": ("name", "value"),
    "assignment_expression": ("left", "right"),
    "pair": ("key", "value"),
    "public_field_definition": ("name", "value"),
    "field_definition": ("property", "value"),
}
_WRAPPERS = {"decorated_definition", "export_statement", "lexical_declaration"}


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
    units = list(_walk(parse(language, text).walk(), rows))
    return sorted(units, key=lambda unit: (unit.first, -unit.last, unit.name))


def enclosing_unit(units: Sequence[Unit], line: int) -> Unit | None:
    """The innermost unit that holds a line, None at module level."""
    holding = [unit for unit in units if unit.first <= line <= unit.last]
    return min(holding, key=lambda unit: (unit.last - unit.first, -unit.first), default=None)


def _walk(cursor: "TreeCursor", rows: Sequence[int] | None) -> Iterator[Unit]:
    """Depth-first without recursion: generated code nests deeper than Python's stack."""
    scopes: list[tuple[int, str, bool]] = []
    depth = 0
    while True:
        node = cursor.node
        wanted = rows is None or (node is not None and touches(node, rows))
        if node is not None and node.is_named and wanted:
            found = _unit_at(node, scopes)
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


def _unit_at(
    node: "Node", scopes: Sequence[tuple[int, str, bool]]
) -> tuple[str, Unit | None] | None:
    """The scope that a node opens, with its unit where it is one; None for all other nodes."""
    kind = node.type
    value: Node | None = node
    if kind in _CLASSES or kind in _FUNCTIONS or kind in _TYPES or kind in _NAMESPACES:
        name = _text(node.child_by_field_name("name"))
    elif kind in _BINDINGS:
        name_field, value_field = _BINDINGS[kind]
        name = _text(node.child_by_field_name(name_field))
        value = node.child_by_field_name(value_field)
    else:
        return None
    if not name or value is None:
        return None
    unit_kind = _kind(value.type, in_class=bool(scopes) and scopes[-1][2])
    if unit_kind is None:
        return (name, None) if value.type in _NAMESPACES | {"object"} else None
    qualified = ".".join([scope[1] for scope in scopes] + [name])
    return name, _make(qualified, unit_kind, node, value)


def _kind(node_type: str, *, in_class: bool) -> UnitKind | None:
    if node_type in _CLASSES:
        return "class"
    if node_type in _TYPES:
        return "type"
    if node_type in _FUNCTIONS or node_type in _VALUES:
        return "method" if in_class or node_type == "method_definition" else "function"
    return None


def _make(name: str, kind: UnitKind, node: "Node", value: "Node") -> Unit:
    outer = node
    while outer.parent is not None and outer.parent.type in _WRAPPERS:
        outer = outer.parent
    body = value.child_by_field_name("body")
    head_first = node.start_point[0] + 1
    head_last = head_first
    if body is not None:
        # a Python body starts on its own line, a brace on the signature's
        body_line = body.start_point[0] + 1
        head_last = max(head_first, body_line - (body.type == "block"))
    return Unit(name, kind, outer.start_point[0] + 1, _last_line(outer), head_first, head_last)


def _last_line(node: "Node") -> int:
    row, column = node.end_point
    return max(node.start_point[0] + 1, row + (1 if column else 0))


def _text(node: "Node | None") -> str:
    """A name as written, without quotes, brackets and the ``prototype`` step."""
    if node is None or node.text is None:
        return ""
    text = node.text.decode("utf-8", errors="replace")
    if len(text) > 200 or "\n" in text:
        return ""
    return text.strip("\"'`[]").replace(".prototype.", ".")
