"""What a project gives to its users: commands, entry points and the names behind them.

For Python the top package's names, then those of its public modules; for JavaScript and TypeScript
what the entry points in package.json export, followed to where it is defined. Nothing is imported:
names that only running code makes (``__getattr__``, generated entry files) are not seen.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from probe.code.facts import TOP
from probe.code.units import Unit
from probe.context.built import source_file
from probe.context.comments import TOOL_REMARK, first_sentence
from probe.context.metadata import Package
from probe.context.parsed import Code
from probe.context.sources import Sources

DEEPEST = 12
"""Files through which a name is followed to its definition."""


class ApiName(NamedTuple):
    """A name that users can get hold of."""

    name: str
    """As exported."""
    path: str
    """Where it is defined, as far as it could be followed."""
    unit: Unit | None
    """None for values and for what could not be followed."""


class Surface(NamedTuple):
    """An entry point: what users name to get its names."""

    title: str
    """As users write it: ``sqlglot.optimizer``, ``hono/jwt``."""
    path: str
    names: Sequence[ApiName]
    is_root: bool
    """Whether it is the package itself rather than a part of it."""


def surfaces_of(sources: Sources, code: Code, packages: Sequence[Package]) -> list[Surface]:
    """The entry points of all packages, those of the packages themselves first."""
    found = [*_python(sources, code), *_node(sources, code, packages)]
    return sorted(found, key=lambda one: not one.is_root)


def _python(sources: Sources, code: Code) -> Iterator[Surface]:
    modules = [f.path for f in sources.audited if f.language == "python"]
    for path in sorted(modules, key=lambda path: (path.count("/"), path)):
        title = _module_name(path, sources)
        hidden = any(part.startswith("_") for part in title.split("."))
        if not title or hidden or title.endswith((".tests", ".conftest", ".__main__")):
            continue
        names = [one for one in _python_names(code, path) if one.path in sources.own]
        if names:
            yield Surface(title, path, names, "." not in title)


def _module_name(path: str, sources: Sources) -> str:
    """``src/a/b/__init__.py`` is ``a.b``; empty for a script outside all packages."""
    pure = PurePosixPath(path)
    parts = [] if pure.stem == "__init__" else [pure.stem]
    folder = pure.parent
    while f"{folder}/__init__.py" in sources and folder.name:
        parts.append(folder.name)
        folder = folder.parent
    inside = len(parts) > (pure.stem != "__init__")
    # a single module counts where a package would: at the root or in `src`
    return ".".join(reversed(parts)) if inside or str(folder) in {".", "src", "lib"} else ""


def _python_names(code: Code, path: str, depth: int = 0) -> list[ApiName]:
    """``__all__``, else what a package takes from its modules and what a module defines."""
    facts = code.facts(path)
    listed = _all_of(code.text(path))
    imports = facts.imports.get(TOP, {})
    if listed is not None:
        names = listed
    else:
        is_package = PurePosixPath(path).stem == "__init__"
        taken = [local for local in imports if local] if is_package else []
        defined = [fact.unit.name for fact in facts.units if fact.parent == TOP]
        names = [name for name in dict.fromkeys([*taken, *defined]) if not name.startswith("_")]
    found = [_python_name(code, path, name) for name in names]
    if depth < 2:
        for star in imports.get("", ()):
            module = code.module(path, star.module)
            found += _python_names(code, module, depth + 1) if module else []
    return list({one.name: one for one in found if one is not None}.values())


def _python_name(code: Code, path: str, name: str, depth: int = 0) -> ApiName | None:
    """Where a module's name comes from; None for what other packages define."""
    facts = code.facts(path)
    for fact in reversed(facts.units):
        if fact.parent == TOP and fact.unit.name == name and not fact.is_stub:
            return ApiName(name, path, fact.unit)
    for one in facts.imports.get(TOP, {}).get(name, ()):
        module = code.module(path, one.module)
        if module is None:
            continue
        if one.name is None or depth == DEEPEST:
            return ApiName(name, module, None)
        inside = _python_name(code, module, one.name, depth + 1)
        if inside is None and (submodule := code.inside(module, one.name)):
            return ApiName(name, submodule, None)
        return (inside or ApiName(name, module, None))._replace(name=name)
    if depth == 0 and name in facts.names.get(TOP, {}):
        return ApiName(name, path, None)
    return None if name in facts.imports.get(TOP, {}) else ApiName(name, path, None)


_ALL = re.compile(r"^__all__\s*(?::[^=\n]+)?(?:\+?=|\.extend\()\s*(?=[\[(])", re.MULTILINE)
_CLOSING = re.compile(r"[\])]")
_STRING = re.compile(r"[\"']([A-Za-z_]\w*)[\"']")


def _all_of(text: str) -> list[str] | None:
    """Names listed in ``__all__``, as far as they are written out; None where there is none."""
    found: list[str] = []
    at = 0
    while start := _ALL.search(text, at):
        end = _CLOSING.search(text, start.end())
        if end is None:
            break
        at = end.end()
        found += _STRING.findall(text, start.end(), at)
    return found or None


def _node(sources: Sources, code: Code, packages: Sequence[Package]) -> Iterator[Surface]:
    seen: set[str] = set()
    for package in packages:
        if package.kind != "node":
            continue
        for place, target in package.entries.items():
            path = source_file(sources, package, place, target)
            if path is None or path in seen:
                continue
            seen.add(path)
            names = [one for one in _node_names(code, path) if one.path in sources.own]
            title = (package.name or ".") + place.removeprefix(".")
            if names:
                yield Surface(title, path, names, place == ".")


