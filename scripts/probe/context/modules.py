"""The module tree with what each part says of itself, its size, who uses it, and who reaches it."""

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from probe.context.api import Surface
from probe.context.comments import first_sentence, head_comment
from probe.context.entry import Entry
from probe.context.manual import Manual
from probe.context.markup import blocks_of, sentences
from probe.context.parsed import Code
from probe.context.sources import Sources
from probe.records import CallEdge, SnapshotFile

MOST_FILES = 160
"""Files of which more than the size can be said: the largest and most used."""
PARTNER_LINES = 60
"""Lines that a file which uses another weighs, as in the plan of passes."""
FEW_NAMES = 10
"""A package with fewer names of its own has its API in its modules."""


class Reach(NamedTuple):
    """How users get to the files of a snapshot, as far as static analysis sees."""

    known: bool
    """Whether there is a call graph with entry points at all."""
    names: Mapping[str, Sequence[str]]
    """Public names whose calls lead into a file, the nearest first."""

    entries: frozenset[str] = frozenset()
    """Files that are entry points themselves."""

    def words(self, path: str) -> str:
        """In words, for the panel; empty where nothing is known."""
        if path in self.entries:
            return "an entry point itself"
        if not self.known:
            return ""
        names = self.names.get(path, ())
        if not names:
            return "no call path from an entry point is seen"
        return "reached from " + ", ".join(f"`{name}`" for name in names[:3])


def reach_of(edges: Iterable[CallEdge], surfaces: Sequence[Surface], manual: Manual) -> Reach:
    """Follow the calls from the names that users can get hold of.

    Methods of a public class count as public themselves. A package that has few names of its own is
    entered through the modules that its manual names.

    Args:
        edges: the call graph.
        surfaces: the entry points.
        manual: tells which modules are documented.
    """
    calls: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    inside: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        caller, callee = (edge.caller.path, edge.caller.unit), (edge.callee.path, edge.callee.unit)
        calls[caller].append(callee)
        for path, unit in (caller, callee):
            inside[path].add(unit)
    first: dict[tuple[str, str], str] = {}
    waiting: deque[tuple[str, str]] = deque()
    for name, path, unit in _starts(surfaces, manual):
        own = [one for one in sorted(inside[path]) if one == unit or _is_member(one, unit)]
        for key in dict.fromkeys([(path, unit), *((path, one) for one in own)]):
            if key not in first:
                first[key] = name
                waiting.append(key)
    known = bool(waiting) and bool(calls)
    names: dict[str, list[str]] = defaultdict(list)
    while waiting:
        key = waiting.popleft()
        if first[key] not in names[key[0]]:
            names[key[0]].append(first[key])
        for callee in calls.get(key, ()):
            if callee not in first:
                first[callee] = first[key]
                waiting.append(callee)
    return Reach(known, names, frozenset(one.path for one in surfaces if one.is_root))


def _starts(surfaces: Sequence[Surface], manual: Manual) -> Iterable[tuple[str, str, str]]:
    roots = sum(len(one.names) for one in surfaces if one.is_root)
    for surface in surfaces:
        last = re.split(r"[./]", surface.title)[-1]
        if surface.is_root or "/" in surface.title or (roots < FEW_NAMES and manual.mentions[last]):
            for one in surface.names:
                yield one.name, one.path, one.unit.name if one.unit else one.name


def _is_member(unit: str, of: str) -> bool:
    member = unit.removeprefix(of + ".")
    is_special = member.startswith("__") and member.endswith("__")
    return member != unit and (is_special or not member.startswith(("_", "#")))


def architecture(
    sources: Sources, code: Code, edges: Sequence[CallEdge], reach: Reach
) -> list[Entry]:
    """The folders and files of the audited sources, in the order of a tree."""
    used = used_by(edges)
    weight = {f.path: f.lines + PARTNER_LINES * len(used[f.path]) for f in sources.audited}
    order = sorted(weight, key=lambda path: (-weight[path], path))
    ranks = {path: rank for rank, path in enumerate(order[:MOST_FILES], 1)}
    found: list[tuple[tuple[str, ...], Entry]] = []
    folders = {name: held for name, held in _folders(sources.audited).items() if len(held) > 1}
    for folder, held in folders.items():
        entry = _folder_entry(sources, code, folder, held, _depth(folder, folders))
        found.append((_place(folder, is_folder=True), entry))
    for file in sources.audited:
        if file.path in ranks:
            text = f"`{file.path}`" + _size(file.lines, len(used[file.path]), 1)
            role = role_of(code, file.path) or _defines(code, file.path)
            entry = Entry(
                f"{text}: {role}" if role else text,
                sources=(file.path,),
                rank=ranks[file.path],
                depth=_depth(file.path, folders),
                panel=reach.words(file.path),
            )
            found.append((_place(file.path, is_folder=False), entry))
    return [entry for _, entry in sorted(found, key=lambda pair: pair[0])]


