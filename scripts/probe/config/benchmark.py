"""The validated configuration as one object: what the rest of PROBE reads instead of raw keys."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from probe.config.base import Section
from probe.config.errata import Erratum
from probe.config.models import ModelEntry
from probe.config.names import suggestion
from probe.config.runs import AskingRun, Run, SessionRun
from probe.config.settings import HEURISTIC, Settings
from probe.config.windows import Inventory
from probe.errors import ConfigError
from probe.records import Variant

_TARGET = re.compile(r"^(?:\./)?results/(?P<repo>[^/]+)/(?P<part>[^/]+)(?P<rest>/.*)?$")
_METRICS = ".metrics.csv"
AGREEMENT = "reference/agreement.csv"
"""Below a repository's folder: how its reference set agrees with a labelled truth."""
_SHARED_FOLDERS = frozenset({"environment", "reference", "snapshot"})
CONTEXT = ("context",)
"""Path of the stage that writes the context document: only full sessions see it."""
_UNSCORED = frozenset({"licence", "notes", "truth"})


class Cell(NamedTuple):
    """One run on one repository."""

    repo: str
    """Key of the repository."""
    run: str
    """Key of the run."""


class Named(NamedTuple):
    """What a target names."""

    repo: str
    """Key of the repository."""
    run: str | None
    """Key of the run; None for what all runs share."""


