"""Folders for the packages of a lock that only says who needs whom, as Yarn's do.

Node looks for a package in the ``node_modules`` of every folder above the one that asks. A package is
put as high as it goes without hiding another version from somebody below: what npm and Yarn do too.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from probe.environment.node_lock import MODULES, Link, Placement


@dataclass(frozen=True)
class Node:
    """A release of a lock and what it needs."""

    name: str
    """In the registry."""
    version: str
    """Exact."""
    integrity: str | None = None
    """Hash of its tarball."""
    needs: Mapping[str, str] = field(default_factory=dict)
    """Keys of the releases that it needs, by the name under which it asks for them."""
    wants: Mapping[str, str] = field(default_factory=dict)
    """Likewise, those that it can do without."""
    foreign: str | None = None
    """As :attr:`probe.environment.node_lock.Placement.foreign`."""
    os: tuple[str, ...] = ()
    """As in :class:`probe.environment.node_lock.Placement`."""
    cpu: tuple[str, ...] = ()
    """Likewise."""
    libc: tuple[str, ...] = ()
    """Likewise."""


@dataclass(frozen=True)
class Importer:
    """A folder of the project with dependencies of its own: the root or a workspace."""

    path: str
    """Relative to the root; empty for it."""
    name: str
    """As its ``package.json`` says."""
    needs: Mapping[str, str]
    """As :attr:`Node.needs`; other workspaces are not among them."""
    wants: Mapping[str, str] = field(default_factory=dict)
    """As :attr:`Node.wants`."""


def lay_out(
    importers: list[Importer], nodes: Mapping[str, Node]
) -> tuple[list[Placement], list[Link]]:
    """Put every release that is needed into one or more folders.

    Args:
        importers: the root and the workspaces.
        nodes: releases by key.

    Returns:
        The folders, sorted by path, and links: to workspaces, and where releases need each other.
    """
    layout = _Layout()
    required = _required(importers, nodes)
    queue: deque[tuple[str, Mapping[str, str]]] = deque()
    for importer in sorted(importers, key=lambda one: one.path):
        layout.levels.setdefault(importer.path, {})
        queue.append((importer.path, {**importer.wants, **importer.needs}))
    while queue:
        folder, wanted = queue.popleft()
        for name, key in sorted(wanted.items()):
            if key in nodes and (place := layout.settle(folder, name, key)) is not None:
                queue.append((place, {**nodes[key].wants, **nodes[key].needs}))
    placements = [
        _placement(path, nodes[key], key not in required) for path, key in layout.placed.items()
    ]
    links = [Link(f"{MODULES}{one.name}", one.path) for one in importers if one.path and one.name]
    links += sorted(layout.links, key=lambda one: one.path)
    return sorted(placements, key=lambda one: one.path), links


class _Layout:
    """Which name stands for which release in which folder."""

    def __init__(self) -> None:
        self.levels: dict[str, dict[str, str]] = {"": {}}
        self.placed: dict[str, str] = {}
        self.links: list[Link] = []
        self._through: dict[str, dict[str, str]] = {}

    def settle(self, folder: str, name: str, key: str) -> str | None:
        """Let a folder find a release by a name; the new folder's path, or None where it does."""
        chain = _above(folder)
        limit = len(chain)
        for index, level in enumerate(chain):
            standing = self.levels.get(level, {}).get(name)
            if standing == key:
                self._pass(chain[:index], name, key)
                return None
            if standing is not None:
                limit = index
                break
        for index in range(limit - 1, -1, -1):
            level = chain[index]
            if self._through.get(level, {}).get(name, key) == key:
                break
        else:
            level, index = chain[0], 0
        self._pass(chain[:index], name, key)
        self.levels.setdefault(level, {})[name] = key
        path = f"{level}/{MODULES}{name}".lstrip("/")
        # releases that need each other in a circle would nest for ever: the circle is closed by a link
        for above in chain:
            if self.placed.get(above) == key:
                self.links.append(Link(path, above))
                return None
        self.placed[path] = key
        return path

    def _pass(self, levels: list[str], name: str, key: str) -> None:
        """Note that a name is looked up through these levels, so that none may hide it."""
        for level in levels:
            self._through.setdefault(level, {}).setdefault(name, key)


def _above(folder: str) -> list[str]:
    """The folder and those above that have a ``node_modules``: the owner's, and so on to the root."""
    chain = [folder]
    while MODULES in f"/{chain[-1]}":
        chain.append(chain[-1].rpartition(MODULES)[0].rstrip("/"))
    return chain if chain[-1] == "" else [*chain, ""]


def _required(importers: list[Importer], nodes: Mapping[str, Node]) -> set[str]:
    """Keys that somebody cannot do without."""
    found: set[str] = set()
    queue = [key for importer in importers for key in importer.needs.values()]
    while queue:
        key = queue.pop()
        if key not in found and key in nodes:
            found.add(key)
            queue += nodes[key].needs.values()
    return found


def _placement(path: str, node: Node, optional: bool) -> Placement:
    return Placement(
        path, node.name, node.version, node.integrity, optional,
        node.os, node.cpu, node.libc, node.foreign,
    )  # fmt: skip
