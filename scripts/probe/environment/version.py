"""Which version a project has at T0, for build tools that would ask git.

A snapshot has no history, so that tools like setuptools_scm have nothing to count from. The version
is read where people write it: in metadata, in the package itself, or at the top of the list of changes.
"""

import re
import tomllib

from packaging.version import InvalidVersion, Version

from probe.environment.tree import Tree

UNKNOWN = "0.0.0"
"""Where no file tells."""

_ASSIGNED = re.compile(
    r"^(?:__version__|VERSION|version)\s*(?::\s*\w+\s*)?=\s*[\"']([^\"']+)[\"']", re.M
)
_SETUP_CFG = re.compile(r"^version\s*=\s*([0-9][\w.+!-]*)\s*$", re.M)
_MODULES = ("__version__.py", "_version.py", "version.py", "__about__.py", "__init__.py")
_CHANGES = ("CHANGELOG", "CHANGES", "HISTORY", "NEWS", "RELEASES", "changelog", "whats-new")
_CHANGE = re.compile(r"(?<![\w.])v?(\d+\.\d+(?:\.\d+)*(?:(?:a|b|rc|\.post|\.dev)\d+)?)(?![\w.])")
_DEPTH = 3
"""Folders deep that a version's file lies at most."""


def snapshot_version(tree: Tree) -> tuple[str, str]:
    """Version and the file that says so; :data:`UNKNOWN` and an empty text where none does."""
    for path, found in _candidates(tree):
        try:
            return str(Version(found)), path
        except InvalidVersion:
            continue
    return UNKNOWN, ""


def _candidates(tree: Tree) -> list[tuple[str, str]]:
    found = [("pyproject.toml", one) for one in _pyproject(tree)]
    found += [("setup.cfg", one) for one in _SETUP_CFG.findall(tree.text("setup.cfg") or "")]
    for name in _MODULES:
        for path in sorted(tree.matching(name), key=lambda one: (one.count("/"), one)):
            if path.count("/") <= _DEPTH and not _aside(path):
                found += [(path, one) for one in _ASSIGNED.findall(tree.text(path) or "")]
    return found + _changes(tree)


def _aside(path: str) -> bool:
    return bool({"tests", "test", "docs", "doc", "examples", "_vendor"} & set(path.split("/")))


def _pyproject(tree: Tree) -> list[str]:
    try:
        told = tomllib.loads(tree.text("pyproject.toml") or "")
    except tomllib.TOMLDecodeError:
        return []
    poetry = told.get("tool", {}).get("poetry", {})
    found = (told.get("project", {}).get("version"), poetry.get("version"))
    return [one for one in found if isinstance(one, str)]


def _changes(tree: Tree) -> list[tuple[str, str]]:
    """The topmost version that a heading of a list of changes names."""
    for path in sorted(tree.paths, key=lambda one: (one.count("/"), one)):
        name = path.rpartition("/")[2]
        if path.count("/") > 1 or not name.startswith(_CHANGES):
            continue
        for line in (tree.text(path) or "").splitlines():
            heading = line.lstrip("#=* [").startswith(("v", "V", *"0123456789")) or line.startswith(
                "#"
            )
            found = _CHANGE.search(line) if heading and len(line) < 120 else None
            if found is not None:
                return [(path, found[1])]
    return []
