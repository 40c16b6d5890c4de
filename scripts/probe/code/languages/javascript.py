"""JavaScript: ES modules and CommonJS, classes, object literals, prototypes, JSX.

TypeScript is this with types, and takes what is here.
"""

import posixpath
import re
from collections.abc import Collection, Iterator
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
from probe.code.languages.text import PATH, split

if TYPE_CHECKING:
    from tree_sitter import Node

QUERY = """
(function_declaration) @unit
(generator_function_declaration) @unit
(class_declaration) @unit
(class name: (_)) @unit
(method_definition) @unit
(variable_declarator
  value: [(arrow_function) (function_expression) (generator_function) (class) (object)]) @unit
(assignment_expression
  right: [(arrow_function) (function_expression) (generator_function) (class) (object)]) @unit
(pair value: [(arrow_function) (function_expression) (generator_function) (class) (object)]) @unit
(export_statement
  value: [(arrow_function) (function_expression) (generator_function) (class) (object)]) @unit
(call_expression function: (_) @call)
(new_expression constructor: (_) @call)
(jsx_opening_element name: [(identifier) (member_expression)] @jsx)
(jsx_self_closing_element name: [(identifier) (member_expression)] @jsx)
(decorator [(identifier) (member_expression)] @deco)
(variable_declarator) @bind
(assignment_expression) @bind
(arrow_function parameter: (identifier) @shadow)
(catch_clause parameter: (identifier) @shadow)
(for_in_statement left: (_) @shadow)
(return_statement (_) @return)
(arrow_function body: [(call_expression) (new_expression) (identifier)] @return)
(arguments [(identifier) (member_expression)] @ref)
(pair value: [(identifier) (member_expression)] @ref)
(array (identifier) @ref)
(import_statement) @import
(export_statement) @export
(program (expression_statement (assignment_expression left: (member_expression)) @export))
"""
"""What both grammars share; each adds its parameters and fields."""

_OWN = """
(field_definition
  value: [(arrow_function) (function_expression) (generator_function) (class) (object)]) @unit
(field_definition) @bind
(formal_parameters (identifier) @shadow)
(formal_parameters (assignment_pattern left: (identifier) @shadow))
(formal_parameters (object_pattern) @shadow)
"""

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_IMPORT = re.compile(
    r"import\s+(?:type\s+|typeof\s+)?(.*?)\s*\bfrom\s*['\"]([^'\"]+)['\"]", re.DOTALL
)
_REQUIRED = re.compile(r"import\s+([\w$]+)\s*=\s*require\(\s*['\"]([^'\"]+)['\"]")
_SOURCE = re.compile(r"from\s*['\"]([^'\"]+)['\"]")
_REQUIRE = re.compile(r"(?:require|import)\(\s*['\"`]([^'\"`$]+)['\"`]\s*\)")
_CLAUSE = re.compile(r"\{(.*?)\}", re.DOTALL)


def _language() -> object:
    import tree_sitter_javascript

    return tree_sitter_javascript.language()


def imports(node: "Node", text: str) -> Iterator[Import]:
    """``import a, {b as c} from "d"``, ``import * as e from "f"``, ``import g = require("h")``."""
    written = _COMMENT.sub(" ", text[node.start_byte : node.end_byte])
    required = _REQUIRED.match(written)
    if required:
        yield Import(required[1], required[2], None)
        return
    found = _IMPORT.match(written)
    if found is None:
        return
    clause = _CLAUSE.search(found[1])
    for name, local in _pairs(clause[1] if clause else ""):
        yield Import(local, found[2], name)
    for part in _CLAUSE.sub("", found[1]).split(","):
        words = part.split()
        if len(words) == 3 and words[0] == "*":
            yield Import(words[2], found[2], None)
        elif len(words) == 1:
            yield Import(words[0], found[2], "default")


def _pairs(clause: str) -> Iterator[tuple[str, str]]:
    """Names and their aliases between braces."""
    for part in clause.split(","):
        words = [word for word in part.split() if word not in {"type", "typeof"}] or part.split()
        if words:
            yield words[0].strip("\"'"), words[-1].strip("\"'")


