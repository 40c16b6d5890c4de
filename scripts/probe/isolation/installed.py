"""Packages inside a sandbox: each of the environment's must be a dated release up to T0, and no other
version of the audited project may lie anywhere.

The image's own system packages are of any age: they say nothing of the project, unless they are the
project, or carry a copy of it (pip carries packaging, a command-line agent may carry marked).
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from packaging.utils import canonicalize_name

from probe.environment.recipe import PREFIX
from probe.isolation.listing import Listing
from probe.isolation.project import Project
from probe.isolation.tree import Past
from probe.records import Leak, Release
from probe.sandbox import WORK

NODE_PACKAGE = re.compile(
    r"(?P<root>.*/node_modules/(?P<name>(?:@[^/]+/)?[^/.][^/]*))/package\.json"
)
_NPM = re.compile(rf"(?P<root>{PREFIX}/node/(?P<name>npm))/package\.json")
PYTHON_PACKAGE = re.compile(
    r"(?P<root>.*)/(?P<name>[^/-]+)(?:-(?P<version>[^/-]+)[^/]*)?\.(?:dist|egg)-info(?:/(?:METADATA|PKG-INFO))?"
)
_SITE = re.compile(r"/(?:site|dist)-packages/.")
_FIELD = re.compile(r"^(Name|Version):\s*(\S+)", re.MULTILINE)
_MANIFEST_BYTES = 60_000
_MODULE_BYTES = 4_000_000
_TELLING_MODULES = 3
"""Modules of one package that must lie at the same places for it to count as a copy."""


class Package(NamedTuple):
    """A package that is installed inside."""

    ecosystem: str
    """``python`` or ``node``."""
    name: str
    """Normalised."""
    version: str
    """Empty where it does not say."""
    where: str
    """Path of its metadata."""
    root: str
    """Folder that it lies in."""


class Copy(NamedTuple):
    """A folder with the project's code in another version than the snapshot's."""

    root: str
    """The folder."""
    name: str
    """The Python package that it is."""
    modules: Mapping[str, int]
    """Bytes of its modules, by path below it."""

    @property
    def words(self) -> str:
        """What is wrong with it."""
        return (
            f"another version of the project's package {self.name!r} ({len(self.modules)} modules), not "
            "all of it from the history up to T0"
        )


class Installed(NamedTuple):
    """What was looked at, and what is wrong with it."""

    packages: list[Package]
    """Everything that has a package's metadata."""
    leaks: list[Leak]
    """What is younger than T0, undated, or another version of the project."""


def check_packages(
    inside: Listing,
    project: Project,
    releases: Iterable[Release],
    late: Mapping[str, str],
    cutoff: datetime,
    past: Past,
) -> Installed:
    """Hold everything installed against the recipe's dated releases.

    Args:
        inside: the sandbox.
        project: what is audited.
        releases: what the environment's recipe lists.
        late: accepted releases after T0, ``name==version`` or ``name@version``, with reasons.
        cutoff: T0's time.
        past: the project's history up to T0.
    """
    dated = {
        (one.ecosystem, canonicalize_name(one.name), one.version): one.uploaded for one in releases
    }
    packages = list(_find(inside))
    own = [one for one in packages if one.root.startswith(f"{PREFIX}/")]
    listed = {one.root for one in own if (one.ecosystem, one.name, one.version) in dated}
    leaks = []
    for one in own:
        key = (one.ecosystem, one.name, one.version)
        if key in dated:
            uploaded = dated[key]
            if uploaded is not None and uploaded > cutoff and not _accepted(one, late):
                leaks.append(_leak(one, f"uploaded {uploaded:%Y-%m-%d}, after T0"))
        elif not _came_with(one, listed) and not _is_the_project(one, project):
            leaks.append(_leak(one, "not among the dated releases of the recipe"))
    copies = list(_copies(inside, project))
    old = {one.root.rpartition("/")[0] for one in copies if _is_old(one, inside, project, past)}
    for one in packages:
        elsewhere = not one.root.startswith((f"{PREFIX}/", f"{WORK}/"))
        if one.name in project.names and elsewhere and one.root not in old:
            leaks.append(_leak(one, "the audited project itself, of a date that nobody knows"))
    released = bool(project.names & {name for _, name, _ in dated})
    for copy in copies:
        if copy.root.rpartition("/")[0] not in old and not _is_dated(copy, released):
            leaks.append(Leak(kind="packages", where=copy.root, detail=copy.words))
    return Installed(packages, leaks)


