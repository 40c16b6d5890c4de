"""The public API in words: entry points, what they give, and where it is defined."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from probe.context.api import ApiName, Surface, methods, says, signature
from probe.context.built import source_file
from probe.context.entry import Entry
from probe.context.manual import Manual
from probe.context.metadata import Package
from probe.context.parsed import Code
from probe.context.sources import Sources

DETAILED = 60
"""Names that are described one by one; of more, the best documented."""
WITH_METHODS = 12
"""Of these, how many classes are shown with their methods."""
MOST_METHODS = 14
"""Methods of one class that are named."""
MOST_SURFACES = 120
"""Entry points that are listed."""
_MOST_NAMES = 24
"""Names in one line."""


def commands(sources: Sources, code: Code, packages: Sequence[Package]) -> list[Surface]:
    """The commands that packages install, as entry points."""
    found = []
    for package in packages:
        for command, target in sorted(package.commands.items()):
            one = _command(sources, code, package, target)
            if one is not None:
                found.append(Surface(f"command {command}", one.path, (one,), is_root=True))
    return found


def _command(sources: Sources, code: Code, package: Package, target: str) -> ApiName | None:
    if package.kind == "node":
        path = source_file(sources, package, target, target)
        return ApiName(target, path, None) if path else None
    module, _, function = target.partition(":")
    for folder in ("", "src/", "lib/"):
        base = str(PurePosixPath(package.folder) / (folder + module.replace(".", "/")))
        for path in (f"{base}.py", f"{base}/__init__.py"):
            if path in sources:
                units = {unit.name: unit for unit in code.units(path)}
                return ApiName(target, path, units.get(function))
    return None


def public_api(code: Code, manual: Manual, surfaces: Sequence[Surface]) -> list[Entry]:
    """Entries on commands, on the names of the packages one by one, and on other entry points."""
    found: list[Entry] = []
    described: set[tuple[str, str]] = set()
    ordered = sorted(surfaces, key=lambda one: not one.title.startswith("command "))
    for rank, surface in enumerate(ordered[:MOST_SURFACES]):
        if surface.title.startswith("command "):
            (one,) = surface.names
            text = f"Command `{surface.title.removeprefix('command ')}` runs `{one.name}`"
            found.append(Entry(text, _place(one), (one.path,), rank))
        elif surface.is_root:
            found += _root(code, manual, surface, described)
        elif (entry := _part(code, manual, surface, described, rank)) is not None:
            found.append(entry)
    return found


def _root(
    code: Code, manual: Manual, surface: Surface, described: set[tuple[str, str]]
) -> Iterator[Entry]:
    values = [one for one in surface.names if one.unit is None or one.unit.kind != "type"]
    types = [one for one in surface.names if one.unit is not None and one.unit.kind == "type"]
    mentions = manual.mentions
    ranked = sorted(values, key=lambda one: (-_weight(one, mentions), one.name))
    shown = {one.name for one in ranked[:DETAILED] if one.unit is not None}
    text = f"`{surface.title}` gives {len(surface.names)} names:"
    yield Entry(text, surface.path, (surface.path,), 0)
    for rank, one in enumerate(ranked, 1):
        if one.name in shown:
            described.add((one.path, one.name))
            yield _described(code, one, rank, with_methods=rank <= WITH_METHODS)
    others = [one.name for one in ranked if one.name not in shown]
    yield from _lists("further names", others, surface.path, DETAILED // 2)
    yield from _lists("types", [one.name for one in types], surface.path, DETAILED)


def _weight(one: ApiName, mentions: Mapping[str, int]) -> float:
    """How much a manual speaks of a name; internal names last."""
    if one.name.startswith("_") or one.name == "default":
        return -1
    return mentions[one.name] + (0.5 if one.unit is not None else 0)


def _described(code: Code, one: ApiName, rank: int, *, with_methods: bool) -> Entry:
    called = signature(code, one)
    word = re.search(r"[\w$]+", re.sub(r"^(?:class|interface|type|enum)\s", "", called))
    alias = f"`{one.name}`: " if word is None or word[0] != one.name else ""
    said = says(code, one)
    text = f"{alias}`{called}`{f': {said}' if said else ''}"
    own = methods(code, one) if with_methods else []
    if own:
        text += f" [methods: {_named(own, MOST_METHODS)}]"
    return Entry(text, _place(one), (one.path,), rank, depth=1)


def _named(names: Sequence[str], most: int) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def _lists(title: str, names: Sequence[str], path: str, rank: int) -> Iterator[Entry]:
    for start in range(0, len(names), _MOST_NAMES):
        listed = ", ".join(f"`{name}`" for name in names[start : start + _MOST_NAMES])
        yield Entry(f"{title}: {listed}", "", (path,), rank + start // _MOST_NAMES, depth=1)


def _part(
    code: Code,
    manual: Manual,
    surface: Surface,
    described: set[tuple[str, str]],
    place: int,
) -> Entry | None:
    """An entry point below a package, with those of its names that are not described above."""
    names = [one for one in surface.names if (one.path, one.name) not in described]
    if not names:
        return None
    mentions = manual.mentions
    ranked = sorted(names, key=lambda one: (-_weight(one, mentions), one.name))
    told = says(code, ranked[0]) if len(ranked) == 1 else ""
    text = f"`{surface.title}`: {_named([one.name for one in ranked], _MOST_NAMES // 2)}"
    text += f": {told}" if told else ""
    last = re.split(r"[./]", surface.title)[-1]
    # what the manual never names comes after all that it does
    rank = 10 + place // 4 + (0 if mentions[last] else 60)
    return Entry(text, surface.path, (surface.path,), rank)


def _place(one: ApiName) -> str:
    return f"{one.path}:{one.unit.head_first}" if one.unit is not None else one.path
