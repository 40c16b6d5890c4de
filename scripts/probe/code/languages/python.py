"""Python: packages by their ``__init__.py``, star imports, decorators, ``self`` and ``super()``."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from probe.code.languages.base import (
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
(function_definition) @unit
(class_definition) @unit
(call function: (_) @call)
(decorator (_) @deco)
(assignment) @bind
(named_expression) @bind
(typed_parameter) @bind
(typed_default_parameter) @bind
(as_pattern) @bind
(parameters (identifier) @shadow)
(default_parameter name: (identifier) @shadow)
(lambda_parameters (identifier) @shadow)
(for_statement left: (_) @shadow)
(for_in_clause left: (_) @shadow)
(return_statement (_) @return)
(argument_list [(identifier) (attribute)] @ref)
(keyword_argument value: [(identifier) (attribute)] @ref)
(pair value: [(identifier) (attribute)] @ref)
(import_statement) @import
(import_from_statement) @import
"""

_COMMENT = re.compile(r"#[^\n]*|\\\n")
_TYPE_OF = re.compile(r"type\((\w+)\)")
_FROM = re.compile(r"from\s*([.\s]*[\w.\x80-\xff]*)\s*import\b\s*(.*)", re.DOTALL)


def _language() -> object:
    import tree_sitter_python

    return tree_sitter_python.language()


def _imports(node: "Node", text: str) -> Iterator[Import]:
    """By text: the statement has no nesting that a comma could hide in."""
    written = _COMMENT.sub(" ", text[node.start_byte : node.end_byte])
    if written.startswith("import"):
        for part in written[6:].split(","):
            words = part.split()
            if len(words) == 3:
                yield Import(words[2], words[0], None)
            elif words:
                yield Import(words[0].split(".", 1)[0], words[0].split(".", 1)[0], None)
        return
    found = _FROM.match(written)
    if found is None:
        return
    module = "".join(found[1].split())
    for part in found[2].strip("() \n\t").split(","):
        words = part.split()
        if words == ["*"]:
            yield Import("", module, None)
        elif words:
            yield Import(words[-1], module, words[0])


def _exports(node: "Node", text: str) -> Iterator[Export]:
    return iter(())


def _special(node: "Node", text: str) -> str | None:
    """``type(self)`` as ``self.__class__``."""
    start = node.start_byte
    if not text.startswith("type(", start):
        return None
    found = _TYPE_OF.fullmatch(text[start : min(node.end_byte, start + 60)])
    return f"{found[1]}.__class__" if found else None


class PythonModules:
    """Dotted names: from the package's root, which is the folder above its topmost ``__init__``."""

    def __init__(self, paths: Collection[str]) -> None:
        self.paths = frozenset(paths)
        self.names: dict[str, list[str]] = defaultdict(list)
        self.folders: dict[str, str] = {}
        for path in sorted(self.paths, key=lambda one: (one.endswith(".pyi"), one)):
            self.names[self._name(path)].append(path)

    def _name(self, path: str) -> str:
        pure = PurePosixPath(path)
        parts = [] if pure.stem == "__init__" else [pure.stem]
        folder = pure.parent
        while folder.name and self._is_package(str(folder)):
            parts.append(folder.name)
            folder = folder.parent
        return ".".join(reversed(parts))

    def _is_package(self, folder: str) -> bool:
        return f"{folder}/__init__.py" in self.paths or f"{folder}/__init__.pyi" in self.paths

    def find(self, path: str, module: str) -> str | None:
        """Relative names from the file's folder; absolute ones by the roots, the nearest first."""
        if module.startswith("."):
            name = module.lstrip(".")
            parents = PurePosixPath(path).parents
            level = len(module) - len(name) - 1
            if level >= len(parents):
                return None
            return self._in_folder(str(parents[level]), name)
        found = self.names.get(module)
        if found:
            return max(found, key=lambda one: (_shared(one, path), -len(one)))
        return self._without_init(path, module)

    def _without_init(self, path: str, module: str) -> str | None:
        """A namespace package: a folder without ``__init__`` beside or above the file, or in ``src``."""
        for parent in PurePosixPath(path).parents:
            found = self._in_folder(str(parent), module)
            if found is not None and "." in module:
                return found
        return self._in_folder("src", module)

    def _in_folder(self, folder: str, name: str) -> str | None:
        base = "/".join(part for part in (folder.strip("."), *name.split(".")) if part)
        for ending in (".py", "/__init__.py", ".pyi", "/__init__.pyi"):
            if (base + ending).lstrip("/") in self.paths:
                return (base + ending).lstrip("/")
        return None

    def inside(self, path: str, name: str) -> str | None:
        """A module of a package."""
        pure = PurePosixPath(path)
        return self._in_folder(str(pure.parent), name) if pure.stem == "__init__" else None

    def siblings(self, path: str) -> tuple[str, ...]:
        """None: every file is a namespace of its own."""
        return ()


def _shared(one: str, other: str) -> int:
    """Number of leading folders that two paths share."""
    count = 0
    for left, right in zip(one.split("/"), other.split("/"), strict=False):
        if left != right:
            break
        count += 1
    return count


_TYPES: tuple[type, ...] = (str, bytes, list, dict, set, tuple, int, float, type(re), Exception)

PLUGIN = Language(
    key="python",
    endings=(".py", ".pyi"),
    family="python",
    grammar=_language,
    units=UnitKinds(
        classes=frozenset({"class_definition"}),
        functions=frozenset({"function_definition"}),
        wrappers=frozenset({"decorated_definition"}),
        indented=frozenset({"block"}),
    ),
    tokens=TokenKinds(
        imports=frozenset(
            {"import_statement", "import_from_statement", "future_import_statement"}
        ),
        annotations=frozenset({"type"}),
        blocks=frozenset({"block"}),
        whole=frozenset({
            "assert_statement", "assignment", "augmented_assignment", "elif_clause",
            "expression_statement", "if_statement", "keyword_argument", "pair", "return_statement",
            "while_statement",
        }),
    ),
    shapes=Shapes(
        access={"attribute": ("object", "attribute")},
        calls={"call": "function"},
        wraps={"await": None, "parenthesized_expression": None},
        choices={
            "boolean_operator": ("left", "right"),
            "conditional_expression": (),
        },
        literals=frozenset({
            "string", "concatenated_string", "integer", "float", "list", "dictionary", "set", "tuple",
            "list_comprehension", "dictionary_comprehension", "set_comprehension",
            "generator_expression", "true", "false", "none",
        }),
        binds={
            "assignment": Fields("left", "right", "type"),
            "named_expression": Fields("name", "value"),
            "typed_parameter": Fields(0, None, "type"),
            "typed_default_parameter": Fields("name", None, "type"),
            "as_pattern": Fields("alias", 0),
        },
        selves={"self": True, "cls": False},
        parent="super",
        constructors=("__init__", "__new__"),
        bases=frozenset({"argument_list"}),
        returns="return_type",
        properties=frozenset({"property", "cached_property", "classproperty"}),
        stubs=frozenset({"overload"}),
    ),
    query=_QUERY,
    imports=_imports,
    exports=_exports,
    modules=PythonModules,
    special=_special,
    test_names=(r"^test_", r"^conftest\.py$", r"_test\.py$"),
    generated_names=(r"_pb2(_grpc)?\.pyi?$", r"^_version\.py$", r"parsetab\.py$"),
    common=frozenset(
        name for kind in _TYPES for name in dir(kind) if not name.startswith("__")
    ),
)  # fmt: skip