@dataclass(frozen=True)
class Benchmark:
    """Settings, repositories, runs and models, checked against each other."""

    settings: Settings
    """The settings of the build."""
    repositories: Inventory
    """All repositories of the inventory, in its order, and variants of them;
    ``settings.repositories`` are built."""
    runs: Mapping[str, Run]
    """All runs that are defined, in the file's order; ``settings.runs`` are built."""
    models: Mapping[str, ModelEntry]
    """All models that are defined, in the file's order."""
    errata: Sequence[Erratum] = ()
    """All errata, in the file's order."""
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The runs that each name of ``runs.yaml`` stands for: its repeats, or itself."""

    def errata_of(self, repo: str) -> list[dict[str, object]]:
        """The errata of a repository or variant as a rule's parameter, in the file's order.

        What else stands in the file, line numbers too, is no part of it: an erratum of one
        repository reruns nothing of another.
        """
        return [one.model_dump(mode="json") for one in self.errata if one.repo == repo]

    def cells(self) -> list[Cell]:
        """The configured cells, repository by repository; runs without its languages left out."""
        return [
            Cell(repo, run)
            for repo in self.settings.repositories
            for run in self.settings.runs
            if self.why_no_cell(repo, run) is None
        ]

    def why_no_cell(self, repo: str, run: str) -> str | None:
        """Why a run does not apply to a repository, in words; None where it does.

        Raises:
            KeyError: no such repository or run.
        """
        settings = self.runs[run]
        languages = self.repositories[repo].languages
        if settings.repositories and repo not in settings.repositories:
            return f"run {run!r} is for {', '.join(settings.repositories)} only, not for {repo!r}"
        if settings.languages and not set(settings.languages) & set(languages):
            return (
                f"run {run!r} reads {', '.join(settings.languages)}, "
                f"but {repo!r} has {', '.join(languages)}"
            )
        return None

    def by_pass(self, run: str) -> bool:
        """Whether a run works pass by pass; the others read a whole snapshot at once.

        Raises:
            KeyError: no such run.
        """
        settings = self.runs[run]
        return isinstance(settings, AskingRun) and self.variant(run) != "vanilla"

    def variant(self, run: str) -> Variant | None:
        """What a run's sessions are given; None for runs without sessions.

        Raises:
            KeyError: no such run.
        """
        settings = self.runs[run]
        return settings.variant if isinstance(settings, SessionRun) else None

    def engine_settings(self, engine: str) -> dict[str, object] | None:
        """What of an engine can change its answers, as a rule's parameter; None for a heuristic.

        Raises:
            KeyError: no such model.
        """
        return None if engine == HEURISTIC else self.models[engine].answer_settings()

    def models_of(self, cells: Sequence[Cell], *, reference: bool = True) -> list[str]:
        """Names of the models that these cells ask, sorted; with those of the reference stages."""
        runs = [self.runs[cell.run] for cell in cells]
        names = {run.model for run in runs if isinstance(run, AskingRun)}
        for path, stage in self.settings.stages().items():
            if reference if path != CONTEXT else self.needs_context(cell.run for cell in cells):
                names |= {stage.engine} - {HEURISTIC}
        return sorted(names)

    def needs_context(self, runs: Iterable[str]) -> bool:
        """Whether any of these runs is given the context document."""
        return any(self.variant(run) == "full" for run in runs)

    def cell_config(self, repo: str, run: str) -> dict[str, object]:
        """All configuration that can change a cell's figures, as JSON values.

        The plan is part of it only for runs that go pass by pass, and of a model only what can
        change its answers.

        Raises:
            KeyError: no such repository or run.
        """
        settings = self.runs[run]
        asked = {"run": settings.model} if isinstance(settings, AskingRun) else {}
        for path, stage in self.settings.stages().items():
            if stage.engine != HEURISTIC and (path != CONTEXT or self.needs_context([run])):
                asked[".".join(path)] = stage.engine
        more: dict[str, Section] = {"plan": self.settings.plan} if self.by_pass(run) else {}
        if self.needs_context([run]):
            more["context"] = self.settings.context
        if isinstance(settings, SessionRun):
            more["environment"] = self.settings.environment
        return {
            "repo": repo,
            "run": run,
            "settings": settings.model_dump(mode="json"),
            "models": {key: self.models[name].answer_settings() for key, name in asked.items()},
            **{key: section.model_dump(mode="json") for key, section in more.items()},
            "repository": self.repositories[repo].model_dump(mode="json", exclude=set(_UNSCORED)),
            "snapshot": self.settings.snapshot.model_dump(mode="json"),
            "reference": self.settings.reference.model_dump(mode="json"),
            "matching": self.settings.matching.model_dump(mode="json"),
        }

    def check_target(self, target: str) -> Named:
        """The repository and the run that a file under ``results/{repo}/`` belongs to.

        Raises:
            ConfigError: no such repository or run, or the run does not apply to the repository.
        """
        match = _TARGET.match(target)
        if match is None:
            raise ConfigError(f"{target}: expected a file under results/REPOSITORY/")
        repo, part, inside = match["repo"], match["part"], match["rest"]
        problem = self.repositories.why_not(repo)
        if problem is not None:
            raise ConfigError(f"{target}: {problem}")
        if f"{part}{inside or ''}" == AGREEMENT and not self.repositories[repo].truth:
            raise ConfigError(
                f"{target}: nobody labelled the window of {repo!r} (column truth of "
                f"{self.settings.inventory}), so there is nothing to agree with"
            )
        run = _run_of(target, part, inside is not None, self.runs)
        if run is None:
            return Named(repo, None)
        return Named(repo, self._applicable(target, repo, run))

    def _applicable(self, target: str, repo: str, run: str) -> str:
        if len(self.groups.get(run, ())) > 1:
            listed = ", ".join(self.groups[run])
            raise ConfigError(f"{target}: {run!r} is repeated; name one of {listed}")
        if run not in self.runs:
            hint = suggestion(run, self.runs)
            raise ConfigError(
                f"{target}: unknown run {run!r}{hint} "
                f"(runs are defined in {self.settings.runs_file})"
            )
        reason = self.why_no_cell(repo, run)
        if reason is not None:
            raise ConfigError(f"{target}: {reason}")
        return run


def _run_of(target: str, part: str, inside: bool, runs: Mapping[str, object]) -> str | None:
    """The run that the second part of a target names, None where all runs share the file."""
    if part.endswith(_METRICS) and not inside:
        return part.removesuffix(_METRICS)
    stem = part.partition(".")[0]
    if "." in part:
        if stem in runs and not inside:
            right = target.removesuffix(part) + stem + _METRICS
            raise ConfigError(f"{target}: no file of the workflow; did you mean {right!r}?")
        return None
    if part in _SHARED_FOLDERS:
        return None
    return part
