"""Which lock a JavaScript project is installed from, and who reads it."""

from collections.abc import Mapping
from typing import Any

from probe.environment.base import UnbuildableError
from probe.environment.node_lock import Lock, read_package_lock
from probe.environment.node_pnpm import read_pnpm_lock
from probe.environment.node_yarn import read_yarn_lock
from probe.environment.tree import Tree
from probe.errors import ProbeError

_BY_NAME = {
    "npm-shrinkwrap.json": "npm",
    "package-lock.json": "npm",
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
}
"""Locks that can be read, by the manager that writes them; the first that is there is taken."""
_UNREADABLE = {
    "bun.lockb": "bun's binary lock",
    "bun.lock": "bun's lock",
    "deno.lock": "Deno's lock",
}


def find_lock(tree: Tree, manifest: Mapping[str, Any], named: str | None) -> str:
    """Path of the lock.

    Args:
        tree: the snapshot.
        manifest: its ``package.json``; the manager that it names goes first.
        named: what the override says.

    Raises:
        UnbuildableError: there is none that can be read.
        ProbeError: the override names a file that is not there, or is no lock.
    """
    if named is not None:
        if named not in tree or named.rpartition("/")[2] not in _BY_NAME:
            raise ProbeError(
                f"envs/{{repo}}/environment.yaml: node.lock: {named!r} is not in the snapshot, or is none of "
                f"{', '.join(_BY_NAME)}"
            )
        return named
    manager = str(manifest.get("packageManager", "")).partition("@")[0]
    present = [name for name in _BY_NAME if name in tree]
    for name in sorted(present, key=lambda name: _BY_NAME[name] != manager):
        return name
    for name, what in _UNREADABLE.items():
        if name in tree:
            raise UnbuildableError(f"{name}: {what} cannot be read, and there is no other lock")
    raise UnbuildableError(
        "no lock is committed (package-lock.json, npm-shrinkwrap.json, yarn.lock, pnpm-lock.yaml), so that "
        "the packages of T0 are not known"
    )


def read_lock(tree: Tree, path: str, manifest: Mapping[str, Any]) -> Lock:
    """A lock as placements.

    Raises:
        UnbuildableError: it cannot be installed from.
        ProbeError: it is malformed.
    """
    content = tree.read(path)
    if content is None:
        raise ProbeError(f"{path}: too large to be a lock")
    match _BY_NAME[path.rpartition("/")[2]]:
        case "npm":
            return read_package_lock(path, content)
        case "pnpm":
            return read_pnpm_lock(path, content)
        case _:
            return read_yarn_lock(path, content, tree, manifest)
