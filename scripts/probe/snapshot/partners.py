"""Who calls whom across files, as the planner counts and lists it.

A partner is production code: only edges between two audited files count. Tests call nearly
everything, so that they would fill every list, and what they expect is not for the prompt to say; a
session can open them in its checkout.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import get_args

from probe.records import CallEdge, Certainty, Partner, UnitRef

_RANK: Mapping[Certainty, int] = {name: rank for rank, name in enumerate(get_args(Certainty))}
"""The surest first."""

_COUNTED: frozenset[Certainty] = frozenset({"certain", "likely"})
"""Edges that make two files partners for the score. A name that only looks alike (``possible``) joins
files at random; as callers and callees such units are listed after all others."""

Key = tuple[str, int, int, str]
"""A unit as path, first and last line, name."""


@dataclass(slots=True)
class _Tally:
    calls: set[tuple[Key, int]] = field(default_factory=set)
    rank: int = len(_RANK)
    into: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Partners:
    """Callers or callees of a pass."""

    listed: tuple[Partner, ...]
    """The most important, by certainty, then number of calls, then path and line."""
    found: int
    """How many there are in all."""


class CallMap:
    """The calls between audited files.

    Args:
        edges: the call graph, in any order; edges inside a file, or of a file that is not audited,
            are left out.
        audited: paths of the audited files.
    """

    def __init__(self, edges: Iterable[CallEdge], audited: Collection[str]) -> None:
        self._calls_of: dict[str, list[CallEdge]] = defaultdict(list)
        self._calls_into: dict[str, list[CallEdge]] = defaultdict(list)
        known = frozenset(audited)
        for edge in edges:
            caller, callee = edge.caller.path, edge.callee.path
            if caller != callee and caller in known and callee in known:
                self._calls_of[caller].append(edge)
                self._calls_into[callee].append(edge)

    def partner_files(self, path: str) -> set[str]:
        """Other files that a file calls or is called by, as far as that is certain or likely."""
        callees = {e.callee.path for e in self._calls_of[path] if e.certainty in _COUNTED}
        return callees | {e.caller.path for e in self._calls_into[path] if e.certainty in _COUNTED}

    def callers(self, files: Iterable[str], limit: int) -> Partners:
        """Units of other files that call into some files, at most ``limit`` of them listed."""
        inside = frozenset(files)
        tallies: dict[Key, _Tally] = defaultdict(_Tally)
        for edge in (e for path in inside for e in self._calls_into[path]):
            if edge.caller.path not in inside:
                _count(tallies[_key(edge.caller)], edge, edge.callee)
        return _ranked(tallies, limit, with_sites=True)

    def callees(self, files: Iterable[str], limit: int) -> Partners:
        """Units of other files that some files call, at most ``limit`` of them listed."""
        inside = frozenset(files)
        tallies: dict[Key, _Tally] = defaultdict(_Tally)
        for edge in (e for path in inside for e in self._calls_of[path]):
            if edge.callee.path not in inside:
                _count(tallies[_key(edge.callee)], edge, edge.caller)
        return _ranked(tallies, limit, with_sites=False)


def unit_name(path: str, unit: str) -> str:
    """A unit as people and prompts read it: ``path:unit``, the path alone for the top level."""
    return f"{path}:{unit}" if unit else path


def _key(unit: UnitRef) -> Key:
    return unit.path, unit.first, unit.last, unit.unit


def _count(tally: _Tally, edge: CallEdge, other_side: UnitRef) -> None:
    other = _key(other_side)
    tally.calls |= {(other, line) for line in edge.lines or (0,)}
    tally.rank = min(tally.rank, _RANK[edge.certainty])
    tally.into.add(unit_name(other_side.path, other_side.unit))


def _ranked(tallies: Mapping[Key, _Tally], limit: int, *, with_sites: bool) -> Partners:
    order = sorted(tallies.items(), key=lambda item: (item[1].rank, -len(item[1].calls), item[0]))
    return Partners(tuple(_partner(*item, with_sites) for item in order[:limit]), len(order))


def _partner(key: Key, tally: _Tally, with_sites: bool) -> Partner:
    path, first, last, unit = key
    lines = {line for _, line in tally.calls if line} if with_sites else set()
    return Partner(
        path=path,
        unit=unit,
        first=first,
        last=last,
        calls=len(tally.calls),
        certainty=get_args(Certainty)[tally.rank],
        into=tuple(sorted(tally.into)),
        sites=tuple(sorted(lines)),
    )
