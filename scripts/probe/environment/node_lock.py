"""Locks of JavaScript projects as one list: which release lies in which folder.

Every package manager writes another lock. Read into placements, all of them are installed by the
same few lines of shell, without the manager, without a network and without foreign code.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from probe.errors import ProbeError

MODULES = "node_modules/"


@dataclass(frozen=True)
class Placement:
    """One release in one folder."""

    path: str
    """Folder relative to the project's root: ``node_modules/a/node_modules/b``."""
    name: str
    """Name in the registry; an alias' folder has another."""
    version: str
    """Exact."""
    integrity: str | None
    """Hash of the tarball as the lock has it; None where it has none."""
    optional: bool = False
    """Left out where it is not for this machine, or cannot be had."""
    os: tuple[str, ...] = ()
    """As the lock says; empty where it does not."""
    cpu: tuple[str, ...] = ()
    """Likewise."""
    libc: tuple[str, ...] = ()
    """Likewise."""
    foreign: str | None = None
    """Where the package comes from, if not from a registry: a git address, a file, a tarball."""


@dataclass(frozen=True)
class Link:
    """A folder of ``node_modules`` that leads to a folder of the project or to another package."""

    path: str
    """Where, relative to the project's root."""
    target: str
    """What it leads to, relative to the project's root."""


@dataclass(frozen=True)
class Lock:
    """What a lock says."""

    source: str
    """The lock's file."""
    placements: tuple[Placement, ...]
    """Sorted by path; folders of bundled packages are not among them."""
    links: tuple[Link, ...] = ()
    """Workspaces and packages that stand in two places."""
    notes: tuple[str, ...] = ()
    """What was left out, and why."""
    hashed: bool = True
    """Whether the format has hashes of tarballs; Yarn 2 and later have hashes of archives of their own."""


def read_package_lock(source: str, content: bytes) -> Lock:
    """``package-lock.json`` or ``npm-shrinkwrap.json`` of any version.

    Raises:
        ProbeError: it is malformed.
    """
    told = read_object(source, content)
    if isinstance(told.get("packages"), dict):
        return _read_packages(source, told["packages"])
    if isinstance(told.get("dependencies"), dict):
        placements = tuple(_read_tree(source, told["dependencies"], ""))
        return Lock(source, tuple(sorted(placements, key=lambda one: one.path)))
    if told.get("lockfileVersion"):
        return Lock(source, ())
    raise ProbeError(f"{source}: neither packages nor dependencies; is this a lock of npm?")


def read_object(source: str, content: bytes) -> dict[str, Any]:
    """A JSON file that must hold an object.

    Raises:
        ProbeError: it does not.
    """
    try:
        told = json.loads(content.decode("utf-8-sig"))
    except ValueError as error:
        raise ProbeError(f"{source}: no JSON ({error})") from None
    if not isinstance(told, dict):
        raise ProbeError(f"{source}: must hold an object")
    return told


def _read_packages(source: str, packages: Mapping[str, Any]) -> Lock:
    placements, links = [], []
    for path, one in sorted(packages.items()):
        if MODULES not in f"/{path}" or not isinstance(one, dict) or one.get("inBundle"):
            continue
        check_path(source, path)
        if one.get("link"):
            target = str(one.get("resolved", ""))
            check_path(source, target)
            links.append(Link(path, target))
            continue
        placements.append(
            Placement(
                path,
                str(one.get("name") or path.rpartition(MODULES)[2]),
                _version(source, path, one),
                _text(one.get("integrity")),
                bool(one.get("optional") or one.get("devOptional")),
                _tuple(one.get("os")),
                _tuple(one.get("cpu")),
                _tuple(one.get("libc")),
                foreign_source(_text(one.get("resolved"))),
            )
        )
    return Lock(source, tuple(placements), tuple(links))


def _read_tree(source: str, told: Mapping[str, Any], above: str) -> Iterator[Placement]:
    """The nested form of npm 6, as placements."""
    for name, one in told.items():
        if not isinstance(one, dict) or one.get("bundled"):
            continue
        path = f"{above}{MODULES}{name}"
        check_path(source, path)
        version, real, foreign = _version(source, path, one), name, None
        if version.startswith("npm:"):
            real, _, version = version[4:].rpartition("@")
        elif not version[:1].isdigit():
            foreign = version
        yield Placement(
            path,
            real,
            version,
            _text(one.get("integrity")),
            bool(one.get("optional")),
            foreign=foreign or foreign_source(_text(one.get("resolved"))),
        )
        yield from _read_tree(source, one.get("dependencies") or {}, f"{path}/")


def check_path(source: str, path: str) -> None:
    """Refuse a folder that leaves the project.

    Raises:
        ProbeError: it does.
    """
    if path.startswith("/") or "\0" in path or ".." in path.split("/") or "\\" in path:
        raise ProbeError(f"{source}: the folder {path!r} leaves the project")


def foreign_source(resolved: str | None) -> str | None:
    """The address of a package that is not a registry's tarball; None for one that is."""
    if resolved is None:
        return None
    plain = resolved.split("#")[0]
    web = plain.startswith(("https://", "http://"))
    if web and "/-/" in plain and "codeload." not in plain and plain.endswith(".tgz"):
        return None
    return resolved


def _version(source: str, path: str, one: Mapping[str, Any]) -> str:
    version = one.get("version")
    if not isinstance(version, str) or not version:
        raise ProbeError(f"{source}: {path} has no version")
    return version


def _text(told: object) -> str | None:
    return told if isinstance(told, str) and told else None


def _tuple(told: object) -> tuple[str, ...]:
    if isinstance(told, str):
        return (told,)
    return tuple(str(word) for word in told) if isinstance(told, list) else ()
