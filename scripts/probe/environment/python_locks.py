"""Committed locks of Python projects as one list of pins: name, version and the hashes that may be had.

Each tool writes a lock of its own. What is read here is what the tool would install for this machine
with the groups that the tests need; nothing is resolved anew.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from packaging.markers import InvalidMarker, Marker, default_environment
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from probe.environment.base import Machine
from probe.environment.python_project import normal_name
from probe.environment.tree import Tree
from probe.errors import ProbeError

_REMEDY = (
    "let the project's tool write it again, or set `python: {lock: false}` in "
    "envs/{repo}/environment.yaml to resolve with the cut-off"
)


@dataclass(frozen=True, order=True)
class Pin:
    """A release that a lock names."""

    name: str
    """Normalised."""
    version: str
    """Exact."""
    hashes: frozenset[str]
    """SHA-256 of the files that may be installed."""


@dataclass(frozen=True)
class Lock:
    """What a committed lock says."""

    source: str
    """Its path."""
    pins: tuple[Pin, ...]
    """Sorted."""
    notes: tuple[str, ...] = ()
    """What it names and no index has."""


@dataclass(frozen=True)
class Question:
    """For what a lock is read."""

    groups: frozenset[str]
    """Normalised names of extras and groups to install with the project."""
    markers: Mapping[str, str]
    """Values of environment markers on the machine."""
    roots: tuple[Requirement, ...]
    """What the project asks for itself, for locks that do not say."""


def marker_values(machine: Machine) -> dict[str, str]:
    """Environment markers (PEP 508) of a machine with CPython."""
    major, minor, micro = machine.python or (3, 0, 0)
    full = f"{major}.{minor}.{micro}"
    values = {key: str(value) for key, value in default_environment().items()}
    return {
        **values,
        "implementation_name": "cpython",
        "implementation_version": full,
        "os_name": "posix",
        "platform_machine": machine.processor,
        "platform_python_implementation": "CPython",
        "platform_release": "",
        "platform_system": "Linux",
        "platform_version": "",
        "python_full_version": full,
        "python_version": f"{major}.{minor}",
        "sys_platform": "linux",
        "extra": "",
    }


def applies(marker: str | None, values: Mapping[str, str]) -> bool:
    """Whether a marker holds; one that cannot be read does."""
    if not marker:
        return True
    try:
        return Marker(marker).evaluate(dict(values))
    except (InvalidMarker, KeyError, InvalidVersion):
        return True


def find_lock(tree: Tree) -> str | None:
    """The lock that the project's tool would install from; None where there is none at the root."""
    for name in ("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock"):
        if name in tree:
            return name
    for path in tree.matching("requirements*.txt"):
        if "/" not in path and "--hash=sha256:" in (tree.text(path) or ""):
            return path
    return None


