"""From the configuration files to one validated :class:`Benchmark`, or one line that says why not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import TypeAdapter, ValidationError

from probe.config.base import KeyPath, dotted, first_problem
from probe.config.benchmark import Benchmark
from probe.config.errata import Erratum, read_errata
from probe.config.inventory import read_inventory
from probe.config.models import ModelEntry
from probe.config.names import ModelName, RunName, suggestion
from probe.config.runs import RUN_ADAPTER, RUN_KINDS, AskingRun, Run, expand_repeats
from probe.config.settings import ERRATA, HEURISTIC, Settings
from probe.config.strict_yaml import YamlFile, read_yaml
from probe.config.windows import Inventory
from probe.errors import ConfigError

T = TypeVar("T")

_ABSENT = object()


def load_config(
    config: Mapping[str, Any], root: Path, source_files: Sequence[str | Path] = ()
) -> Benchmark:
    """Validate a configuration and everything that it names, before any work.

    Args:
        config: the merged settings, as Snakemake hands them over (files and ``--config``).
        root: the workflow's folder; relative paths inside the configuration start here.
        source_files: the files that were merged, in order of growing precedence; they are read
            again to find keys given twice, and to say in which line a value stands.

    Raises:
        ConfigError: anything is unknown, missing, of the wrong type or given twice.
    """
    origin = _Origin(
        config, [read_yaml(Path(file), _shown(Path(file), root)) for file in source_files]
    )
    settings = _validate_settings(_typed(config, origin), origin)
    defined = read_runs(root / settings.runs_file, settings.runs_file)
    repositories = _read_repositories(root, settings, origin)
    models = read_models(root / settings.models_file, settings.models_file)
    _check_repositories(origin, settings, repositories)
    _check_restrictions(root, settings, defined, repositories)
    _check_engines(origin, settings, models)
    _check_run_models(root, settings, defined, models)
    runs, groups = _expand(root, settings, defined)
    settings = _name_repeats(origin, settings, runs, groups)
    errata = _read_errata(root, settings, repositories, origin)
    return Benchmark(settings, repositories, runs, models, errata, groups)


def load_files(files: Sequence[Path], root: Path) -> Benchmark:
    """Validate a configuration from its files alone, merged as Snakemake merges them.

    Raises:
        ConfigError: as in :func:`load_config`.
    """
    merged: dict[str, Any] = {}
    for file in files:
        _merge(merged, read_yaml(file, _shown(file, root)).data)
    return load_config(merged, root, files)


def _merge(into: dict[str, Any], more: Mapping[str, Any]) -> None:
    for key, value in more.items():
        if isinstance(value, Mapping) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = dict(value) if isinstance(value, Mapping) else value


def read_runs(path: Path, shown: str) -> dict[str, Run]:
    """All runs of ``runs.yaml`` by name, in the file's order.

    Raises:
        ConfigError: the file cannot be read, or a name or run in it is not valid.
    """
    return _read_entries(path, shown, TypeAdapter(RunName), RUN_ADAPTER)


def read_models(path: Path, shown: str) -> dict[str, ModelEntry]:
    """All models of ``models.yaml`` by name, in the file's order; a file of comments has none.

    Raises:
        ConfigError: the file cannot be read, or a name or model in it is not valid.
    """
    models = _read_entries(path, shown, TypeAdapter(ModelName), TypeAdapter(ModelEntry))
    _check_distinct(path, shown, models)
    return models


def _read_entries(
    path: Path, shown: str, names: TypeAdapter[str], entries: TypeAdapter[T]
) -> dict[str, T]:
    file = read_yaml(path, shown)
    checked: dict[str, T] = {}
    for name, entry in file.data.items():
        try:
            names.validate_python(name)
            checked[name] = entries.validate_python(entry)
        except ValidationError as error:
            inner, problem = first_problem(error)
            # Pydantic names the kind of a run first in the path of its errors; the file does not
            path_in_file = (name, *(inner[1:] if inner[:1] and inner[0] in RUN_KINDS else inner))
            where = file.where(path_in_file)
            raise ConfigError(f"{where}: {dotted(path_in_file)}: {problem}") from error
    return checked


@dataclass(frozen=True)
class _Origin:
    """Where a setting comes from: the last file that gives the value which holds, or the command."""

    config: Mapping[str, Any]
    files: Sequence[YamlFile]

    def where(self, path: KeyPath) -> str:
        for file in reversed(self.files):
            if path in file.lines and _same(_at(file.data, path), _at(self.config, path)):
                return file.where(path)
        if _at(self.config, path) is _ABSENT:
            return self.where(path[:-1]) if len(path) > 1 else self.last
        return "--config" if self.files else self.last

    @property
    def last(self) -> str:
        return self.files[-1].shown if self.files else "configuration"


def _typed(value: Any, origin: _Origin, path: KeyPath = ()) -> Any:
    """Give numbers and truth values of ``--config`` their type: Snakemake hands all inside a mapping
    over as text. What a file gives as text stays text.
    """
    if isinstance(value, Mapping):
        return {key: _typed(inner, origin, (*path, key)) for key, inner in value.items()}
    if not isinstance(value, str) or any(_at(f.data, path) == value for f in origin.files):
        return value
    try:
        read = yaml.safe_load(value)
    except yaml.YAMLError:
        return value
    return read if isinstance(read, bool | int | float) else value


def _same(in_file: Any, merged: Any) -> bool:
    """Whether a file's value is the one that holds; mappings are merged from several files."""
    both_mappings = isinstance(in_file, Mapping) and isinstance(merged, Mapping)
    return both_mappings or repr(in_file) == repr(merged)  # repr: NaN does not equal itself


