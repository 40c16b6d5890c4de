"""What a package says of itself in its metadata, read without running any of it.

``setup.py`` is parsed, never executed: what it computes stays unknown.
"""

import ast
import configparser
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from probe.code.paths import path_role
from probe.context.sources import Sources

MOST_PACKAGES = 40
"""Packages of a monorepo that are read."""


@dataclass(frozen=True, slots=True)
class Package:
    """A package of the snapshot, as its metadata describes it."""

    source: str
    """The file that says so."""
    kind: str
    """``python`` or ``node``."""
    name: str = ""
    description: str = ""
    requires: tuple[str, ...] = ()
    """Interpreters and platforms in words: ``Python >=3.9``, ``Node.js >=18``."""
    commands: Mapping[str, str] = field(default_factory=dict)
    """Commands that it installs, with what each runs: ``module:function`` or a path."""
    entries: Mapping[str, str] = field(default_factory=dict)
    """Entry points of a Node package, ``.`` or ``./sub``, with the file that each names."""
    private: bool = False
    """Whether it is never published."""

    @property
    def folder(self) -> str:
        """Its folder; ``.`` for the root."""
        return str(PurePosixPath(self.source).parent)


Reader = Callable[[str, str], Package]


def read_packages(sources: Sources) -> tuple[list[Package], list[str]]:
    """The packages of a snapshot, the outermost first, and what could not be read.

    Tests, examples, tools and vendored copies have metadata too; theirs does not count.
    """
    found: list[Package] = []
    unread: list[str] = []
    for path in _metadata_files(sources):
        try:
            found.append(_READERS[PurePosixPath(path).name](path, sources.text(path)))
        except (ValueError, SyntaxError, RecursionError, configparser.Error) as error:
            unread.append(f"{path}: {' '.join(str(error).split())[:200]}")
    return _distinct(found), unread


def _metadata_files(sources: Sources) -> list[str]:
    audited = {str(above) for f in sources.audited for above in PurePosixPath(f.path).parents}
    paths = [
        path
        for path in sources.paths
        if PurePosixPath(path).name in _READERS
        and str(PurePosixPath(path).parent) in audited
        # a package inside the sources of another says how that is built (`src/esm/package.json`)
        and (path_role(f"{PurePosixPath(path).parent}/x.py") == "source" or "/" not in path)
    ]
    return sorted(paths, key=lambda path: (path.count("/"), path))[:MOST_PACKAGES]


def _distinct(packages: list[Package]) -> list[Package]:
    """One package a folder and kind: what several files say of it is put together."""
    merged: dict[tuple[str, str], Package] = {}
    order = list(_READERS)
    for one in sorted(packages, key=lambda one: order.index(PurePosixPath(one.source).name)):
        held = merged.get((one.folder, one.kind))
        if held is None:
            if one.name or one.description or one.entries or one.commands or one.folder == ".":
                merged[one.folder, one.kind] = one
        else:
            merged[one.folder, one.kind] = Package(
                source=held.source,
                kind=held.kind,
                name=held.name or one.name,
                description=held.description or one.description,
                requires=held.requires or one.requires,
                commands=held.commands or one.commands,
                entries=held.entries or one.entries,
                private=held.private,
            )
    return sorted(merged.values(), key=lambda one: (one.source.count("/"), one.source))


def _pyproject(path: str, text: str) -> Package:
    document = tomllib.loads(text)
    project = _table(document.get("project"))
    poetry = _table(_table(document.get("tool")).get("poetry"))
    python = _string(project.get("requires-python"))
    if not python:
        python = _string(_table(poetry.get("dependencies")).get("python"))
    platforms = _platforms(_strings(project.get("classifiers")))
    commands = {**_table(poetry.get("scripts")), **_table(project.get("scripts"))}
    return Package(
        source=path,
        kind="python",
        name=_string(project.get("name")) or _string(poetry.get("name")),
        description=_string(project.get("description")) or _string(poetry.get("description")),
        requires=((f"Python {python}",) if python else ()) + platforms,
        commands={name: target for name, target in commands.items() if isinstance(target, str)},
    )


