"""What the audited project is called, so that other versions of it can be recognised."""

import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from configparser import ConfigParser
from configparser import Error as ConfigParserError
from dataclasses import dataclass
from pathlib import PurePosixPath

from packaging.utils import canonicalize_name

from probe.isolation.listing import Listing
from probe.sandbox import WORK

_MANIFEST_BYTES = 1_000_000
_NOT_CODE = {
    "test",
    "tests",
    "testing",
    "doc",
    "docs",
    "example",
    "examples",
    "benchmarks",
    "scripts",
}
_SETUP_NAME = re.compile(r"""\bname\s*=\s*["']([\w.-]+)["']""")


@dataclass(frozen=True)
class Project:
    """Names and code of the audited project."""

    names: frozenset[str]
    """What its packages are called in registries, as registries compare them (PEP 503)."""
    packages: Mapping[str, Mapping[str, int]]
    """Its top-level Python packages by name: bytes of each module, by path below the package."""


def read_project(archive: Listing) -> Project:
    """The project of a snapshot, from its manifests and its layout.

    Args:
        archive: as :func:`probe.isolation.listing.list_archive` lists it.
    """
    sizes = {entry.path: entry.size for entry in archive.files() if "!/" not in entry.path}
    names = set()
    for path in sizes:
        inside = path.removeprefix(f"{WORK}/")
        if inside.count("/") <= 2 and PurePosixPath(path).name in _READERS:
            text = archive.read(path, _MANIFEST_BYTES).decode("utf-8", errors="replace")
            read = _READERS[PurePosixPath(path).name]
            names |= read(text)
    return Project(frozenset(map(canonicalize_name, names)), _top_packages(sizes))


def _top_packages(sizes: Mapping[str, int]) -> dict[str, dict[str, int]]:
    inits = {path.removesuffix("/__init__.py") for path in sizes if path.endswith("/__init__.py")}
    tops = {
        folder
        for folder in inits
        if folder.rpartition("/")[0] not in inits
        and not _NOT_CODE & {part.lower() for part in folder.split("/")}
    }
    found: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for path, size in sizes.items():
        if path.endswith(".py"):
            for top in tops:
                if path.startswith(f"{top}/"):
                    found[top.rpartition("/")[2]][path.removeprefix(f"{top}/")] = size
    return dict(found)


def _of_package_json(text: str) -> set[str]:
    try:
        told = json.loads(text)
    except ValueError:
        return set()
    name = told.get("name") if isinstance(told, dict) else None
    return {name} if isinstance(name, str) and name else set()


def _of_pyproject(text: str) -> set[str]:
    try:
        told = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return set()
    found = (_dig(told, ("project", "name")), _dig(told, ("tool", "poetry", "name")))
    return {name for name in found if isinstance(name, str)}


def _of_setup_cfg(text: str) -> set[str]:
    parser = ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except ConfigParserError:
        return set()
    name = parser.get("metadata", "name", fallback="")
    return {name} if name else set()


def _dig(value: object, keys: Sequence[str]) -> object:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


_READERS: dict[str, Callable[[str], set[str]]] = {
    "package.json": _of_package_json,
    "pyproject.toml": _of_pyproject,
    "setup.cfg": _of_setup_cfg,
    "setup.py": lambda text: set(_SETUP_NAME.findall(text)),
}
