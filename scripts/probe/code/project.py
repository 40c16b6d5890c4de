"""All files' facts together: units under one numbering, modules, and the class hierarchy.

A unit's number is its place in the order of paths and lines, so that nothing depends on the order
in which files were read.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property

from probe.code.facts import TOP, Facts, UnitFact
from probe.code.languages import LANGUAGES
from probe.code.languages.base import Language, ModuleFinder


class Project:
    """The files of one snapshot, sorted by path.

    Args:
        facts: one of each parsed file, in any order.
    """

    def __init__(self, facts: Iterable[Facts]) -> None:
        self.files = sorted(facts, key=lambda one: one.path)
        self.numbers = {one.path: number for number, one in enumerate(self.files)}
        self.languages: list[Language] = [LANGUAGES[one.language] for one in self.files]
        self.first: list[int] = []
        self.units: list[UnitFact] = []
        self.file_of: list[int] = []
        self.named: list[dict[str, list[int]]] = []
        self.inner: list[dict[int, dict[str, list[int]]]] = []
        self.finders = self._find_modules()
        self._found: dict[tuple[str, str, str], int | None] = {}
        for number, one in enumerate(self.files):
            self._add(number, one)

    def _add(self, number: int, one: Facts) -> None:
        self.first.append(len(self.units))
        named: dict[str, list[int]] = {}
        inner: dict[int, dict[str, list[int]]] = {}
        for fact in one.units:
            name, unit = fact.unit.name, len(self.units)
            named.setdefault(name, []).append(unit)
            if fact.parent != TOP:
                around = len(one.units[fact.parent].unit.name) + 1
                inner.setdefault(fact.parent, {}).setdefault(name[around:], []).append(unit)
            self.units.append(fact)
            self.file_of.append(number)
        self.named.append(named)
        self.inner.append(inner)

    def _find_modules(self) -> Mapping[str, ModuleFinder]:
        paths: dict[str, list[str]] = defaultdict(list)
        for one, language in zip(self.files, self.languages, strict=True):
            paths[language.family].append(one.path)
        makers = {language.family: language.modules for language in reversed(self.languages)}
        return {family: makers[family](found) for family, found in paths.items()}

    def module(self, file: int, name: str) -> int | None:
        """The file that an import of ``name`` in ``file`` means; None outside the snapshot."""
        path = self.files[file].path
        folder = path.rpartition("/")[0]
        family = self.languages[file].family
        key = (family, folder, name)
        if key not in self._found:
            found = self.finders[family].find(path, name)
            self._found[key] = self.numbers.get(found) if found is not None else None
        return self._found[key]

    def inside(self, file: int, name: str) -> int | None:
        """A module of a package, by its own name."""
        found = self.finders[self.languages[file].family].inside(self.files[file].path, name)
        return self.numbers.get(found) if found is not None else None

    @cached_property
    def groups(self) -> list[tuple[int, ...]]:
        """The files that share top-level names with each file, itself first."""
        found = []
        for number, one in enumerate(self.files):
            others = self.finders[self.languages[number].family].siblings(one.path)
            found.append((number, *(self.numbers[path] for path in others)))
        return found

    def unit_named(self, file: int, name: str) -> int | None:
        """The unit of a qualified name in a file or those that share its names.

        Of several, the last that is more than a declaration counts, as at run time; of a property
        the first, its getter.
        """
        for number in self.groups[file]:
            found = self.named[number].get(name)
            if found:
                return self._choose(found)
        return None

    def unit_inside(self, file: int, scope: int, name: str) -> int | None:
        """The unit of a name directly inside a function or class; see :meth:`unit_named`."""
        found = self.inner[file].get(scope)
        units = found.get(name) if found else None
        return self._choose(units) if units else None

    def _choose(self, found: list[int]) -> int:
        if len(found) == 1:
            return found[0]
        real = [unit for unit in found if not self.units[unit].is_stub] or found
        getters = [unit for unit in real if self.units[unit].is_property]
        return getters[0] if getters else real[-1]

    def scope_unit(self, file: int, scope: int) -> int | None:
        """Number of the unit that a scope of a file is; None at the top level."""
        return None if scope == TOP else self.first[file] + scope

    def class_around(self, file: int, scope: int) -> int | None:
        """Number of the innermost class or type around a scope, the scope itself included."""
        units = self.files[file].units
        while scope != TOP and units[scope].unit.kind not in {"class", "type"}:
            scope = units[scope].parent
        return self.scope_unit(file, scope)