def _node_names(code: Code, path: str, seen: frozenset[str] = frozenset()) -> list[ApiName]:
    """All that a file exports, each followed to its definition."""
    if path in seen or len(seen) > DEEPEST:
        return []
    seen = seen | {path}
    found: list[ApiName] = []
    for name, exports in code.facts(path).exports.items():
        for export in exports:
            if name == "" and export.module is not None:
                module = code.module(path, export.module)
                inside = _node_names(code, module, seen) if module else []
                found += [one for one in inside if one.name != "default"]
            elif name:
                found.append(_node_name(code, path, name, seen))
                if name == "default" and export.module is None:
                    found += (
                        _node_name(code, path, one, seen) for one in _members(code.text(path))
                    )
    return list({one.name: one for one in reversed(found)}.values())[::-1]


_OBJECT = re.compile(r"^export\s+default\s*\{", re.MULTILINE)
_MEMBER = re.compile(r"^(?: {2,4}|\t)([A-Za-z]\w*)(?=\s*[,:(]|$)", re.MULTILINE)


def _members(text: str) -> list[str]:
    """Names of an object that is the default export, as far as each stands on a line of its own."""
    found = _OBJECT.search(text)
    end = text.find("\n}", found.end()) if found else -1
    if found is None or end < 0:
        return []
    return list(dict.fromkeys(_MEMBER.findall(text, found.end(), end)))


def _node_name(code: Code, path: str, name: str, seen: frozenset[str]) -> ApiName:
    """Where an exported name is defined."""
    facts = code.facts(path)
    for export in facts.exports.get(name, ()):
        if export.module is not None:
            return _from_module(code, path, name, export.module, export.imported, seen)
        local = (export.local or name).split("(", 1)[0]
        units = [f.unit for f in facts.units if f.parent == TOP and not f.is_stub]
        for unit in units:
            if unit.name in {local, local.rpartition(".")[2], name}:
                return ApiName(name, path, unit)
        for one in facts.imports.get(TOP, {}).get(local, ()):
            return _from_module(code, path, name, one.module, one.name, seen)
    return ApiName(name, path, None)


def _from_module(
    code: Code, path: str, name: str, module: str, wanted: str | None, seen: frozenset[str]
) -> ApiName:
    target = code.module(path, module)
    if target is None:
        return ApiName(name, path, None)
    if wanted is None or target in seen or len(seen) > DEEPEST:
        return ApiName(name, target, None)
    facts = code.facts(target)
    if wanted not in facts.exports:
        for export in facts.exports.get("", ()):
            onward = code.module(target, export.module) if export.module else None
            names = _node_names(code, onward, seen | {target}) if onward else []
            found = next((one for one in names if one.name == wanted), None)
            if found is not None:
                return found._replace(name=name)
    return _node_name(code, target, wanted, seen | {target})._replace(name=name)


_LONGEST = 150
MOST_LINES = 30
"""Lines of a signature that are read."""


def signature(code: Code, one: ApiName) -> str:
    """How a name is called or made, on one line; the name alone for values."""
    if one.unit is None:
        return one.name
    first, last = one.unit.head_first, min(one.unit.head_last, one.unit.head_first + MOST_LINES)
    lines = code.text(one.path).split("\n")[first - 1 : last]
    lines = [re.sub(r"(?:^|\s)(?:#\s.*|//\s.*)$", "", one) for one in lines]
    text = " ".join(" ".join(lines).split())
    text = re.sub(r"^(?:export\s+|default\s+|declare\s+|async\s+|abstract\s+|static\s+)+", "", text)
    text = re.sub(r"\(\s+", "(", re.sub(r",?\s+\)", ")", text))
    text = re.sub(r"^(?:def|function\*?|const|let|var|exports|module\.exports)[ .]\s*", "", text)
    text = re.sub(r"\s*(?:\{|=>\s*\{?|:)\s*$", "", text).replace("`", "'")
    return text if len(text) <= _LONGEST else text[:_LONGEST].rsplit(" ", 1)[0].rstrip(",") + " …"


def says(code: Code, one: ApiName) -> str:
    """The first sentence of what stands beside its definition; empty where nothing does."""
    unit = one.unit
    if unit is None:
        return ""
    for comment in code.comments(one.path):
        inside = comment.is_string and unit.head_first < comment.line <= unit.head_last + 1
        above = not comment.is_string and comment.last in {unit.first - 1, unit.first - 2}
        if ((inside and comment.last <= unit.last) or above) and not TOOL_REMARK.search(
            comment.text
        ):
            return first_sentence(comment.text)
    return ""


def methods(code: Code, one: ApiName) -> list[str]:
    """Names of a class's public methods, in their order; empty for anything else."""
    unit = one.unit
    if unit is None or unit.kind != "class":
        return []
    lines = code.text(one.path).split("\n")
    found = []
    for inner in code.units(one.path):
        name = inner.name.removeprefix(f"{unit.name}.")
        inside = unit.first <= inner.first and inner.last <= unit.last
        head = lines[inner.head_first - 1].split("(")[0]
        hidden = name[:1] in "_#" or re.search(r"\b(?:private|protected)\b", head)
        if inside and name != inner.name and re.fullmatch(r"[\w$]+", name) and not hidden:
            found.append(name)
    return [name for name in dict.fromkeys(found) if name != "constructor"]
