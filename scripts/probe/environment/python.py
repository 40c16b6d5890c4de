"""Python projects: their packages as of T0, in a venv."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass

from packaging.requirements import Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from probe.environment.base import FetchJob, UnbuildableError
from probe.environment.downloads import get_artifacts
from probe.environment.machine import wheel_tags
from probe.environment.python_files import Chosen, choose_files
from probe.environment.python_index import index_url, list_files, list_projects
from probe.environment.python_install import HOME, install_script
from probe.environment.python_locks import (
    Pin,
    Question,
    find_lock,
    marker_values,
    read_lock,
    write_pins,
)
from probe.environment.python_project import Project, normal_name, read_project, usable
from probe.environment.python_resolve import NeedsSourceError, Resolver
from probe.environment.python_sdist import read_sdist
from probe.environment.python_tests import find_tests, plan_tests
from probe.environment.python_wanted import Wanted, wanted_requirements
from probe.environment.recipe import EcosystemName, EcosystemRecipe
from probe.environment.tree import Tree

log = logging.getLogger(__name__)

_PRETEND = (
    "SETUPTOOLS_SCM_PRETEND_VERSION",
    "PBR_VERSION",
    "PDM_BUILD_SCM_VERSION",
    "UV_DYNAMIC_VERSIONING_BYPASS",
    "POETRY_DYNAMIC_VERSIONING_BYPASS",
)
"""Variables from which build tools take a version in place of asking git."""
_EDITABLE_NEEDS = {"hatchling": ("editables",)}
"""What a build backend needs beyond its requirements to install editable, by its first word."""
_MOST_SOURCES = 12


@dataclass(frozen=True)
class _Locked:
    """What is installed, before files are chosen."""

    pins: tuple[Pin, ...]
    source: str
    notes: tuple[str, ...]


class PythonEcosystem:
    """See :class:`probe.environment.base.Ecosystem`."""

    name: EcosystemName = "python"
    languages = ("python",)

    def detect(self, tree: Tree) -> bool:
        """Whether there is a distribution, requirements, or at least a test at the root."""
        named = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile")
        return any(name in tree for name in named) or bool(find_tests(tree))

    def fetch(self, job: FetchJob) -> EcosystemRecipe:
        """See :meth:`probe.environment.base.Ecosystem.fetch`."""
        return _Fetch(job).recipe()


class _Fetch:
    """One fetch, with what its steps share."""

    def __init__(self, job: FetchJob) -> None:
        if job.machine.python is None:
            raise UnbuildableError(
                "the base image has no python3; set environment.base_image to one that has"
            )
        self._job = job
        self._said = job.override.python
        self._index = index_url()
        self._tags = wheel_tags(job.machine)
        self._python = ".".join(map(str, job.machine.python))
        self._project = read_project(job.tree) or Project()
        self._resolver = Resolver(job.machine, job.cutoff, self._index, job.cache.parent / "uv")
        self._sources: dict[str, tuple[str, ...]] = {}

    def recipe(self) -> EcosystemRecipe:
        job, project = self._job, self._project
        self._check_python()
        # an index that cannot be reached or has no dates is found out here, in one line and at once
        list_files("pip", self._index)
        short = self._python.rpartition(".")[0]
        wanted = wanted_requirements(job.tree, project, self._said, short)
        locked = self._lock(wanted)
        chosen = self._choose(locked.pins)
        sources = [one for one in chosen if not one.file.is_wheel]
        tools = self._tools(sources)
        artifacts = get_artifacts(
            (one.download for one in {*chosen, *tools}), job.artifacts, job.cache
        )
        distribution = bool(project.name) or "setup.py" in job.tree
        script = install_script(
            project if distribution else None,
            self._python,
            job.version,
            sources=bool(sources),
            editable=self._said.editable,
        )
        releases = {one.release for one in [*chosen, *tools]}
        return EcosystemRecipe(
            ecosystem="python",
            runtimes={"python": self._python},
            lock=f"# installed\n{write_pins(locked.pins)}# build tools\n{write_pins(t.pin for t in tools)}",
            lock_source=locked.source,
            releases=tuple(sorted(releases, key=lambda one: (one.name, one.version))),
            artifacts=tuple(artifacts),
            install=script,
            groups={
                "wheels": tuple(one.file.filename for one in chosen if one.file.is_wheel),
                "sources": tuple(one.file.filename for one in sources),
                "tools": tuple(one.file.filename for one in tools),
            },
            path=(f"{HOME}/bin",),
            variables=self._variables(),
            tests=plan_tests(job.tree, project, job.override.test),
            notes=(*wanted.notes, *locked.notes),
        )

    def _check_python(self) -> None:
        try:
            allowed = SpecifierSet(self._project.python or "")
        except InvalidSpecifier:
            return
        if not allowed.contains(self._python, prereleases=True):
            raise UnbuildableError(
                f"the project wants Python {allowed}, the image has {self._python}; set "
                "environment.base_image to one that fits"
            )

    def _lock(self, wanted: Wanted) -> _Locked:
        """The committed lock with what the tests need beyond it, or everything resolved."""
        path = find_lock(self._job.tree) if self._said.lock else None
        asked = (*wanted.run, *wanted.test)
        if path is None:
            return self._resolved(wanted)
        barred = {normal_name(name) for name in self._said.exclude}
        question = Question(wanted.groups, marker_values(self._job.machine), asked)
        lock = read_lock(self._job.tree, path, question)
        pins = [pin for pin in lock.pins if pin.name not in barred]
        named = {pin.name for pin in pins}
        lacking = [one for one in asked if normal_name(one.name) not in named]
        more = self._resolve(lacking, pins)
        added = [pin for pin in more if pin.name not in named]
        notes = list(lock.notes)
        if added:
            names = ", ".join(f"{pin.name} {pin.version}" for pin in added)
            notes.append(f"not in {path}, resolved as of T0: {names}")
        return _Locked((*pins, *added), path, tuple(notes))

    def _resolved(self, wanted: Wanted) -> _Locked:
        try:
            return _Locked(self._resolve((*wanted.run, *wanted.test)), "resolved", ())
        except UnbuildableError as error:
            if not self._said.requirements and self._said.extras is None:
                bare = [Requirement(one.name) for one in wanted.test]
                log.info("trying without the versions that the tests name: %s", error)
                pins = self._resolve((*wanted.run, *bare))
                note = f"what the tests name does not fit together, so its versions were left out: {error}"
                return _Locked(pins, "resolved", (note[:600],))
            raise

    def _resolve(
        self, wanted: Iterable[Requirement], bounds: Iterable[Pin] = ()
    ) -> tuple[Pin, ...]:
        """Resolve; a package that exists as source only is read and replaced by what it needs."""
        asked, bounds = list(wanted), list(bounds)
        taken: dict[str, Pin] = {}
        for _ in range(_MOST_SOURCES):
            try:
                pins = self._resolver.resolve(asked, bounds, taken)
            except NeedsSourceError as error:
                name = normal_name(error.package)
                if name in taken:
                    raise
                pin, needs = self._source(
                    name, [one for one in asked if normal_name(one.name) == name]
                )
                taken[name] = pin
                asked += needs
                continue
            return (*(pin for pin in pins if pin.name not in taken), *taken.values())
        raise UnbuildableError(
            f"more than {_MOST_SOURCES} packages exist as source only: {', '.join(taken)}"
        )

    def _source(self, name: str, asked: list[Requirement]) -> tuple[Pin, list[Requirement]]:
        """The newest source as of T0 that fits what is asked directly, and what it needs to run."""
        listed = list_projects([name], self._index)[name]
        fitting = [
            one
            for one in listed
            if not one.is_wheel
            and one.uploaded is not None
            and one.uploaded <= self._job.cutoff
            and not one.version.is_prerelease
            and all(one.version in requirement.specifier for requirement in asked)
        ]
        if not fitting:
            raise UnbuildableError(f"{name}: neither a wheel nor a source as of the snapshot fits")
        newest = max(fitting, key=lambda one: (one.version, one.filename))
        pin = Pin(name, str(newest.version), frozenset({newest.sha256}))
        written = self._said.metadata.get(f"{name}=={pin.version}")
        if written is not None:
            return pin, usable(written)[0]
        download = Chosen(pin, newest).download
        get_artifacts([download], self._job.artifacts, self._job.cache)
        return pin, list(read_sdist(self._job.artifacts / download.file).run)

    def _choose(self, pins: Iterable[Pin]) -> list[Chosen]:
        pins = list(pins)
        listed = list_projects((pin.name for pin in pins), self._index)
        return choose_files(pins, listed, self._tags, self._job.cutoff, self._job.override.late)

    def _tools(self, sources: list[Chosen]) -> list[Chosen]:
        """The files of pip and of what builds the project and the sources, all as wheels of T0."""
        job = self._job
        get_artifacts((one.download for one in sources), job.artifacts, job.cache)
        facts = [read_sdist(job.artifacts / one.file.filename) for one in sources]
        wanted = [Requirement("pip"), *(one for fact in facts for one in fact.build)]
        own, _ = usable(self._project.build)
        own += [
            Requirement(name)
            for backend, names in _EDITABLE_NEEDS.items()
            if (self._project.backend or "").startswith(backend)
            for name in names
        ]
        try:
            return self._choose(self._resolver.resolve([*wanted, *own]))
        except UnbuildableError as error:
            log.warning("the project's own build requirements are left out: %s", error)
            return self._choose(self._resolver.resolve(wanted))

    def _variables(self) -> dict[str, str]:
        pretend = dict.fromkeys(_PRETEND, self._job.version)
        return {
            "VIRTUAL_ENV": HOME,
            "PYTHONDONTWRITEBYTECODE": "1",
            **pretend,
            **self._job.override.variables,
        }