def _setup_cfg(path: str, text: str) -> Package:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)

    def value(section: str, key: str) -> str:
        given = parser.get(section, key, fallback="")
        # a value such as `file: README.rst` or `attr: pkg.x` is not the text itself
        return "" if given.startswith(("file:", "attr:")) else given.strip()

    python = value("options", "python_requires")
    scripts = value("options.entry_points", "console_scripts")
    classifiers = value("metadata", "classifiers").splitlines()
    return Package(
        source=path,
        kind="python",
        name=value("metadata", "name"),
        description=value("metadata", "description"),
        requires=((f"Python {python}",) if python else ()) + _platforms(classifiers),
        commands=_scripts(scripts.splitlines()),
    )


def _setup_py(path: str, text: str) -> Package:
    given: dict[str, object] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and _called(node) == "setup":
            given = {word.arg: _literal(word.value) for word in node.keywords if word.arg}
            break
    entry_points = _table(given.get("entry_points"))
    python = _string(given.get("python_requires"))
    return Package(
        source=path,
        kind="python",
        name=_string(given.get("name")),
        description=_string(given.get("description")),
        requires=((f"Python {python}",) if python else ())
        + _platforms(_strings(given.get("classifiers"))),
        commands=_scripts(_strings(entry_points.get("console_scripts"))),
    )


def _package_json(path: str, text: str) -> Package:
    document = _table(json.loads(text))
    engines = _table(document.get("engines"))
    node = _string(engines.get("node"))
    name = _string(document.get("name"))
    binary = document.get("bin")
    commands = {name: binary} if isinstance(binary, str) else _table(binary)
    return Package(
        source=path,
        kind="node",
        name=name,
        description=_string(document.get("description")),
        requires=(f"Node.js {node}",) if node else (),
        commands={key: target for key, target in commands.items() if isinstance(target, str)},
        entries=dict(_entries(document)),
        private=document.get("private") is True,
    )


def _entries(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    exports = document.get("exports")
    found: dict[str, str] = {}
    if isinstance(exports, str) or (exports and not any(key[:1] == "." for key in _table(exports))):
        exports = {".": exports}
    for place, target in _table(exports).items():
        files = list(_targets(target))
        if files and "*" not in place and not files[0].endswith((".json", ".css")):
            found[place] = files[0]
    if "." not in found:
        mains = [_string(document.get(key)) for key in ("module", "main", "types", "typings")]
        main = next(filter(None, mains), "" if found else "index.js")
        if main:
            found = {".": main, **found}
    yield from found.items()


def _targets(target: object) -> Iterator[str]:
    """Files that a value of ``exports`` can mean, its conditions in their order, types last."""
    if isinstance(target, str):
        yield target
    elif isinstance(target, list):
        for one in target:
            yield from _targets(one)
    else:
        conditions = _table(target)
        for condition in sorted(conditions, key=lambda name: name.startswith("types")):
            yield from _targets(conditions[condition])


_READERS: dict[str, Reader] = {
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup_cfg,
    "setup.py": _setup_py,
    "package.json": _package_json,
}


def _table(value: object) -> dict[str, Any]:
    return {str(k): v for k, v in value.items()} if isinstance(value, Mapping) else {}


def _string(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return value.splitlines()
    return [one for one in value if isinstance(one, str)] if isinstance(value, list | tuple) else []


def _platforms(classifiers: list[str]) -> tuple[str, ...]:
    """Operating systems and interpreters that classifiers promise."""
    wanted = re.compile(
        r"^(?:Operating System|Programming Language :: Python :: Implementation) :: "
    )
    said = [one.strip() for one in classifiers if wanted.match(one.strip())]
    return tuple(sorted({one.rpartition(" :: ")[2] for one in said}))


def _scripts(lines: list[str]) -> dict[str, str]:
    pairs = (line.partition("=") for line in lines if "=" in line)
    return {name.strip(): target.strip() for name, _, target in pairs}


def _called(node: ast.Call) -> str:
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _literal(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError, RecursionError):
        return None
