"""Values of the abstract evaluation that finds out what a call's receiver is."""

from typing import NamedTuple

MOST_VALUES = 4
"""An expression with more values than these may be anything."""
DEEPEST = 40
"""Steps from name to name before giving up."""


class Value(NamedTuple):
    """Something that an expression can be."""

    kind: str
    """module, unit, instance, self, class, parent, bag or outside."""
    number: int = -1
    """File of a module or bag; unit of a unit, instance, self, class, parent."""
    way: str = ""
    """How it is known."""


OUTSIDE = Value("outside")
Values = tuple[Value, ...]