def _find(inside: Listing) -> Iterator[Package]:
    named: dict[str, re.Match[str]] = {}
    for entry in inside.entries:
        if entry.kind != "file" or entry.path.startswith(f"{WORK}/"):
            continue
        path = entry.path
        match = (
            NODE_PACKAGE.fullmatch(path) or _NPM.fullmatch(path) or PYTHON_PACKAGE.fullmatch(path)
        )
        if match:
            named[path] = match
    texts = inside.read_all([p for p in named if p.startswith(PREFIX)], _MANIFEST_BYTES)
    for path, match in named.items():
        ecosystem = "node" if path.endswith("/package.json") else "python"
        groups = match.groupdict()
        name, version = _told(ecosystem, texts.get(path, b"").decode("utf-8", errors="replace"))
        yield Package(
            ecosystem,
            canonicalize_name(name or groups["name"]),
            version or groups.get("version") or "",
            path,
            groups["root"],
        )


def _told(ecosystem: str, text: str) -> tuple[str, str]:
    """Name and version as a package's own metadata says them; empty where it does not."""
    if ecosystem == "python":
        fields = dict(reversed(_FIELD.findall(text)))
        return fields.get("Name", ""), fields.get("Version", "")
    try:
        told = json.loads(text)
    except ValueError:
        return "", ""
    if not isinstance(told, dict):
        return "", ""
    return str(told.get("name") or ""), str(told.get("version") or "")


def _came_with(one: Package, listed: set[str]) -> bool:
    """Whether a package lies inside another, dated one: it was part of that release's file."""
    if one.ecosystem == "python":
        return bool(_SITE.search(f"{one.root}/"))
    at = one.root
    while "/node_modules/" in at:
        at = at.rpartition("/node_modules/")[0]
        if at in listed:
            return True
    return False


def _is_the_project(one: Package, project: Project) -> bool:
    """Whether it can be the project, installed from its sources; its code is compared as a copy."""
    return one.ecosystem == "python" and one.name in project.names


def _accepted(one: Package, late: Iterable[str]) -> bool:
    """Whether the override accepts the release, ``name==version`` or ``name@version``."""
    split = (key.rpartition("==" if "==" in key else "@") for key in late)
    return (one.name, one.version) in {
        (canonicalize_name(name), version) for name, _, version in split
    }


def _copies(inside: Listing, project: Project) -> Iterator[Copy]:
    """Folders outside the snapshot that hold the project's Python code in another version."""
    found: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for entry in inside.files():
        if not entry.path.endswith(".py") or entry.path.startswith(f"{WORK}/"):
            continue
        for name in project.packages:
            above, mark, below = entry.path.partition(f"/{name}/")
            if mark:
                found[f"{above}/{name}", name][below] = entry.size
    for (root, name), modules in sorted(found.items()):
        ours = project.packages[name]
        shared = [path for path in modules if path in ours]
        if len(shared) < min(_TELLING_MODULES, len(ours)):
            continue
        if any(modules[path] != ours.get(path) for path in modules):
            yield Copy(root, name, modules)


def _is_old(copy: Copy, inside: Listing, project: Project, past: Past) -> bool:
    """Whether every module that the project has too was in its history by T0, as it stands here."""
    shared = [f"{copy.root}/{path}" for path in copy.modules if path in project.packages[copy.name]]
    contents = inside.read_all(shared, _MODULE_BYTES)
    return all(past.knows(content) for content in contents.values())


def _is_dated(copy: Copy, released: bool) -> bool:
    """Whether a copy came with a dated release: the project's own, or one that carries it."""
    if not copy.root.startswith(f"{PREFIX}/"):
        return False
    return released or bool(_SITE.search(copy.root.rpartition("/")[0] + "/"))


def _leak(one: Package, detail: str) -> Leak:
    named = f"{one.name} {one.version}".strip()
    return Leak(kind="packages", where=one.where, detail=f"{named}: {detail}")
