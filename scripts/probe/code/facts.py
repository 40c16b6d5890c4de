"""What the call graph needs to know of one file.

These facts take less than the file's text, while its syntax tree takes some twenty times that.
Nothing here looks at another file: what a name means is asked later (:mod:`probe.code.resolve`).
"""

from dataclasses import dataclass, field

from probe.code.languages.base import Export, Import
from probe.code.units import Unit

TOP = -1
"""The scope of a file's top level."""
SHADOW = ""
"""A value of which nothing is known."""


@dataclass(slots=True)
class UnitFact:
    """A unit and what it says of itself."""

    unit: Unit
    parent: int
    """Index of the unit around it, or :data:`TOP`."""
    bases: tuple[str, ...] = ()
    """Expressions of a class's bases."""
    returns: list[str] = field(default_factory=list)
    """Expressions of what a function returns; from its annotation alone where it has one."""
    annotated: bool = False
    is_property: bool = False
    is_stub: bool = False
    """Declared only: an overload, a signature."""
    twin: int = TOP
    """The named class that a name is given to (``A = class B {}``)."""


Call = tuple[int, str, int]
"""Scope, expression of what is called, line."""


@dataclass(slots=True)
class Facts:
    """One file, for the call graph."""

    path: str
    language: str
    lines: int = 1
    units: list[UnitFact] = field(default_factory=list)
    spaces: set[str] = field(default_factory=set)
    """Qualified names of scopes that are no units: object literals, namespaces."""
    imports: dict[int, dict[str, list[Import]]] = field(default_factory=dict)
    """Imports by scope and local name; star imports under the empty name."""
    exports: dict[str, list[Export]] = field(default_factory=dict)
    names: dict[int, dict[str, list[str]]] = field(default_factory=dict)
    """Values of names by scope; :data:`SHADOW` among them where one is unknown."""
    fields: dict[int, dict[str, list[tuple[int, str]]]] = field(default_factory=dict)
    """Values of a class's attributes, each with the scope that it was written in."""
    calls: list[Call] = field(default_factory=list)
    decorators: list[Call] = field(default_factory=list)
    markup: list[Call] = field(default_factory=list)
    references: list[Call] = field(default_factory=list)
    """Names handed on as values."""
    unread: int = 0
    """Calls of something that is no path: ``table[key]()``."""
