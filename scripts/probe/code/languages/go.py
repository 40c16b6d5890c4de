"""Go: packages are folders, methods stand outside their types, embedded fields give methods."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from probe.code.languages.base import (
    MARKS,
    Export,
    Fields,
    Import,
    Language,
    Shapes,
    TokenKinds,
    UnitKinds,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_QUERY = """
(function_declaration) @unit
(method_declaration) @unit
(type_spec) @unit
(call_expression function: (_) @call)
(short_var_declaration) @bind
(assignment_statement) @bind
(var_spec) @bind
(const_spec) @bind
(field_declaration name: (_)) @bind
(parameter_declaration name: (_)) @bind
(range_clause left: (_) @shadow)
(return_statement (expression_list . (_) @return))
(argument_list [(identifier) (selector_expression)] @ref)
(keyed_element (literal_element) (literal_element (identifier) @ref))
(import_spec) @import
"""

_EMBEDDED = re.compile(r"^\s*\*?([\w.]+)\s*(?:`[^`]*`)?\s*$", re.MULTILINE)


def _language() -> object:
    import tree_sitter_go

    return tree_sitter_go.language()


def _imports(node: "Node", text: str) -> Iterator[Import]:
    path, name = node.child_by_field_name("path"), node.child_by_field_name("name")
    if path is None:
        return
    module = text[path.start_byte : path.end_byte].strip('"`')
    local = text[name.start_byte : name.end_byte] if name is not None else ""
    if local == ".":
        yield Import("", module, None)
    elif local != "_":
        last = re.sub(r"^v\d+$", "", module.rsplit("/", 1)[-1]) or module.split("/")[-2:][0]
        yield Import(local or re.sub(r"^go-|\.v\d+$|-go$", "", last), module, None)


def _exports(node: "Node", text: str) -> Iterator[Export]:
    return iter(())


def _embedded(text: str) -> list[str]:
    """Embedded types of a struct's or an interface's body."""
    return _EMBEDDED.findall(text)


class GoModules:
    """Import paths by the folder that their end names: the module's own prefix is not needed."""

    def __init__(self, paths: Collection[str]) -> None:
        self.folders: dict[str, list[str]] = defaultdict(list)
        for path in sorted(paths):
            self.folders[str(PurePosixPath(path).parent)].append(path)

    def find(self, path: str, module: str) -> str | None:
        """The first file of the package; the longest end of the import path that is a folder."""
        parts = module.split("/")
        if "." not in parts[0] and len(parts) < 2:
            return None
        for start in range(len(parts)):
            folder = "/".join(parts[start:])
            if folder in self.folders:
                return self.folders[folder][0]
        return None

    def inside(self, path: str, name: str) -> str | None:
        """None: packages have no members that are packages."""
        return None

    def siblings(self, path: str) -> tuple[str, ...]:
        """The other files of the package."""
        return tuple(one for one in self.folders[str(PurePosixPath(path).parent)] if one != path)


PLUGIN = Language(
    key="go",
    endings=(".go",),
    family="go",
    grammar=_language,
    units=UnitKinds(
        classes=frozenset({"struct_type"}),
        types=frozenset({"interface_type"}),
        functions=frozenset({"function_declaration", "method_declaration"}),
        methods=frozenset({"method_declaration"}),
        bindings={"type_spec": ("name", "type")},
        wrappers=frozenset({"type_declaration"}),
        owners={"method_declaration": "receiver"},
    ),
    tokens=TokenKinds(
        imports=frozenset({"import_declaration"}),
        blocks=frozenset({"block"}),
        whole=frozenset({"expression_list", "if_statement", "return_statement"}),
    ),
    shapes=Shapes(
        access={
            "selector_expression": ("operand", "field"),
            "qualified_type": ("package", "name"),
        },
        calls={"call_expression": "function", "composite_literal": "type"},
        wraps={
            "parenthesized_expression": None, "unary_expression": "operand", "expression_list": None,
            "literal_element": None,
        },
        literals=frozenset({
            "interpreted_string_literal", "raw_string_literal", "int_literal", "float_literal",
            "func_literal", "nil", "true", "false", "binary_expression", "rune_literal",
        }),
        binds={
            "short_var_declaration": Fields("left", "right"),
            "assignment_statement": Fields("left", "right"),
            "var_spec": Fields("name", "value", "type"),
            "const_spec": Fields("name", "value", "type"),
            "field_declaration": Fields("name", None, "type"),
            "parameter_declaration": Fields("name", None, "type"),
        },
        bases=frozenset({"field_declaration_list", "type_elem"}),
        returns="result",
        first_of_list=True,
    ),
    query=_QUERY,
    imports=_imports,
    exports=_exports,
    modules=GoModules,
    base_names=_embedded,
    shares_names=True,
    test_names=(r"_test\.go$",),
    generated_names=(r"\.pb\.go$", r"_gen\.go$", r"^zz_generated"),
    generated_marks=(*MARKS, b"code generated"),
    common=frozenset({
        "Close", "Error", "Get", "Len", "Less", "Name", "New", "Read", "Reset", "Run", "Set", "Start",
        "Stop", "String", "Swap", "Unwrap", "Write",
    }),
)  # fmt: skip