def exports(node: "Node", text: str) -> Iterator[Export]:
    """Names that an ``export`` statement, or an assignment to ``exports``, gives away."""
    if node.type == "assignment_expression":
        yield from _common(node, text)
        return
    declared = node.child_by_field_name("declaration")
    value = node.child_by_field_name("value")
    head = text[node.start_byte : node.start_byte + 40]
    if declared is not None:
        names = list(_declared(declared, text))
        if re.match(r"export\s+default\b", head):
            yield Export("default", names[0] if names else "")
        else:
            yield from (Export(name, name) for name in names)
    elif value is not None:
        name = value.child_by_field_name("name")
        written = text[(name or value).start_byte : (name or value).end_byte]
        yield Export("default", written if PATH.fullmatch(written) else _made(value, text))
    else:
        yield from _clauses(_COMMENT.sub(" ", text[node.start_byte : node.end_byte]))


def _made(value: "Node", text: str) -> str:
    """A default export without a name of its own, or of what a call returns."""
    if value.type in {"call_expression", "new_expression"}:
        made = value.child_by_field_name("function") or value.child_by_field_name("constructor")
        written = text[made.start_byte : made.end_byte] if made is not None else ""
        return written + "()" if PATH.fullmatch(written) else ""
    return "default" if value.type in VALUES or value.type == "object" else ""


def _clauses(written: str) -> Iterator[Export]:
    source = _SOURCE.search(written)
    module = source[1] if source else None
    clause = _CLAUSE.search(written)
    if clause:
        for name, alias in _pairs(clause[1]):
            yield Export(alias, None if module else name, module, name if module else None)
        return
    words = written.replace("*", " * ").split()
    if module and "*" in words:
        named = words[words.index("*") + 1 : words.index("*") + 3]
        alias = named[1] if named[:1] == ["as"] else ""
        yield Export(alias, None, module)
    elif len(words) > 2 and words[1] == "=":
        yield Export("default", words[2].rstrip(";"))


def _declared(node: "Node", text: str) -> Iterator[str]:
    name = node.child_by_field_name("name")
    if name is not None:
        yield text[name.start_byte : name.end_byte]
    for child in node.named_children:
        if child.type == "variable_declarator":
            target = child.child_by_field_name("name")
            if target is not None:
                yield from re.findall(r"[\w$]+", text[target.start_byte : target.end_byte][:400])


