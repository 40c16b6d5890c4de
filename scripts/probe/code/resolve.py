"""What a name means: an abstract evaluation of dotted expressions over all files.

A value is a module, a unit, an instance of a class, a bag of members (an object literal), or
something outside the snapshot. No value at all means that nothing is known, which is not the same:
only then may a rare name speak for itself. Values of a name are collected from all its assignments,
whatever their order, as the snapshot runs nothing.
"""

from collections.abc import Iterable

from probe.code.exports import Exports
from probe.code.expressions import LITERAL, UNKNOWN
from probe.code.facts import SHADOW, TOP
from probe.code.hierarchy import Hierarchy
from probe.code.languages.base import Import
from probe.code.project import Project
from probe.code.values import DEEPEST, MOST_VALUES, OUTSIDE, Value, Values


class Resolver(Exports, Hierarchy):
    """Evaluates expressions of a project.

    Args:
        project: all files' facts.
    """

    def __init__(self, project: Project) -> None:
        Exports.__init__(self, project)
        Hierarchy.__init__(self, project)
        self._known: dict[tuple[int, int, str], Values] = {}
        self._names: dict[tuple[int, int, str], Values] = {}
        self._members: dict[tuple[int, str], Values | None] = {}
        self._results: dict[int, Values] = {}

    def evaluate(self, file: int, scope: int, written: str) -> Values:
        """Values of an expression at a place; empty when nothing is known."""
        key = (file, scope, written)
        known = self._known.get(key)
        if known is not None:
            return known
        if self._depth > DEEPEST:
            return ()
        self._known[key] = ()
        self._depth += 1
        values = self._walk(file, scope, written)
        self._depth -= 1
        self._known[key] = values if len(values) <= MOST_VALUES else ()
        return self._known[key]

    def _walk(self, file: int, scope: int, written: str) -> Values:
        if written.startswith("<"):
            module, _, rest = written[1:].partition(">")
            values = self._module(file, module)
            values = self._suffix(values, rest[: len(rest) - len(rest.lstrip("()"))])
            parts = rest.lstrip("()").split(".")[1:]
        else:
            if scope == TOP:
                unit = self.project.unit_named(file, written)
                if unit is not None:
                    return (Value("unit", unit, "local"),)
            head, *parts = written.split(".")
            name = head.rstrip("():")
            values = self._suffix(self.name(file, scope, name), head[len(name) :])
        for part in parts:
            name = part.rstrip("():")
            values = self._suffix(self.members(values, name), part[len(name) :])
            if not values:
                break
        return values

    def _suffix(self, values: Values, suffix: str) -> Values:
        if suffix == ":":
            return self.instances(values, "annotation")
        for _ in range(len(suffix) // 2):
            values = self.called(values)
        return values

    def instances(self, values: Values, way: str) -> Values:
        """Instances of the classes among some values."""
        found = []
        for value in values:
            if value.kind == "outside":
                found.append(OUTSIDE)
            elif value.kind == "class" or self._is_class(value):
                found.append(Value("instance", value.number, way))
        return tuple(dict.fromkeys(found))

    def called(self, values: Values) -> Values:
        """What calling some values gives."""
        found: list[Value] = []
        for value in values:
            if value.kind == "outside":
                found.append(OUTSIDE)
            elif value.kind in {"class", "unit"} and self._kind(value.number) == "class":
                found.append(Value("instance", value.number, "constructor"))
            elif value.kind == "unit":
                found += self.result(value.number)
            elif value.kind == "module":
                given = self.default(value.number)
                found += self.called(given) if all(v.kind != "module" for v in given) else ()
            elif value.kind == "parent":
                found.append(value)
        return tuple(dict.fromkeys(found))

    def result(self, unit: int) -> Values:
        """What a function returns."""
        if unit not in self._results:
            self._results[unit] = ()
            fact, file = self.project.units[unit], self.project.file_of[unit]
            scope = unit - self.project.first[file]
            found: list[Value] = []
            for written in fact.returns:
                around = fact.parent if written.endswith(":") else scope
                found += self.evaluate(file, around, written)
            self._results[unit] = tuple(
                dict.fromkeys(
                    value._replace(way="return") if value.kind == "instance" else value
                    for value in found
                )
            )
        return self._results[unit]

    def name(self, file: int, scope: int, name: str) -> Values:
        """Values of a bare name at a place."""
        key = (file, scope, name)
        known = self._names.get(key)
        if known is None:
            if self._depth > DEEPEST:
                return ()
            self._names[key] = ()
            self._depth += 1
            known = self._names[key] = self._look_up(file, scope, name)
            self._depth -= 1
        return known

    def _look_up(self, file: int, scope: int, name: str) -> Values:
        if name == LITERAL:
            return (OUTSIDE,)
        if name == UNKNOWN or not name:
            return ()
        facts, shapes = self.project.files[file], self.project.languages[file].shapes
        units = facts.units
        inner = scope
        while scope != TOP:
            unit = units[scope].unit
            if unit.kind in {"function", "method"} or scope == inner:
                found = self._in_scope(file, scope, name)
                if found is not None:
                    return found
            scope = units[scope].parent
        if name in shapes.selves or name == shapes.parent:
            return self._receiver(file, inner, name)
        return self._at_top(file, name)

    def _in_scope(self, file: int, scope: int, name: str) -> Values | None:
        """Values of a name that a function or class body itself has; None where it has none."""
        facts = self.project.files[file]
        unit = (
            self.project.unit_named(file, name)
            if scope == TOP
            else self.project.unit_inside(file, scope, name)
        )
        if unit is not None:
            return (Value("unit", unit, "local"),)
        if facts.spaces:
            path = name if scope == TOP else f"{facts.units[scope].unit.name}.{name}"
            if path in facts.spaces:
                return (Value("bag", file, path),)
        imported = facts.imports.get(scope)
        imported_here = imported.get(name) if imported else None
        written = facts.names.get(scope)
        written_here = written.get(name) if written else None
        if imported_here is None and written_here is None:
            return None
        if imported_here is None and written_here == [SHADOW]:
            return ()
        return self._bound(file, scope, name, imported_here or (), written_here or ())

    def _bound(
        self, file: int, scope: int, name: str, imported: Iterable[Import], written: Iterable[str]
    ) -> Values:
        """Values of a name from its imports and assignments in one scope."""
        facts = self.project.files[file]
        found: list[Value] = []
        for one in imported:
            found += self._imported(file, one)
        for value in written:
            if value != SHADOW and value.partition(".")[0].rstrip("():") != name:
                found += self._alias(self.evaluate(file, scope, value))
            elif value != SHADOW:
                outer = facts.units[scope].parent if scope != TOP else TOP
                if outer != scope:
                    found += self._alias(self.evaluate(file, outer, value))
        return tuple(dict.fromkeys(found))

    def _alias(self, values: Values) -> Values:
        return tuple(
            value._replace(way="alias") if value.kind == "unit" else value for value in values
        )

    def _at_top(self, file: int, name: str) -> Values:
        found: Values | None = None
        for number in self.project.groups[file]:
            found = self._in_scope(number, TOP, name)
            if found is not None:
                return found
        facts = self.project.files[file]
        for star in facts.imports.get(TOP, {}).get("", ()):
            module = self.project.module(file, star.module)
            if module is not None and module != file:
                values = self.name(module, TOP, name)
                if values and values != (OUTSIDE,):
                    return tuple(
                        v._replace(way="import") if v.kind == "unit" else v for v in values
                    )
        return (OUTSIDE,)

    def _receiver(self, file: int, scope: int, name: str) -> Values:
        """``self``, ``cls``, ``this`` and ``super`` by the class, or the object literal, around."""
        shapes = self.project.languages[file].shapes
        facts = self.project.files[file]
        owner = self.project.class_around(file, scope)
        if owner is not None:
            if name == shapes.parent:
                return (Value("parent", owner, "super"),)
            return (Value("self" if shapes.selves[name] else "class", owner, "self"),)
        if scope != TOP and name in shapes.selves:
            prefix = facts.units[scope].unit.name.rpartition(".")[0]
            unit = self.project.unit_named(file, prefix) if prefix else None
            if unit is not None and self._kind(unit) in {"class", "function"}:
                kind = "self" if self._kind(unit) == "class" else "bag"
                return (
                    Value(
                        kind, unit if kind == "self" else file, "self" if kind == "self" else prefix
                    ),
                )
            if prefix in facts.spaces:
                return (Value("bag", file, prefix),)
        return ()

    def members(self, values: Values, name: str) -> Values:
        """Values of a member of some values."""
        found: list[Value] = []
        for value in values:
            found += self.member(value, name)
        return tuple(dict.fromkeys(found)) if len(found) > 1 else tuple(found)

    def member(self, value: Value, name: str) -> Values:
        """Values of a member of one value; outside of what is outside."""
        kind = value.kind
        if kind == "outside":
            return (OUTSIDE,)
        if kind == "module":
            if name == "default" and not self.project.languages[value.number].explicit_exports:
                return ()
            return self.exported(value.number, name)
        if kind == "bag":
            return self._of_bag(value, name)
        if kind == "unit" and self._kind(value.number) not in {"class", "type"}:
            unit = self.project.units[value.number].unit
            file = self.project.file_of[value.number]
            inner = self.project.unit_named(file, f"{unit.name}.{name}")
            return (Value("unit", inner, "member"),) if inner is not None else ()
        if name == "__class__" and kind in {"self", "instance"}:
            return (Value("class", value.number, value.way),)
        found = self._of_class(value, name)
        only = found[0] if len(found) == 1 and found[0].kind == "unit" else None
        if only is not None and kind != "unit" and self.project.units[only.number].is_property:
            return self.result(only.number)
        return found

    def _of_bag(self, value: Value, name: str) -> Values:
        path = f"{value.way}.{name}"
        unit = self.project.unit_named(value.number, path)
        if unit is not None:
            return (Value("unit", unit, "object"),)
        if path in self.project.files[value.number].spaces:
            return (Value("bag", value.number, path),)
        return ()

    def _of_class(self, value: Value, name: str) -> Values:
        if value.kind == "parent":
            orders = self.order(value.number)
            for one in orders.classes[1:]:
                unit = self.own(one, name)
                if unit is not None:
                    return (Value("unit", unit, "super"),)
            return () if orders.complete else (OUTSIDE,)
        found = self.class_member(value.number, name)
        if found is None:
            return () if self.order(value.number).complete else (OUTSIDE,)
        return found

    def class_member(self, number: int, name: str) -> Values | None:
        """What a class or one of its bases has under a name; None when none of them has it."""
        key = (number, name)
        if key in self._members:
            return self._members[key]
        self._members[key] = None
        for one in self.order(number).classes:
            unit = self.own(one, name)
            if unit is not None:
                self._members[key] = (Value("unit", unit, "member"),)
                break
            file = self.project.file_of[one]
            scope = one - self.project.first[file]
            written = self.project.files[file].fields.get(scope, {}).get(name)
            if written is not None:
                found: list[Value] = []
                for where, expression in written:
                    if expression != SHADOW:
                        found += self.evaluate(file, where, expression)
                self._members[key] = tuple(
                    dict.fromkeys(
                        v._replace(way="attribute") if v.kind == "instance" else v for v in found
                    )
                )
                break
        return self._members[key]

    def classes(self, file: int, scope: int, written: str) -> tuple[int, ...]:
        """Classes that an expression means; see :class:`Hierarchy`."""
        values = self.evaluate(file, scope, written)
        return tuple(value.number for value in values if self._is_class(value))

    def _is_class(self, value: Value) -> bool:
        return value.kind == "unit" and self._kind(value.number) in {"class", "type"}

    def _kind(self, unit: int) -> str:
        return self.project.units[unit].unit.kind