def _at(value: Any, path: KeyPath) -> Any:
    for part in path:
        if isinstance(value, Mapping):
            value = value.get(part, _ABSENT)
        elif isinstance(value, list | tuple) and isinstance(part, int) and part < len(value):
            value = value[part]
        else:
            return _ABSENT
    return value


def _validate_settings(config: Mapping[str, Any], origin: _Origin) -> Settings:
    try:
        return Settings.model_validate(dict(config))
    except ValidationError as error:
        path, problem = first_problem(error)
        prefix = f"{dotted(path)}: " if path else ""
        raise ConfigError(f"{origin.where(path)}: {prefix}{problem}") from error


def _read_repositories(root: Path, settings: Settings, origin: _Origin) -> Inventory:
    rows = read_inventory(root / settings.inventory, settings.inventory)
    repositories = Inventory(rows, settings.windows, settings.inventory)
    for name in settings.windows:
        problem = repositories.why_not(name)
        if problem is not None:
            path: KeyPath = ("windows", name)
            raise ConfigError(f"{origin.where(path)}: {dotted(path)}: {problem}")
    return repositories


def _read_errata(
    root: Path, settings: Settings, repositories: Inventory, origin: _Origin
) -> tuple[Erratum, ...]:
    path = root / settings.errata
    if not path.exists():
        if settings.errata == ERRATA:
            return ()
        raise ConfigError(
            f"{origin.where(('errata',))}: errata: no file {settings.errata!r}; correct the path, "
            "or leave the key out"
        )
    return read_errata(path, settings.errata, repositories)


def _check_repositories(origin: _Origin, settings: Settings, repositories: Inventory) -> None:
    for place, name in enumerate(settings.repositories):
        problem = repositories.why_not(name)
        if problem is not None:
            path: KeyPath = ("repositories", place)
            raise ConfigError(f"{origin.where(path)}: {dotted(path)}: {problem}")


def _expand(
    root: Path, settings: Settings, defined: Mapping[str, Run]
) -> tuple[dict[str, Run], dict[str, tuple[str, ...]]]:
    try:
        return expand_repeats(defined)
    except ValueError as error:
        file = read_yaml(root / settings.runs_file, settings.runs_file)
        name = str(error).partition(":")[0]
        raise ConfigError(f"{file.where((name, 'repeats'))}: {error}") from error


def _name_repeats(
    origin: _Origin,
    settings: Settings,
    runs: Mapping[str, Run],
    groups: Mapping[str, tuple[str, ...]],
) -> Settings:
    """The settings with the repeats of a run in place of its name; a repeat may be named alone."""
    named: list[str] = []
    for place, name in enumerate(settings.runs):
        if name not in groups and name not in runs:
            path: KeyPath = ("runs", place)
            raise ConfigError(
                f"{origin.where(path)}: {dotted(path)}: unknown run {name!r}"
                f"{suggestion(name, [*groups, *runs])} (runs are defined in {settings.runs_file})"
            )
        named += groups.get(name, (name,))
    return settings.model_copy(update={"runs": tuple(dict.fromkeys(named))})


def _check_restrictions(
    root: Path,
    settings: Settings,
    runs: Mapping[str, Run],
    repositories: Inventory,
) -> None:
    for run, entry in runs.items():
        for place, repo in enumerate(entry.repositories):
            problem = repositories.why_not(repo)
            if problem is not None:
                path: KeyPath = (run, "repositories", place)
                file = read_yaml(root / settings.runs_file, settings.runs_file)
                raise ConfigError(f"{file.where(path)}: {dotted(path)}: {problem}")


def _check_engines(origin: _Origin, settings: Settings, models: Mapping[str, ModelEntry]) -> None:
    """Every stage names an engine that exists, and that the stage has."""
    for path, stage in settings.stages().items():
        if stage.engine == HEURISTIC:
            continue
        where = f"{origin.where((*path, 'engine'))}: {dotted((*path, 'engine'))}"
        if not stage.has_model_engine:
            raise ConfigError(
                f"{where}: found {stage.engine!r}, but this version has no model engine for the "
                f"stage; expected {HEURISTIC!r}"
            )
        if stage.engine not in models:
            raise ConfigError(
                f"{where}: unknown engine {stage.engine!r}"
                f"{suggestion(stage.engine, [HEURISTIC, *models])} (models are defined in "
                f"{settings.models_file})"
            )


def _check_run_models(
    root: Path,
    settings: Settings,
    runs: Mapping[str, Run],
    models: Mapping[str, ModelEntry],
) -> None:
    for name, run in runs.items():
        if isinstance(run, AskingRun) and run.model not in models:
            path: KeyPath = (name, "model")
            file = read_yaml(root / settings.runs_file, settings.runs_file)
            raise ConfigError(
                f"{file.where(path)}: {dotted(path)}: unknown model {run.model!r}"
                f"{suggestion(run.model, models)} (models are defined in {settings.models_file})"
            )


def _check_distinct(path: Path, shown: str, models: Mapping[str, ModelEntry]) -> None:
    """Servers at two addresses whose requests would look the same must not share answers."""
    seen: dict[tuple[str, str | None], tuple[str, str | None]] = {}
    for name, entry in models.items():
        first, address = seen.setdefault((entry.litellm_id, entry.revision), (name, entry.api_base))
        if address != entry.api_base:
            file = read_yaml(path, shown)
            raise ConfigError(
                f"{file.where((name,))}: {name}: has the litellm_id {entry.litellm_id!r} of "
                f"{first!r} at another api_base; give one of them a revision, so that neither "
                "gets the other's recorded answers"
            )


def _shown(path: Path, root: Path) -> str:
    """A file as a person would type it: relative to the workflow's root where it lies inside."""
    try:
        return path.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        return str(path)
