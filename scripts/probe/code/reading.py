"""Reads the facts of one file in one pass, so that its syntax tree can go.

One query finds all nodes of interest; text tells most of what is asked of them, since a regular
expression over a slice costs less than a walk from node to node.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from operator import attrgetter
from typing import TYPE_CHECKING

from probe.code.expressions import LITERAL, LONGEST, bases, expression, expressions, types
from probe.code.facts import SHADOW, TOP, Facts, UnitFact
from probe.code.languages import LANGUAGES, query_for
from probe.code.languages.base import Language
from probe.code.languages.text import PATH
from probe.code.units import Unit, unit_at

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

_WORD = re.compile(r"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*")
_PLAIN = re.compile(r"([A-Za-z0-9_$#.\x80-\xff]+)\s*=\s*(?![=>])")
_TYPED = re.compile(r"([A-Za-z_][\w$]*)\??\s*:\s*([A-Za-z_][\w.]*)")
_LITERAL = frozenset("\"'`[{0123456789")
_CONSTANTS = frozenset({"None", "True", "False", "null", "undefined", "true", "false", "nil"})
_UNORDERED = frozenset({"unit", "ref", "shadow"})
"""Captures whose order does not matter, or is made by their reader."""
_START = attrgetter("start_byte")
_SPAN = attrgetter("start_byte", "end_byte")
_HOLDERS = frozenset({"class", "type"})
_KEPT = 5
"""Values of one name that are kept; a name with more may be anything."""


def read_facts(path: str, language: str, text: bytes, tree: "Tree") -> Facts:
    """The facts of one parsed file.

    Args:
        path: where it is in the snapshot.
        language: a key of :data:`probe.code.languages.LANGUAGES`.
        text: the file's bytes, which the tree was made of.
        tree: its syntax tree, broken or not.
    """
    from tree_sitter import QueryCursor

    captures = QueryCursor(query_for(language)).captures(tree.root_node)
    for name, nodes in captures.items():
        # the binding gives them in the order of a hash table; only calls can start together
        if name not in _UNORDERED:
            nodes.sort(key=_SPAN if name == "call" else _START)
    reader = _Reader(path, LANGUAGES[language], text.decode("latin-1"))
    reader.read_units(captures.get("unit", []), text)
    for node in captures.get("import", ()):
        reader.read_import(node)
    reader.read_calls(captures)
    reader.read_references(captures.get("ref", ()))
    for node in captures.get("export", ()):
        reader.read_export(node)
    reader.read_binds(captures.get("bind", ()))
    reader.read_shadows(captures.get("shadow", ()))
    reader.read_returns(captures.get("return", ()))
    return reader.facts


class _Reader:
    """Turns captures into facts; nodes live no longer than it does."""

    def __init__(self, path: str, language: Language, text: str) -> None:
        self.language = language
        self.shapes = language.shapes
        self.text = text
        self.ascii = text.isascii()
        self.facts = Facts(path, language.key, lines=max(1, text.count("\n") + (text[-1:] != "\n")))
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.bounds: list[int] = []
        self.inside: list[int] = [TOP]

    def scope_at(self, place: int) -> int:
        """The innermost unit around a place, or TOP."""
        return self.inside[bisect_right(self.bounds, place)]

    def _divide(self) -> None:
        """Cut the text where units start and end, and note the innermost unit of every part."""
        units = self.facts.units
        ends = sorted(
            zip(self.ends, range(len(units)), strict=True), key=lambda one: (one[0], -one[1])
        )
        done = 0
        for index, start in enumerate(self.starts):
            while done < len(ends) and ends[done][0] <= start:
                self._cut(ends[done][0], units[ends[done][1]].parent)
                done += 1
            self._cut(start, index)
        for end, index in ends[done:]:
            self._cut(end, units[index].parent)

    def _cut(self, place: int, scope: int) -> None:
        self.bounds.append(place)
        self.inside.append(scope)

    def read_units(self, nodes: list["Node"], raw: bytes) -> None:
        scopes: list[tuple[int, str, bool, int]] = []
        kinds = self.language.units
        spans = sorted(((node.start_byte, -node.end_byte, n) for n, node in enumerate(nodes)))
        for start, negative, number in spans:
            node, end = nodes[number], -negative
            while scopes and scopes[-1][0] <= start:
                scopes.pop()
            found = unit_at(kinds, node, scopes, raw)
            if found is None:
                continue
            name, unit = found
            parent = scopes[-1][3] if scopes else TOP
            index = len(self.facts.units) if unit is not None else parent
            if unit is None:
                path = ".".join([scope[1] for scope in scopes] + [name])
                self.facts.spaces.add(path.encode().decode("latin-1"))
            else:
                self._add_unit(node, unit, parent, start, end)
            scopes.append((end, name, unit is not None and unit.kind == "class", index))
        self._divide()

    def _add_unit(self, node: "Node", unit: Unit, parent: int, start: int, end: int) -> None:
        if not unit.name.isascii():
            # all names here have one character a byte, as the text has
            unit = unit._replace(name=unit.name.encode().decode("latin-1"))
        kinds, units = self.language.units, self.facts.units
        fact = UnitFact(unit, parent, is_stub=node.type in kinds.stubs)
        held = node
        if node.type in kinds.bindings or node.type in kinds.defaults:
            field_name = kinds.defaults.get(node.type) or kinds.bindings[node.type][1]
            held = node.child_by_field_name(field_name) or node
        if unit.kind in _HOLDERS:
            fact.bases = self._bases(held)
            if parent != TOP and self.ends[parent] == end and units[parent].unit.kind == "class":
                units[parent].twin = len(units)
        else:
            returned = held.child_by_field_name(self.shapes.returns or "")
            if returned is not None:
                fact.returns = list(types(self._slice(returned)))
                fact.annotated = True
            fact.is_property = self.text.startswith(self.shapes.property_words, start)
        units.append(fact)
        self.starts.append(start)
        self.ends.append(end)

    def _bases(self, held: "Node") -> tuple[str, ...]:
        read = self.language.base_names or bases
        found: list[str] = []
        for child in held.children:
            if child.type in self.shapes.bases:
                found += read(self._slice(child, 4000))
            elif child.type in {"class_body", "block"}:
                break
        return tuple(found)

    def _slice(self, node: "Node", most: int = 400) -> str:
        start = node.start_byte
        return self.text[start : min(node.end_byte, start + most)]

    def read_calls(self, captures: dict[str, list["Node"]]) -> None:
        facts, shapes, special = self.facts, self.shapes, self.language.special
        text, bounds, inside, is_path = self.text, self.bounds, self.inside, PATH.fullmatch
        for name, found in (
            ("call", facts.calls),
            ("deco", facts.decorators),
            ("jsx", facts.markup),
        ):
            for node in captures.get(name, ()):
                start, end = node.start_byte, node.end_byte
                path = text[start:end] if end - start < LONGEST else ""
                if not is_path(path):
                    path = expression(node, text, shapes, special) or ""
                    if not path:
                        facts.unread += name == "call"
                        continue
                elif "?" in path:
                    path = path.replace("?.", ".")
                found.append((inside[bisect_right(bounds, start)], path, node.start_point[0] + 1))
        for _, written, line in facts.decorators:
            self._mark(written, line)

    def read_references(self, nodes: Iterable["Node"]) -> None:
        """Names handed on; a bare one only where it can mean a function of this file or an import."""
        text, bounds, inside, is_path = self.text, self.bounds, self.inside, PATH.fullmatch
        found, near = self.facts.references, self._near()
        for node in nodes:
            start, end = node.start_byte, node.end_byte
            path = text[start:end] if end - start < LONGEST else ""
            if path in near or ("." in path and is_path(path)) or (not near and is_path(path)):
                found.append((inside[bisect_right(bounds, start)], path, node.start_point[0] + 1))

    def _near(self) -> set[str]:
        """Bare names by which this file can mean a function; empty where it can be any."""
        imported = list(self.facts.imports.values())
        if self.language.shares_names or any("" in held for held in imported):
            return set()
        names = {
            fact.unit.name.rpartition(".")[2]
            for fact in self.facts.units
            if fact.unit.kind == "function"
        }
        return names.union(*imported) or {""}

    def _mark(self, decorator: str, line: int) -> None:
        """Note what a decorator makes of the unit below it."""
        last = decorator.rsplit(".", 1)[-1]
        if last not in self.shapes.properties and last not in self.shapes.stubs:
            return
        for fact in self.facts.units:
            if fact.unit.first <= line < fact.unit.head_first and fact.unit.kind != "class":
                fact.is_property = fact.is_property or last in self.shapes.properties
                fact.is_stub = fact.is_stub or last in self.shapes.stubs
                return

    def read_import(self, node: "Node") -> None:
        scope = self.scope_at(node.start_byte)
        held = self.facts.imports.setdefault(scope, {})
        for one in self.language.imports(node, self.text):
            held.setdefault(one.local, []).append(one)

    def read_export(self, node: "Node") -> None:
        for one in self.language.exports(node, self.text):
            self.facts.exports.setdefault(one.name, []).append(one)

    def read_binds(self, nodes: Iterable["Node"]) -> None:
        text, kinds, special = self.text, self.shapes.binds, self.language.special
        match, bind, around = _PLAIN.match, self._bind, self._around
        for node in nodes:
            target, value, typed = kinds[node.type]
            start = node.start_byte
            if value is None:
                end = node.end_byte
                simple = _TYPED.fullmatch(text, start, end) if end - start < LONGEST else None
                if simple is not None:
                    bind(around(start), simple[1], list(types(simple[2])))
                    continue
            if value is None or typed is not None:
                held = _part(node, typed) if typed is not None else None
                if value is None or held is not None:
                    self._bind_typed(node, _part(node, target), held, _part(node, value))
                    continue
            end = node.end_byte
            plain = match(text, start, min(end, start + LONGEST))
            if plain is None:
                self._bind_pattern(node, _part(node, target), _part(node, value))
                continue
            after = plain.end()
            first = text[after : after + 1]
            if first in _LITERAL:
                bind(around(start), plain[1], [LITERAL])
                continue
            path = text[after:end] if end - after < LONGEST else ""
            if PATH.fullmatch(path):
                values = [LITERAL if path in _CONSTANTS else path]
            else:
                node_of_value = _part(node, value)
                values = (
                    expressions(node_of_value, text, self.shapes, special) if node_of_value else []
                )
            bind(around(start), plain[1], values)

    def _bind_typed(
        self, node: "Node", target: "Node | None", typed: "Node | None", value: "Node | None"
    ) -> None:
        """A parameter, a field, a variable with a declared type."""
        if target is None:
            return
        values = list(types(self._slice(typed))) if typed is not None else []
        if value is not None and not (values and values[0][-1] == ":"):
            values += expressions(value, self.text, self.shapes, self.language.special)
        written = self._slice(target, LONGEST)
        if not PATH.fullmatch(written):
            self._bind_pattern(node, target, value)
            return
        scope = self._around(node.start_byte)
        self._bind(scope, written, values)
        own = self.shapes.own_fields
        if own and node.child_count > 2 and any(c.type in own for c in node.children[:2]):
            self._bind(scope, "this." + written, list(values))

    def _bind_pattern(self, node: "Node", target: "Node | None", value: "Node | None") -> None:
        """Several names at once, or a target that is no path."""
        if target is None:
            return
        written, special = self._slice(target, LONGEST), self.language.special
        values = expressions(value, self.text, self.shapes, special) if value is not None else []
        scope = self._around(node.start_byte)
        if PATH.fullmatch(written):
            self._bind(scope, written, values)
        elif written[:1] == "{" and self.language.unpack is not None and len(values) == 1:
            for local, member in self.language.unpack(written):
                self._bind(scope, local, [f"{values[0]}.{member}"])
        else:
            for number, word in enumerate(_WORD.findall(written)):
                first = number == 0 and self.shapes.first_of_list
                self._bind(scope, word, list(values) if first else [])

    def _around(self, start: int) -> int:
        """The scope in which a binding stands that may itself be a unit."""
        scope = self.inside[bisect_right(self.bounds, start)]
        if scope != TOP and self.starts[scope] == start:
            return self.facts.units[scope].parent
        return scope

    def _bind(self, scope: int, target: str, values: list[str]) -> None:
        units = self.facts.units
        if "." in target or (scope != TOP and units[scope].unit.kind in _HOLDERS):
            self._bind_field(scope, target, values or [SHADOW])
            return
        if not values and target in self.shapes.selves:
            return
        names = self.facts.names.get(scope)
        if names is None:
            names = self.facts.names[scope] = {}
        known = names.get(target)
        if known is None:
            names[target] = values or [SHADOW]
        else:
            known += [one for one in values or [SHADOW] if one not in known][:_KEPT]

    def _bind_field(self, scope: int, target: str, values: list[str]) -> None:
        """A name in a class's body, or ``self.name`` in one of its methods."""
        units = self.facts.units
        head, _, rest = target.partition(".")
        owner = scope
        while owner != TOP and units[owner].unit.kind not in _HOLDERS:
            owner = units[owner].parent
        if owner == TOP or "." in rest or (rest and head not in self.shapes.selves):
            return
        known = self.facts.fields.setdefault(owner, {}).setdefault(rest or target, [])
        known += [(scope, one) for one in values if (scope, one) not in known][:_KEPT]

    def read_shadows(self, nodes: Iterable["Node"]) -> None:
        for node in nodes:
            scope = self.scope_at(node.start_byte)
            written = self._slice(node, LONGEST)
            for word in [written] if PATH.fullmatch(written) else _WORD.findall(written):
                if "." not in word:
                    self._bind(scope, word, [])

    def read_returns(self, nodes: Iterable["Node"]) -> None:
        units = self.facts.units
        for node in nodes:
            scope = self.scope_at(node.start_byte)
            if scope == TOP or units[scope].annotated or len(units[scope].returns) >= _KEPT:
                continue
            for one in expressions(node, self.text, self.shapes, self.language.special):
                if one not in units[scope].returns:
                    units[scope].returns.append(one)


def _part(node: "Node", where: str | int | None) -> "Node | None":
    if where is None:
        return None
    if isinstance(where, int):
        return node.named_child(where) if where < node.named_child_count else None
    return node.child_by_field_name(where)