def _common(node: "Node", text: str) -> Iterator[Export]:
    """CommonJS: ``exports.a = …``, ``module.exports = a``, ``module.exports = {a, b: c, ...d}``."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return
    target = text[left.start_byte : min(left.end_byte, left.start_byte + 200)]
    name = target.removeprefix("module.").removeprefix("exports").lstrip(".")
    if not target.startswith(("module.exports", "exports")) or "." in name:
        return
    written = text[right.start_byte : min(right.end_byte, right.start_byte + 200)]
    local = written if PATH.fullmatch(written) else target
    yield Export(name or "default", local)
    if right.type == "object":
        for child in right.named_children:
            yield from _member(child, text, target, prefix=name)


def _member(child: "Node", text: str, target: str, prefix: str) -> Iterator[Export]:
    if prefix:
        return
    written = text[child.start_byte : min(child.end_byte, child.start_byte + 200)]
    if child.type == "shorthand_property_identifier":
        yield Export(written, written)
    elif child.type == "spread_element":
        required = _REQUIRE.search(written)
        if required:
            yield Export("", None, required[1])
    elif child.type in {"pair", "method_definition"}:
        key = child.child_by_field_name("key") or child.child_by_field_name("name")
        value = child.child_by_field_name("value")
        if key is not None:
            name = text[key.start_byte : key.end_byte].strip("\"'")
            path = (
                text[value.start_byte : min(value.end_byte, value.start_byte + 200)]
                if value
                else ""
            )
            required = _REQUIRE.fullmatch(path)
            if required:
                yield Export(name, None, required[1])
            else:
                yield Export(name, path if PATH.fullmatch(path) else f"{target}.{name}")


def special(node: "Node", text: str) -> str | None:
    """``require("./a")`` and ``import("./a")`` as an expression: the module between angle brackets."""
    start, end = node.start_byte, node.end_byte
    if end - start > 200 or text[start] not in "ri":
        return None
    found = _REQUIRE.fullmatch(text[start:end])
    return f"<{found[1]}>" if found else None


def unpack(pattern: str) -> Iterator[tuple[str, str]]:
    """Names that ``{a, b: c, d = 1}`` binds, each with the member that it takes."""
    for part in split(pattern.strip().strip("{}"), ","):
        member, _, alias = part.partition(":")
        local = (alias or member).partition("=")[0].strip()
        if PATH.fullmatch(local) and PATH.fullmatch(member.partition("=")[0].strip()):
            yield local, member.partition("=")[0].strip()


class EcmaModules:
    """Relative paths with the endings and index files that bundlers and Node try."""

    def __init__(self, paths: Collection[str]) -> None:
        self.paths = frozenset(paths)
        self.roots = sorted({path.split("/", 1)[0] for path in paths if "/" in path})

    ENDINGS = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".d.ts")
    WRITTEN = re.compile(r"\.([mc]?)jsx?$")

    def find(self, path: str, module: str) -> str | None:
        """A relative path; any other name is a package, outside the snapshot.

        ``./a.js`` may be written for ``./a.ts``. Aliases such as ``@/a`` or ``~/a`` are tried from
        ``src`` and from the root, since no configuration is read.
        """
        if module.startswith("."):
            base = posixpath.normpath(posixpath.join(posixpath.dirname(path), module))
            return None if base.startswith("..") else self._file(base)
        alias = re.match(r"[@~#]/(.+)", module)
        if alias:
            return self._file("src/" + alias[1]) or self._file(alias[1])
        return None

    def _file(self, base: str) -> str | None:
        base = "" if base == "." else base
        if base in self.paths:
            return base
        typed = self.WRITTEN.sub(r".\1ts", base)
        for candidate in (typed, typed + "x" if typed != base else ""):
            if candidate in self.paths:
                return candidate
        for stem in (base, f"{base}/index" if base else "index"):
            for ending in self.ENDINGS:
                if stem + ending in self.paths:
                    return stem + ending
        return None

    def inside(self, path: str, name: str) -> str | None:
        """None: a folder's files are not members of its index."""
        return None

    def siblings(self, path: str) -> tuple[str, ...]:
        """None: every file is a namespace of its own."""
        return ()


