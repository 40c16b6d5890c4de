"""Classes: their order of bases, who defines which member, and who overrides it."""

from abc import ABC, abstractmethod
from collections import defaultdict
from typing import NamedTuple

from probe.code.project import Project

DEEPEST = 40
"""Levels of bases that are followed."""


class Order(NamedTuple):
    """A class and its bases in the order in which members are looked up."""

    classes: tuple[int, ...]
    complete: bool
    """Whether all bases are in the snapshot."""


class Hierarchy(ABC):
    """The part of the evaluation that knows classes.

    Args:
        project: all files' facts.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self._bases: dict[int, tuple[tuple[int, ...], bool]] = {}
        self._orders: dict[int, Order] = {}
        self._own: dict[tuple[int, str], int | None] = {}
        self._definers: dict[str, list[tuple[int, int]]] | None = None
        self._inheriting: set[int] = set()

    @abstractmethod
    def classes(self, file: int, scope: int, written: str) -> tuple[int, ...]:
        """Classes that a base's expression, written in a file and scope, means; empty outside."""

    def bases(self, number: int) -> tuple[tuple[int, ...], bool]:
        """Direct bases inside the snapshot, and whether these are all."""
        known = self._bases.get(number)
        if known is not None:
            return known
        self._bases[number] = ((), False)
        fact, file = self.project.units[number], self.project.file_of[number]
        found: list[int] = []
        complete = True
        for written in fact.bases:
            classes = self.classes(file, fact.parent, written)
            complete = complete and (bool(classes) or written in {"object", "Object"})
            found += [one for one in classes if one != number and one not in found]
        self._bases[number] = (tuple(found), complete)
        return self._bases[number]

    def order(self, number: int) -> Order:
        """Depth first, of what comes twice the last: C3 for all orders that C3 accepts and simple ones."""
        known = self._orders.get(number)
        if known is not None:
            return known
        found: list[int] = []
        complete, todo, steps = True, [number], 0
        while todo and steps < DEEPEST * 25:
            one = todo.pop()
            steps += 1
            if found.count(one) > 2:
                continue
            found.append(one)
            twin = self.project.units[one].twin
            if twin >= 0:
                todo.append(self.project.first[self.project.file_of[one]] + twin)
            bases, all_known = self.bases(one)
            complete = complete and all_known
            todo += reversed(bases)
        order = tuple(reversed(dict.fromkeys(reversed(found))))
        self._orders[number] = Order((number, *(one for one in order if one != number)), complete)
        return self._orders[number]

    def own(self, number: int, name: str) -> int | None:
        """The unit that a class itself has under a name."""
        key = (number, name)
        if key not in self._own:
            owner = self.project.units[number].unit.name
            self._own[key] = self.project.unit_named(
                self.project.file_of[number], f"{owner}.{name}"
            )
        return self._own[key]

    def overriders(self, number: int, name: str, found: int | None) -> list[int]:
        """Units of this name in the classes below a class, other than the one it has itself."""
        result = []
        for owner, unit in self._all_definers().get(name, ()):
            if owner != number and unit != found and number in self.order(owner).classes:
                result.append(unit)
        return result

    def _all_definers(self) -> dict[str, list[tuple[int, int]]]:
        """By member name: classes that have bases, each with its unit of that name."""
        if self._definers is None:
            self._definers = defaultdict(list)
            for number, fact in enumerate(self.project.units):
                if fact.unit.kind == "class":
                    bases, _ = self.bases(number)
                    if bases:
                        self._inheriting.add(number)
            for number, fact in enumerate(self.project.units):
                if fact.unit.kind == "method" and fact.parent >= 0:
                    owner = self.project.first[self.project.file_of[number]] + fact.parent
                    if owner in self._inheriting:
                        name = fact.unit.name.rpartition(".")[2]
                        self._definers[name].append((owner, number))
        return self._definers
