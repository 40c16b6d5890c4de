"""JavaScript and TypeScript projects: a frozen install from the committed lock, with Node as of T0.

No package manager runs, on the host or inside: the lock is read here, every tarball is fetched by its
name and checked against the lock's hash, and the sandbox only unpacks them. Scripts of packages
(``postinstall``) never run.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from probe.environment.base import FetchJob, UnbuildableError
from probe.environment.node_dates import Dated, date_releases, for_machine, published
from probe.environment.node_install import (
    BINS,
    FOLDERS,
    INSTALL,
    LINKS,
    PLACES,
    ROOT,
    bins,
    folders,
    links,
    places,
)
from probe.environment.node_lock import Lock, Placement, read_object
from probe.environment.node_locks import find_lock, read_lock
from probe.environment.node_registry import (
    Packument,
    Published,
    Registry,
    Tarball,
    keep_artifact,
)
from probe.environment.node_runtime import (
    CALENDAR,
    Wish,
    choose_node,
    find_wish,
    node_package,
    read_calendar,
)
from probe.environment.node_semver import parse_version, satisfies
from probe.environment.node_tests import plan_tests
from probe.environment.recipe import Artifact, EcosystemName, EcosystemRecipe
from probe.environment.tree import Tree
from probe.errors import ProbeError
from probe.records.snapshot import Release

log = logging.getLogger(__name__)

_NPM = "npm"
_SHOWN = 5


@dataclass(frozen=True)
class _Runtime:
    """Node and its npm."""

    node: Tarball
    npm: Tarball
    releases: tuple[Release, ...]
    where: str


class NodeEcosystem:
    """See :class:`probe.environment.base.Ecosystem`."""

    name: EcosystemName = "node"
    languages = ("javascript", "typescript", "tsx")

    def detect(self, tree: Tree) -> bool:
        """Whether the root has a ``package.json``."""
        return "package.json" in tree

    def fetch(self, job: FetchJob) -> EcosystemRecipe:
        """See :meth:`probe.environment.base.Ecosystem.fetch`."""
        return _Fetch(job).recipe()


class _Fetch:
    """One fetch, with what its steps share."""

    def __init__(self, job: FetchJob) -> None:
        self._job = job
        self._said = job.override.node
        self._registry = Registry()
        self._manifest = read_object("package.json", job.tree.read("package.json") or b"{}")
        self._notes: list[str] = []

    def recipe(self) -> EcosystemRecipe:
        job = self._job
        whole = self._lock()
        runtime = self._runtime()
        first = for_machine(whole, job.machine)
        packuments = self._registry.packuments(one.name for one in first.placements)
        lock = for_machine(first, job.machine, packuments)
        placed = published(lock, packuments)
        dated = self._date(lock, placed, packuments)
        tarballs = {
            one: Tarball(one.name, one.version, self._integrity(lock, one, release))
            for one, release in placed.items()
        }
        artifacts = self._registry.tarballs(
            [*tarballs.values(), runtime.node, runtime.npm], job.artifacts, job.cache
        )
        lists = {
            PLACES: places(lock, {one: tarball.file for one, tarball in tarballs.items()}),
            BINS: bins(placed, lock.links),
            LINKS: links(lock.links),
            FOLDERS: folders(lock),
        }
        artifacts += [self._keep(file, text) for file, text in lists.items()]
        if not lock.hashed:
            self._notes.append(
                f"{lock.source} has no hashes of tarballs: those of the registry are held"
            )
        unrun = sorted({one.name for one, release in placed.items() if release.scripts})
        if unrun:
            self._notes.append(f"install scripts are not run: {', '.join(unrun)}")
        return EcosystemRecipe(
            ecosystem="node",
            runtimes={"node": runtime.node.version, "npm": runtime.npm.version},
            lock=_lock_text(whole, runtime),
            lock_source=whole.source,
            releases=_sorted({*dated.releases, *runtime.releases}),
            artifacts=tuple(sorted(artifacts, key=lambda one: one.file)),
            install=INSTALL,
            groups={"runtime": (runtime.node.file,), "npm": (runtime.npm.file,)},
            path=(f"{ROOT}/bin",),
            variables=dict(job.override.variables),
            tests=plan_tests(job.tree, self._manifest, job.override.test),
            notes=(*whole.notes, *self._notes, *dated.notes),
        )

    def _lock(self) -> Lock:
        """The committed lock with what the override adds and takes away; nothing from elsewhere."""
        path = find_lock(self._job.tree, self._manifest, self._said.lock)
        lock = read_lock(self._job.tree, path, self._manifest)
        kept = [one for one in lock.placements if one.name not in self._said.exclude]
        foreign = [one for one in kept if one.foreign is not None]
        needed = set(self._manifest.get("dependencies") or ())
        for one in foreign:
            if one.path in {f"node_modules/{name}" for name in needed}:
                raise UnbuildableError(
                    f"{lock.source}: {one.name} comes from {one.foreign}, not from a registry"
                )
        notes = list(lock.notes)
        if foreign:
            said = ", ".join(f"{one.name} ({one.foreign})" for one in foreign[:_SHOWN])
            more = f" and {len(foreign) - _SHOWN} more" if len(foreign) > _SHOWN else ""
            notes.append(f"left out, not from a registry: {said}{more}")
        rest = [one for one in kept if one.foreign is None and one.name not in self._added()]
        return replace(lock, placements=(*rest, *self._extra()), notes=tuple(notes))

    def _added(self) -> dict[str, str]:
        """Packages that the override adds, with their versions."""
        found = {}
        for word in self._said.requirements:
            name, _, version = word.rpartition("@")
            if not name or parse_version(version) is None:
                raise ProbeError(
                    f"envs/{{repo}}/environment.yaml: node.requirements: {word!r} is no name@version"
                )
            found[name] = version
        return found

    def _extra(self) -> list[Placement]:
        return [
            Placement(f"node_modules/{name}", name, version, None)
            for name, version in sorted(self._added().items())
        ]

    def _integrity(self, lock: Lock, one: Placement, release: Published) -> str:
        """The lock's hash; the registry's for what a person added, and where locks have none."""
        if one.integrity is not None:
            return one.integrity
        if release.integrity is not None and (not lock.hashed or one.name in self._added()):
            return release.integrity
        lacking = sum(other.integrity is None for other in lock.placements)
        raise ProbeError(
            f"{lock.source}: {lacking} packages have no hash, {one.name}@{one.version} first; name another "
            "lock as node.lock, or node.exclude them, in envs/{repo}/environment.yaml"
        )

    def _date(
        self, lock: Lock, placed: Iterable[Placement], packuments: Mapping[str, Packument]
    ) -> Dated:
        added = self._added()
        return date_releases(
            lock.source,
            placed,
            packuments,
            self._job.cutoff,
            uncommitted=added,
            accept=self._job.override.late,
        )

    def _runtime(self) -> _Runtime:
        """Node as the project names it, and the npm of that time."""
        job = self._job
        package = node_package(job.machine)
        known = self._registry.packuments([package, CALENDAR, _NPM])
        calendar = _newest(known[CALENDAR], None, "")
        integrity = known[CALENDAR].releases[calendar].integrity or ""
        kept = self._registry.tarballs(
            [Tarball(CALENDAR, calendar, integrity)], job.artifacts, job.cache
        )
        told = read_calendar((job.artifacts / kept[0].file).read_bytes())
        wish = find_wish(job.tree, self._manifest)
        if self._said.release is not None:
            wish = Wish((self._said.release,), "override")
        node = choose_node(wish, self._manifest, known[package], told, job.cutoff)
        npm = _newest(known[_NPM], job.cutoff, node)
        day = told.released.get(node)
        bound = known[package].bound(node)
        dates = [date for date in (day, bound) if date is not None and date <= job.cutoff]
        log.info("Node %s (%s), npm %s", node, wish.where or "no file names one", npm)
        self._notes.append(f"Node {node}: {wish.where or 'no file names one'} says {wish.text}")
        return _Runtime(
            self._tarball(known[package], node),
            self._tarball(known[_NPM], npm),
            (
                Release(
                    ecosystem="node",
                    name=package,
                    version=node,
                    uploaded=min(dates, default=None),
                ),
                Release(ecosystem="node", name=_NPM, version=npm, uploaded=known[_NPM].bound(npm)),
            ),
            wish.where,
        )

    def _tarball(self, packument: Packument, version: str) -> Tarball:
        release = packument.releases.get(version)
        if release is None or release.integrity is None:
            raise UnbuildableError(f"npm has no {packument.name} {version}")
        return Tarball(packument.name, version, release.integrity)

    def _keep(self, file: str, text: str) -> Artifact:
        return keep_artifact(file, text.encode(), self._job.artifacts, self._job.cache)


def _newest(packument: Packument, cutoff: datetime | None, node: str) -> str:
    """The newest release by a time (None: of all) that runs on a Node (empty: on any)."""
    on = parse_version(node)
    found = [
        version
        for text, release in packument.releases.items()
        if (version := parse_version(text)) and version.final
        if on is None or release.node == "" or satisfies(on, release.node)
        if cutoff is None or ((bound := packument.bound(text)) and bound <= cutoff)
    ]
    if not found:
        raise UnbuildableError(
            f"no release of {packument.name} was on the registry by {cutoff:%Y-%m-%d}"
        )
    return ".".join(str(part) for part in max(found)[:3])


def _lock_text(lock: Lock, runtime: _Runtime) -> str:
    """Every package of every machine, with its folder and hash."""
    lines = [f"node {runtime.node.version}", f"npm {runtime.npm.version}"]
    lines += [
        f"{one.path} {one.name}@{one.version} {one.integrity or '-'}" for one in lock.placements
    ]
    lines += [f"{link.path} -> {link.target}" for link in lock.links]
    return "".join(f"{line}\n" for line in lines)


def _sorted(releases: set[Release]) -> tuple[Release, ...]:
    return tuple(sorted(releases, key=lambda one: (one.name, one.version)))