def read_lock(tree: Tree, path: str, question: Question) -> Lock:
    """A lock's pins for one machine.

    Raises:
        ProbeError: it is malformed, or a release in it has no hash.
    """
    text = tree.text(path) or ""
    name = path.rpartition("/")[2]
    reader = _READERS.get(name, _read_requirements)
    try:
        pins, notes = reader(text, question)
    except (tomllib.TOMLDecodeError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ProbeError(
            f"{path} of the snapshot: cannot be read as a lock ({error}); {_REMEDY}"
        ) from None
    bare = sorted(f"{pin.name} {pin.version}" for pin in pins if not pin.hashes)
    if bare:
        more = f" and {len(bare) - 1} more" if len(bare) > 1 else ""
        raise ProbeError(f"{path} of the snapshot: no hash for {bare[0]}{more}; {_REMEDY}")
    return Lock(path, tuple(sorted(set(pins))), tuple(notes))


_Read = tuple[list[Pin], list[str]]


def _read_uv(text: str, question: Question) -> _Read:
    packages = tomllib.loads(text).get("package", [])
    values = question.markers
    by_name: dict[str, list[dict[str, Any]]] = {}
    for one in packages:
        marks = one.get("resolution-markers")
        if not marks or any(applies(mark, values) for mark in marks):
            by_name.setdefault(normal_name(one["name"]), []).append(one)
    roots = [one for one in packages if _own(one)]
    queue = [(one, group) for one in roots for group in ["", *sorted(question.groups)]]
    seen: set[tuple[str, str, str]] = set()
    chosen: dict[tuple[str, str], dict[str, Any]] = {}
    while queue:
        one, extra = queue.pop()
        key = (normal_name(one["name"]), str(one.get("version", "")), extra)
        if key in seen:
            continue
        seen.add(key)
        if not _own(one):
            chosen[key[:2]] = one
        for edge in _uv_edges(one, extra):
            if not applies(edge.get("marker"), values):
                continue
            for target in by_name.get(normal_name(edge["name"]), ()):
                if "version" in edge and edge["version"] != target.get("version"):
                    continue
                queue += [(target, more) for more in ["", *edge.get("extra", ())]]
    return _uv_pins(chosen.values())


def _own(one: Mapping[str, Any]) -> bool:
    return bool({"editable", "virtual", "directory"} & set(one.get("source", {})))


def _uv_edges(one: Mapping[str, Any], extra: str) -> list[Mapping[str, Any]]:
    if not extra:
        return list(one.get("dependencies", ()))
    found: list[Mapping[str, Any]] = []
    for table in ("optional-dependencies", "dev-dependencies"):
        named = {normal_name(k): v for k, v in one.get(table, {}).items()}
        found += named.get(normal_name(extra), ())
    return found


def _uv_pins(packages: Iterable[Mapping[str, Any]]) -> _Read:
    pins, notes = [], []
    for one in packages:
        if "registry" not in one.get("source", {}):
            notes.append(f"left out, since no index has it: {one['name']} ({one.get('source')})")
            continue
        files = [*one.get("wheels", ()), *([one["sdist"]] if one.get("sdist") else [])]
        pins.append(_pin(one["name"], one["version"], (file.get("hash", "") for file in files)))
    return pins, notes


def _read_poetry(text: str, question: Question) -> _Read:
    told = tomllib.loads(text)
    packages = {normal_name(one["name"]): one for one in told.get("package", [])}
    hashes = told.get("metadata", {}).get("files", {})
    pins, notes = [], []
    for name in sorted(_reach(question, packages)):
        one = packages[name]
        if one.get("source", {}).get("type") in {"git", "directory", "file", "url"}:
            notes.append(f"left out, since no index has it: {name} ({one['source'].get('url')})")
            continue
        files = one.get("files") or hashes.get(one["name"], ())
        pins.append(_pin(name, one["version"], (file.get("hash", "") for file in files)))
    return pins, notes


def _reach(question: Question, packages: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """Packages that the roots lead to."""
    queue = [
        (normal_name(one.name), frozenset(map(normal_name, one.extras)))
        for one in question.roots
        if one.marker is None or one.marker.evaluate(dict(question.markers))
    ]
    reached: dict[str, frozenset[str]] = {}
    while queue:
        name, extras = queue.pop()
        before = reached.get(name)
        if name not in packages or (before is not None and extras <= before):
            continue
        reached[name] = extras | (before or frozenset())
        one = packages[name]
        optional = {
            normal_name(Requirement(line.split(" (")[0].split(";")[0]).name)
            for extra, lines in one.get("extras", {}).items()
            if normal_name(extra) in reached[name]
            for line in lines
        }
        for other, edge in one.get("dependencies", {}).items():
            queue += _poetry_edge(normal_name(other), edge, optional, question.markers)
    return set(reached)


def _poetry_edge(
    name: str, told: Any, optional: set[str], values: Mapping[str, str]
) -> list[tuple[str, frozenset[str]]]:
    edges: list[tuple[str, frozenset[str]]] = []
    for one in told if isinstance(told, list) else [told]:
        if isinstance(one, str):
            edges.append((name, frozenset()))
            continue
        if one.get("optional") and name not in optional:
            continue
        marker = re.sub(
            r"\bextra\s*==\s*[\"'][^\"']*[\"']", "python_version > '0'", one.get("markers", "")
        )
        if applies(marker, values):
            edges.append((name, frozenset(map(normal_name, one.get("extras", ())))))
    return edges


def _read_pdm(text: str, question: Question) -> _Read:
    told = tomllib.loads(text)
    wanted = {"default", *question.groups}
    hashes = told.get("metadata", {}).get("files", {})
    pins, notes = [], []
    for one in told.get("package", []):
        groups = {normal_name(name) for name in one.get("groups", ())}
        fits = _python_fits(one.get("requires_python"), question.markers["python_full_version"])
        if (
            (groups and not groups & wanted)
            or not applies(one.get("marker"), question.markers)
            or not fits
        ):
            continue
        if one.get("git") or one.get("path") or one.get("url"):
            notes.append(f"left out, since no index has it: {one['name']}")
            continue
        files = one.get("files") or hashes.get(f"{one['name']} {one['version']}", ())
        pins.append(_pin(one["name"], one["version"], (file.get("hash", "") for file in files)))
    return pins, notes


def _python_fits(told: str | None, python: str) -> bool:
    try:
        return not told or Version(python) in SpecifierSet(told)
    except InvalidSpecifier:
        return True


def _read_pipfile(text: str, question: Question) -> _Read:
    told = json.loads(text)
    pins, notes = [], []
    for section in ("default", "develop"):
        for name, one in told.get(section, {}).items():
            if not applies(one.get("markers"), question.markers):
                continue
            if not str(one.get("version", "")).startswith("=="):
                notes.append(f"left out, since no index has it: {name}")
                continue
            pins.append(_pin(name, one["version"].removeprefix("=="), one.get("hashes", ())))
    return pins, notes


_HASH = re.compile(r"--hash[= ]sha256:([0-9a-f]{64})")


def _read_requirements(text: str, question: Question) -> _Read:
    return read_pins(text, question.markers), []


def read_pins(text: str, values: Mapping[str, str]) -> list[Pin]:
    """Pins of a requirement file with hashes, as pip-compile and uv write it.

    Raises:
        ValueError: a line names no exact version.
    """
    pins = []
    for raw in text.replace("\\\n", " ").splitlines():
        line = re.sub(r"(^|\s)#.*$", "", raw).strip()
        if not line or line.startswith("-"):
            continue
        told = line.split(" --")[0].strip()
        try:
            one = Requirement(told)
        except InvalidRequirement:
            raise ValueError(f"{told!r} is no requirement") from None
        exact = re.fullmatch(r"===?([^*,]+)", str(one.specifier))
        if exact is None:
            raise ValueError(f"{told!r} names no exact version")
        if one.marker is None or one.marker.evaluate(dict(values)):
            pins.append(_pin(one.name, exact[1], [f"sha256:{sha}" for sha in _HASH.findall(line)]))
    return pins


def _pin(name: str, version: str, hashes: Iterable[str]) -> Pin:
    sha256 = frozenset(one.removeprefix("sha256:") for one in hashes if one.startswith("sha256:"))
    return Pin(normal_name(name), str(Version(version)), sha256)


_READERS: dict[str, Callable[[str, Question], _Read]] = {
    "uv.lock": _read_uv,
    "poetry.lock": _read_poetry,
    "pdm.lock": _read_pdm,
    "Pipfile.lock": _read_pipfile,
}


def write_pins(pins: Iterable[Pin]) -> str:
    """Pins as a requirement file with hashes: the form in which recipes keep every lock."""
    lines = []
    for pin in sorted(pins):
        hashes = "".join(f" \\\n    --hash=sha256:{sha}" for sha in sorted(pin.hashes))
        lines.append(f"{pin.name}=={pin.version}{hashes}\n")
    return "".join(lines)