VALUES = frozenset(
    {"arrow_function", "function_expression", "function", "generator_function", "class"}
)
BINDINGS = {
    "variable_declarator": ("name", "value"),
    "assignment_expression": ("left", "right"),
    "pair": ("key", "value"),
    "public_field_definition": ("name", "value"),
    "field_definition": ("property", "value"),
}
UNITS = UnitKinds(
    classes=frozenset({"class_declaration", "abstract_class_declaration", "class"}),
    types=frozenset({"interface_declaration", "type_alias_declaration", "enum_declaration"}),
    functions=frozenset({
        "function_declaration", "generator_function_declaration", "method_definition",
        "function_signature", "abstract_method_signature",
    }),
    methods=frozenset({"method_definition"}),
    stubs=frozenset({"function_signature", "abstract_method_signature"}),
    values=VALUES,
    namespaces=frozenset({"internal_module", "module"}),
    objects=frozenset({"object"}),
    bindings=BINDINGS,
    defaults={"export_statement": "value"},
    wrappers=frozenset({"export_statement", "lexical_declaration"}),
)  # fmt: skip
TOKENS = TokenKinds(
    comments=frozenset({"comment", "html_comment", "hash_bang_line"}),
    imports=frozenset({"import_statement"}),
    blocks=frozenset({"statement_block", "class_body"}),
    whole=frozenset({
        "assignment_expression", "expression_statement", "if_statement", "pair", "return_statement",
        "variable_declarator", "while_statement",
    }),
    arrows=frozenset({"arrow_function"}),
    bare_parameters=frozenset({"identifier", "required_parameter"}),
)  # fmt: skip
SHAPES = Shapes(
    access={"member_expression": ("object", "property")},
    calls={"call_expression": "function", "new_expression": "constructor"},
    wraps={
        "await_expression": None, "parenthesized_expression": None, "non_null_expression": None,
        "as_expression": None, "satisfies_expression": None,
    },
    choices={"binary_expression": ("left", "right"), "ternary_expression": ("consequence", "alternative")},
    literals=frozenset({
        "string", "template_string", "number", "array", "object", "regex", "true", "false", "null",
        "undefined", "arrow_function", "function_expression",
    }),
    binds={
        "variable_declarator": Fields("name", "value", "type"),
        "assignment_expression": Fields("left", "right"),
        "field_definition": Fields("property", "value"),
    },
    selves={"this": True},
    parent="super",
    parent_constructs=True,
    constructors=("constructor",),
    bases=frozenset({"class_heritage", "extends_type_clause"}),
    returns="return_type",
    property_words=("get ", "static get ", "public get ", "protected get ", "private get "),
)  # fmt: skip
COMMON = frozenset({
    "add", "all", "any", "append", "apply", "at", "bind", "call", "catch", "charAt", "charCodeAt",
    "clear", "clone", "close", "concat", "constructor", "copyWithin", "create", "defineProperty",
    "delete", "destroy", "emit", "end", "endsWith", "entries", "equals", "error", "every", "exec",
    "fill", "filter", "finally", "find", "findIndex", "findLast", "findLastIndex", "flat",
    "flatMap", "flush", "forEach", "format", "freeze", "from", "fromEntries", "get", "getItem",
    "getTime", "has", "hasOwnProperty", "includes", "indexOf", "init", "isArray", "join", "json",
    "keys", "lastIndexOf", "length", "localeCompare", "log", "map", "match", "matchAll", "max",
    "min", "next", "normalize", "now", "of", "off", "on", "once", "open", "padEnd", "padStart",
    "parse", "pipe", "pop", "push", "race", "read", "reduce", "reduceRight", "reject", "remove",
    "repeat", "replace", "replaceAll", "reset", "resolve", "return", "reverse", "run", "search",
    "send", "set", "setItem", "shift", "size", "slice", "some", "sort", "splice", "split",
    "start", "startsWith", "stop", "stringify", "subarray", "substr", "substring", "test", "text",
    "then", "throw", "toFixed", "toISOString", "toJSON", "toLocaleString", "toLowerCase",
    "toString", "toUpperCase", "trim", "trimEnd", "trimStart", "unshift", "update", "valueOf",
    "values", "warn", "write",
})  # fmt: skip
TEST_NAMES = (
    r"\.(test|spec|test-d|bench|stories)\.[cm]?[jt]sx?$",
    r"^(jest|vitest|karma|playwright|cypress)\.(config|setup)\b",
)
GENERATED_NAMES = (
    r"\.min\.(js|css|mjs)$", r"\.bundle\.js$", r"\.generated\.[cm]?[jt]sx?$", r"\.d\.ts\.map$",
    r"\.map$", r"\.snap$",
)  # fmt: skip

PLUGIN = Language(
    key="javascript",
    endings=(".js", ".mjs", ".cjs", ".jsx"),
    family="javascript",
    grammar=_language,
    units=UNITS,
    tokens=TOKENS,
    shapes=SHAPES,
    query=QUERY + _OWN,
    imports=imports,
    exports=exports,
    modules=EcmaModules,
    test_names=TEST_NAMES,
    generated_names=GENERATED_NAMES,
    common=COMMON,
    special=special,
    unpack=unpack,
    explicit_exports=True,
)