def _place(path: str, *, is_folder: bool) -> tuple[str, ...]:
    """Sorts files of a folder before its folders, as people list them."""
    parts = PurePosixPath(path).parts
    inner = tuple(f"1{part}" for part in parts[: len(parts) if is_folder else -1])
    return inner if is_folder else (*inner, f"0{parts[-1]}")


def _folders(files: Sequence[SnapshotFile]) -> dict[str, list[SnapshotFile]]:
    """Every folder with all files below it; one that only holds another folder is left out."""
    below: dict[str, list[SnapshotFile]] = defaultdict(list)
    direct: dict[str, int] = defaultdict(int)
    for file in files:
        parents = [str(above) for above in PurePosixPath(file.path).parents][:-1]
        for above in parents:
            below[above].append(file)
        if parents:
            direct[parents[0]] += 1
    children: dict[str, set[str]] = defaultdict(set)
    for folder in below:
        children[str(PurePosixPath(folder).parent)].add(folder)
    return {
        folder: held
        for folder, held in sorted(below.items())
        if direct[folder] or len(children[folder]) > 1
    }


def _depth(path: str, folders: Iterable[str]) -> int:
    """How many of the listed folders hold a path."""
    return sum(str(above) in folders for above in PurePosixPath(path).parents)


def _folder_entry(
    sources: Sources, code: Code, folder: str, files: Sequence[SnapshotFile], depth: int
) -> Entry:
    lines = sum(file.lines for file in files)
    text = f"`{folder}/`{_size(lines, 0, len(files))}"
    role, source = _folder_role(sources, code, folder)
    return Entry(
        f"{text}: {role}" if role else text,
        sources=(source,) if source else (),
        # outer folders before everything, inner ones by what they hold
        rank=depth if depth < 2 else max(2, 120 - lines // 50),
        depth=depth,
    )


def _folder_role(sources: Sources, code: Code, folder: str) -> tuple[str, str]:
    for name in ("__init__.py", "index.ts", "index.js", "index.mjs", "mod.ts"):
        path = f"{folder}/{name}"
        if path in sources and (role := role_of(code, path)):
            return role, path
    for path in (f"{folder}/README.md", f"{folder}/README.rst"):
        blocks = blocks_of(path, sources.text(path))
        text = next((one.text for one in blocks if one.kind == "text"), "")
        if text:
            return sentences(text)[0][:200], path
    return "", ""


def role_of(code: Code, path: str) -> str:
    """What a file says it is for, in its first comment or docstring; empty where it says nothing."""
    return first_sentence(head_comment(code.text(path), list(code.comments(path))))


def _defines(code: Code, path: str) -> str:
    """The largest public units at a file's top level."""
    top = [unit for unit in code.units(path) if "." not in unit.name]
    public = [unit for unit in top if not unit.name.startswith("_")] or top
    largest = sorted(public, key=lambda unit: (unit.first - unit.last, unit.first))
    names = list(dict.fromkeys(unit.name for unit in largest if unit.kind != "type"))
    if not names:
        names = list(dict.fromkeys(unit.name for unit in largest))
        return f"types {_listed(names)}" if names else ""
    return f"defines {_listed(names)}"


def _listed(names: Sequence[str], most: int = 5) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def _size(lines: int, used: int, files: int) -> str:
    parts = [f"{files} files"] if files > 1 else []
    parts.append("1 line" if lines == 1 else f"{lines:,} lines")
    if used:
        parts.append(f"called from {used} other file{'s' if used > 1 else ''}")
    return f" ({', '.join(parts)})"


def used_by(edges: Iterable[CallEdge]) -> Mapping[str, set[str]]:
    """The other files that call into each file; an empty set for any file that is not called."""
    used: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        if edge.caller.path != edge.callee.path:
            used[edge.callee.path].add(edge.caller.path)
    return used
