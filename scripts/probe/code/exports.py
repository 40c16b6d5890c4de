"""What a file gives to others under a name, through any number of files that only pass it on."""

from abc import ABC, abstractmethod

from probe.code.facts import TOP
from probe.code.languages.base import Export, Import
from probe.code.project import Project
from probe.code.values import DEEPEST, OUTSIDE, Value, Values


class Exports(ABC):
    """The half of the evaluation that crosses files.

    Args:
        project: all files' facts.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self._given: dict[tuple[int, str], Values] = {}
        self._depth = 0

    @abstractmethod
    def evaluate(self, file: int, scope: int, written: str) -> Values:
        """Values of an expression at a place; empty when nothing is known."""

    @abstractmethod
    def name(self, file: int, scope: int, name: str) -> Values:
        """Values of a bare name at a place."""

    @abstractmethod
    def members(self, values: Values, name: str) -> Values:
        """Values of a member of some values."""

    def default(self, file: int) -> Values:
        """What calling a module means: its default export, through modules that only pass it on."""
        seen = {file}
        while True:
            given = self.exported(file, "default")
            if len(given) != 1 or given[0].kind != "module" or given[0].number in seen:
                return given
            file = given[0].number
            seen.add(file)

    def _imported(self, file: int, one: Import) -> Values:
        module = self.project.module(file, one.module)
        if module is None:
            if one.name is not None:
                # ``from .. import sibling`` where the package itself is no file
                joined = one.module + ("" if one.module.endswith(".") else ".") + one.name
                module = self.project.module(file, joined)
                if module is not None and self.project.languages[file].family == "python":
                    return (Value("module", module, "import"),)
            elif "." not in one.module:
                return (Value("outside", -1, one.module),)
            return (OUTSIDE,)
        if one.name is None:
            return (Value("module", module, "import"),)
        return self.exported(module, one.name)

    def _module(self, file: int, name: str) -> Values:
        module = self.project.module(file, name)
        return (OUTSIDE,) if module is None else (Value("module", module, "import"),)

    def exported(self, file: int, name: str) -> Values:
        """What a file gives to others under a name."""
        key = (file, name)
        known = self._given.get(key)
        if known is None:
            if self._depth > DEEPEST:
                return ()
            self._given[key] = ()
            self._depth += 1
            found = self._given_away(file, name)
            self._depth -= 1
            known = self._given[key] = tuple(
                value._replace(way="import") if value.kind == "unit" else value for value in found
            )
        return known

    def _given_away(self, file: int, name: str) -> Values:
        facts, language = self.project.files[file], self.project.languages[file]
        if not language.explicit_exports:
            found = self.name(file, TOP, name)
            if not found or found == (OUTSIDE,):
                inside = self.project.inside(file, name)
                if inside is not None:
                    return (Value("module", inside, "import"),)
            return found
        given: list[Value] = []
        for one in facts.exports.get(name, ()):
            given += self._export(file, one)
        if not given:
            for star in facts.exports.get("", ()):
                module = self.project.module(file, star.module or "")
                if module is not None and module != file:
                    given += self.exported(module, name)
        if not given and name != "default":
            whole = [v for v in self._whole(file) if v.kind != "module" or v.number != file]
            given += self.members(tuple(whole), name)
        return tuple(dict.fromkeys(given))

    def _whole(self, file: int) -> Values:
        """What ``module.exports`` is, where it is one thing."""
        found: list[Value] = []
        for one in self.project.files[file].exports.get("default", ()):
            if one.local:
                found += self.evaluate(file, TOP, one.local)
        return tuple(found)

    def _export(self, file: int, one: Export) -> Values:
        if one.local == "":
            return (Value("module", file, "top"),)
        if one.local is not None:
            return self.evaluate(file, TOP, one.local)
        module = self.project.module(file, one.module or "")
        if module is None:
            return (OUTSIDE,)
        if one.imported is None:
            return (Value("module", module, "import"),)
        return self.exported(module, one.imported)
