"""Versions and ranges as npm writes them: enough to order releases and to read ``engines``.

No Python package of ours knows npm's ranges, and asking Node would need a Node on the host.
"""

import re
from typing import NamedTuple

_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?")
_PARTIAL = re.compile(
    r"(\^|~>?|>=|<=|>|<|=)?\s*v?(\d+|[xX*])?(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*]))?(?:-[\w.-]+)?(?:\+[\w.-]+)?"
)
_HYPHEN = re.compile(r"\s*(\S+)\s+-\s+(\S+)\s*")


class Version(NamedTuple):
    """A version; compares as semantic versioning says, but for the order among pre-releases."""

    major: int
    minor: int
    patch: int
    final: bool
    """False for a pre-release, which sorts before its release."""
    tag: str
    """What follows the hyphen."""


_Three = tuple[int, int, int]


def parse_version(text: str) -> Version | None:
    """``1.2.3-rc.1`` read; None for what is no full version."""
    found = _VERSION.fullmatch(text.strip())
    if found is None:
        return None
    major, minor, patch, tag = found.groups()
    return Version(int(major), int(minor), int(patch), tag is None, tag or "")


def satisfies(version: Version, text: str) -> bool:
    """Whether a release (no pre-release) lies in a range such as ``^18.0.0 || >=20``.

    What cannot be read as a range (``latest``, a URL) holds nothing.
    """
    return version.final and any(_in_all(version, part) for part in text.split("||"))


def _in_all(version: Version, text: str) -> bool:
    three = version[:3]
    hyphen = _HYPHEN.fullmatch(text)
    if hyphen is not None:
        text = f">={hyphen[1]} <={hyphen[2]}"
    text = re.sub(r"(\^|~>?|>=|<=|>|<|=)\s+", r"\1", text.strip())
    if text == "":
        return True
    for word in text.replace(",", " ").split():
        bounds = _bounds(word)
        if bounds is None or not bounds[0] <= three < bounds[1]:
            return False
    return True


_END = (10**9, 0, 0)


def _bounds(word: str) -> tuple[_Three, _Three] | None:
    """First version of a comparator, and the first one past it."""
    found = _PARTIAL.fullmatch(word)
    if found is None:
        return None
    sign, *parts = found.groups()
    numbers = []
    for part in parts:
        if part is None or not part.isdigit():
            break
        numbers.append(int(part))
    if not numbers:
        return (0, 0, 0), _END
    low = (*numbers, 0, 0)[:3]
    first = (low[0], low[1], low[2])
    past = _next(numbers)
    match sign:
        case ">=":
            return first, _END
        case ">":
            return past, _END
        case "<":
            return (0, 0, 0), first
        case "<=":
            return (0, 0, 0), past
        case "^":
            leading = next((i for i, number in enumerate(numbers) if number), len(numbers) - 1)
            return first, _next(numbers[: leading + 1])
        case "~" | "~>":
            return first, _next(numbers[:2])
        case _:
            return first, past


def _next(numbers: list[int]) -> _Three:
    """The first version that does not begin with these numbers."""
    raised = [*numbers[:-1], numbers[-1] + 1, 0, 0]
    return raised[0], raised[1], raised[2]
