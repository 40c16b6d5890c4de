"""From calls to edges: the units that each call may reach, and how sure that is."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from probe.code.facts import TOP, Call
from probe.code.project import Project
from probe.code.resolve import Resolver
from probe.code.values import Value, Values
from probe.records import CallEdge, Certainty, ParsedFile, UnitRef

MOST_OVERRIDERS = 8
"""With more overriding methods below a class than these, none of them is told."""
RARE = 2
"""A method is guessed by its name alone where so many units at most have it."""
_CERTAINTIES: tuple[Certainty, ...] = ("certain", "likely", "possible")
CERTAIN, LIKELY, POSSIBLE = range(3)


class Target(NamedTuple):
    """A unit that a call may reach; negative numbers are files' top levels."""

    number: int
    certainty: int
    way: str


class Edges:
    """All edges of a project.

    Args:
        project: all files' facts.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.resolver = Resolver(project)
        self._edges: dict[tuple[int, int], tuple[int, str, list[int]]] = {}
        self._resolved: dict[str, int] = {}
        self._selves: dict[tuple[str, int, str], tuple[Target, ...]] = {}
        self._methods = self._by_name()
        self._callable = self._callable_names()

    def _by_name(self) -> dict[str, list[int]]:
        """Methods by their last name, without those that say nothing."""
        found: dict[str, list[int]] = defaultdict(list)
        for number, fact in enumerate(self.project.units):
            if fact.unit.kind == "method" and not fact.is_property:
                found[fact.unit.name.rpartition(".")[2]].append(number)
        return {name: units for name, units in found.items() if len(units) <= RARE}

    def _callable_names(self) -> set[str]:
        """Last names of all functions and methods."""
        return {
            fact.unit.name.rpartition(".")[2]
            for fact in self.project.units
            if fact.unit.kind in {"function", "method"}
        }

    def resolve(self) -> None:
        """Find the targets of all calls, decorators, components and functions handed on."""
        for number, facts in enumerate(self.project.files):
            places: dict[tuple[int, str], list[int]] = {}
            for scope, written, line in facts.calls:
                key = (scope, written)
                if key in places:
                    places[key].append(line)
                else:
                    places[key] = [line]
            resolved = 0
            for (scope, written), lines in places.items():
                targets = self._targets(number, scope, written)
                if targets:
                    resolved += len(lines)
                    self._add(number, scope, lines, targets)
            self._resolved[facts.path] = resolved
            self._others(number)

    def _targets(self, number: int, scope: int, written: str) -> Sequence[Target]:
        """Units that a call may reach; calls of a receiver's methods are the commonest by far."""
        word, _, name = written.partition(".")
        if name and "." not in name and name[-1] != ")":
            selves = self.project.languages[number].shapes.selves
            owner = self._owner(number, scope, word) if word in selves else None
            if owner is not None:
                return self._of_self(owner, name, number)
        return self.targets(number, scope, written)

    def _owner(self, number: int, scope: int, word: str) -> Value | None:
        """What a receiver's word means in a scope: None where something gives it another value."""
        facts = self.project.files[number]
        units, names = facts.units, facts.names
        while scope != TOP:
            if units[scope].unit.kind in {"class", "type"}:
                is_instance = self.project.languages[number].shapes.selves[word]
                owner = self.project.first[number] + scope
                return Value("self" if is_instance else "class", owner, "self")
            if word in names.get(scope, ()):
                return None
            scope = units[scope].parent
        return None

    def _of_self(self, owner: Value, name: str, number: int) -> tuple[Target, ...]:
        """Targets of a receiver's method; the same all over a class."""
        key = (owner.kind, owner.number, name)
        known = self._selves.get(key)
        if known is None:
            found: dict[int, Target] = {}
            for one in self._method(owner, name, number):
                found.setdefault(one.number, one)
            known = self._selves[key] = tuple(found.values())
        return known

    def _others(self, number: int) -> None:
        facts = self.project.files[number]
        for calls, way in (
            (facts.decorators, "decorator"),
            ([one for one in facts.markup if one[1][:1].isupper() or "." in one[1]], "markup"),
        ):
            for scope, written, line in calls:
                found = self._direct(self.resolver.evaluate(number, scope, written), number)
                self._add(number, scope, [line], [one._replace(way=way) for one in found])
        known = self._callable
        wanted = [
            call
            for call in facts.references
            if "." not in call[1] or call[1].rpartition(".")[2] in known
        ]
        for call in sorted(wanted):
            self._reference(number, call)

    def _reference(self, number: int, call: Call) -> None:
        scope, written, line = call
        shapes = self.project.languages[number].shapes
        if written in shapes.selves:
            return
        values = self.resolver.evaluate(number, scope, written)
        found = [
            Target(value.number, POSSIBLE, "callback")
            for value in values
            if value.kind == "unit"
            and self.project.units[value.number].unit.kind in {"function", "method"}
        ]
        self._add(number, scope, [line], found)

    def _add(self, number: int, scope: int, lines: list[int], targets: Iterable[Target]) -> None:
        caller = -1 - number if scope == TOP else self.project.first[number] + scope
        edges = self._edges
        for callee, certainty, way in targets:
            key = (caller, callee)
            known = edges.get(key)
            if known is None:
                edges[key] = (certainty, way, lines)
            else:
                best = min((certainty, way), known[:2])
                edges[key] = (*best, known[2] + lines)

    def targets(self, file: int, scope: int, written: str) -> list[Target]:
        """Units that a call of an expression at a place may reach."""
        receiver, dot, name = written.rpartition(".")
        if written[0] == "<" and not written.partition(">")[2].startswith("."):
            receiver = ""
        if not receiver:
            if not dot and name[-1] != ")":
                return list(self._direct(self.resolver.name(file, scope, name), file))
            return list(self._direct(self.resolver.evaluate(file, scope, written), file))
        if name[-1] == ")":
            return list(self._direct(self.resolver.evaluate(file, scope, written), file))
        values = self.resolver.evaluate(file, scope, receiver)
        if not values:
            return self._guess(file, name)
        found: dict[int, Target] = {}
        for value in values:
            for target in self._method(value, name, file):
                if len(values) > 1 and target.certainty == CERTAIN:
                    target = target._replace(certainty=LIKELY)
                known = found.get(target.number)
                if known is None or target.certainty < known.certainty:
                    found[target.number] = target
        return list(found.values())

    def _guess(self, file: int, name: str) -> list[Target]:
        """By a rare name alone."""
        language = self.project.languages[file]
        if name in language.common or name.startswith("__"):
            return []
        family = language.family
        return [
            Target(unit, POSSIBLE, "name")
            for unit in self._methods.get(name, ())
            if self.project.languages[self.project.file_of[unit]].family == family
        ]

    def _direct(self, values: Values, file: int, way: str = "") -> Iterator[Target]:
        """Targets of calling values themselves."""
        sure = CERTAIN if len(values) == 1 else LIKELY
        for value in values:
            if value.kind == "unit":
                certainty = LIKELY if value.way == "alias" else sure
                yield Target(self._constructor(value.number), certainty, way or value.way)
            elif value.kind == "class":
                yield Target(self._constructor(value.number), LIKELY, value.way)
            elif value.kind == "parent" and self.project.languages[file].shapes.parent_constructs:
                for one in self.resolver.order(value.number).classes[1:2]:
                    yield Target(self._constructor(one), CERTAIN, "super")
            elif value.kind == "module" and value.way == "top":
                yield Target(-1 - value.number, CERTAIN, "import")
            elif value.kind == "module":
                given = self.resolver.default(value.number)
                if all(one.kind != "module" or one.way == "top" for one in given):
                    yield from self._direct(given, file)

    def _constructor(self, number: int) -> int:
        """A class's own constructor, or the class; any other unit itself."""
        if self.project.units[number].unit.kind != "class":
            return number
        file = self.project.file_of[number]
        twin = self.project.units[number].twin
        if twin >= 0:
            number = self.project.first[file] + twin
        for name in self.project.languages[file].shapes.constructors:
            own = self.resolver.own(number, name)
            if own is not None:
                return own
        return number

    def _method(self, value: Value, name: str, file: int) -> list[Target]:
        """Targets of calling a member of a value."""
        if value.kind == "outside":
            return []
        if value.kind == "module":
            return list(self._direct(self.resolver.member(value, name), file, "module"))
        if value.kind in {"bag", "parent"}:
            return list(self._direct(self.resolver.member(value, name), file))
        unit = self.project.units[value.number].unit
        if unit.kind not in {"class", "type"}:
            return list(self._direct(self.resolver.member(value, name), file))
        found = self.resolver.class_member(value.number, name)
        if value.kind == "unit" and value.way != "alias":
            return list(self._direct(found or (), file, "class"))
        return self._of_instance(value, name, found, file)

    def _of_instance(
        self, value: Value, name: str, found: Values | None, file: int
    ) -> list[Target]:
        """A method of an instance, with the methods that override it in the classes below."""
        hierarchy = self.resolver
        base = found[0].number if found and found[0].way == "member" else None
        over = hierarchy.overriders(value.number, name, base)
        sure = CERTAIN if value.kind in {"self", "class"} and not over else LIKELY
        targets = []
        if base is not None:
            if not self.project.units[base].is_property:
                targets.append(Target(self._constructor(base), sure, value.way))
        elif found:
            targets += [
                one._replace(certainty=LIKELY, way="attribute") for one in self._direct(found, file)
            ]
        if len(over) <= MOST_OVERRIDERS:
            targets += [Target(one, LIKELY, "override") for one in over]
        if not targets and found is None and not over and hierarchy.order(value.number).complete:
            return self._guess(file, name)
        return targets

    def count(self, parsed: ParsedFile) -> ParsedFile:
        """A file's row with the number of its calls that were resolved."""
        resolved = self._resolved.get(parsed.path)
        return parsed.model_copy(update={"resolved": resolved}) if resolved else parsed

    def records(self) -> list[CallEdge]:
        """The edges, sorted by caller and callee."""
        first, edges = self.project.first, self._edges
        # units are numbered by path and line; a file's top level comes before its units
        place = {
            number: 2 * number if number >= 0 else 2 * first[-1 - number] - 1
            for key in edges
            for number in key
        }
        refs = {number: self._ref(number) for number in place}
        ordered = sorted(edges, key=lambda key: (place[key[0]], place[key[1]]))
        return [
            CallEdge(
                caller=refs[caller],
                callee=refs[callee],
                lines=tuple(sorted(set(edges[caller, callee][2]))),
                certainty=_CERTAINTIES[edges[caller, callee][0]],
                way=edges[caller, callee][1],
            )
            for caller, callee in ordered
        ]

    def _ref(self, number: int) -> UnitRef:
        """A unit's record; its path was validated with its file's row, so it is not again."""
        if number < 0:
            facts = self.project.files[-1 - number]
            return UnitRef.model_construct(path=facts.path, unit="", first=1, last=facts.lines)
        unit = self.project.units[number].unit
        path = self.project.files[self.project.file_of[number]].path
        name = unit.name
        if not name.isascii():
            name = name.encode("latin-1").decode("utf-8", "replace")
        return UnitRef.model_construct(path=path, unit=name, first=unit.first, last=unit.last)
