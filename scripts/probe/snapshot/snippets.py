"""Code of a caller or callee, cut to what shows the contract between it and a pass.

A short unit is shown whole. Of a longer one its head, which says what it promises, and of a caller
the surroundings of its calls, which say what it relies on.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from probe.code.tokens import count_tokens
from probe.records import Partner
from probe.snapshot.partners import unit_name

SHORT = 30
"""Lines of a unit that is shown whole."""

CALLER_HEAD = 6
"""First lines of a longer caller: its signature, and what stands right below."""

CALLEE_HEAD = 24
"""First lines of a longer callee: signature, documentation, and how it begins."""

LEAST_HEAD = 6
"""First lines of a unit where there is no room for more."""

AROUND = 4
"""Lines before and after a call."""

MAX_LINES = 60
"""Lines of a unit, at most; the first calls win."""

MAX_CHARS = 300
"""Characters of a line; the rest of a longer one is left out."""

GAP = "…"
"""Stands for lines, or the rest of a line, that are left out."""

_SEPARATOR = 2
"""Tokens between two snippets, at most."""


@dataclass(frozen=True)
class Form:
    """A snippet's text."""

    text: str
    """The unit's name, then numbered lines."""

    @cached_property
    def tokens(self) -> int:
        """Tokens (cl100k_base), what separates it from the next one included."""
        return count_tokens(self.text) + _SEPARATOR


@dataclass(frozen=True, slots=True)
class Snippet:
    """One unit's code."""

    forms: tuple[Form, ...]
    """The best first, then shorter ones."""


def caller_snippet(partner: Partner, text: str) -> Snippet:
    """Code of a unit that calls into a pass.

    Args:
        partner: the caller.
        text: its file.
    """
    lines = text.split("\n")
    first, last = _bounds(partner, lines)
    around = [
        range(max(first, site - AROUND), min(last, site + AROUND) + 1) for site in partner.sites
    ]
    if not partner.unit:  # the top of a file says nothing about a call at its end
        return _snippet(partner, lines, _merge(around), _merge(around[:1]))
    head = range(first, min(last, first + CALLER_HEAD - 1) + 1)
    return _snippet(partner, lines, _whole_or(first, last, [head, *around]), _least(first, last))


def callee_snippet(partner: Partner, text: str) -> Snippet:
    """Code of a unit that a pass calls; arguments as above."""
    lines = text.split("\n")
    first, last = _bounds(partner, lines)
    head = range(first, min(last, first + CALLEE_HEAD - 1) + 1)
    return _snippet(partner, lines, _whole_or(first, last, [head]), _least(first, last))


def _bounds(partner: Partner, lines: Sequence[str]) -> tuple[int, int]:
    first = min(partner.first, len(lines))
    return first, max(first, min(partner.last, len(lines)))


def _whole_or(first: int, last: int, ranges: Iterable[range]) -> list[int]:
    return list(range(first, last + 1)) if last - first < SHORT else _merge(ranges)


def _least(first: int, last: int) -> list[int]:
    return list(range(first, min(last, first + LEAST_HEAD - 1) + 1))


def _merge(ranges: Iterable[range]) -> list[int]:
    """Line numbers of the ranges, ascending, those of the first ranges where there are too many."""
    kept: set[int] = set()
    for one in ranges:
        if len(kept.union(one)) > MAX_LINES:
            break
        kept.update(one)
    return sorted(kept)


def _snippet(
    partner: Partner, lines: Sequence[str], best: Sequence[int], least: Sequence[int]
) -> Snippet:
    wanted = [best, least] if len(least) < len(best) else [best]
    return Snippet(tuple(_form(partner, lines, one) for one in wanted if one))


def _form(partner: Partner, lines: Sequence[str], numbers: Sequence[int]) -> Form:
    _, last = _bounds(partner, lines)
    shown = [unit_name(partner.path, partner.unit)]
    before = numbers[0] - 1
    for number in numbers:
        if number > before + 1:
            shown.append(GAP)
        shown.append(f"{number}|{_cut(lines[number - 1])}")
        before = number
    if before < last and partner.unit:
        shown.append(GAP)
    return Form("\n".join(shown))


def _cut(line: str) -> str:
    clean = line.encode("utf-8", errors="replace").decode("utf-8")
    return clean if len(clean) <= MAX_CHARS else clean[:MAX_CHARS] + GAP
