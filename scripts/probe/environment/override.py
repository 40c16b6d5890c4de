"""What a person may say about a repository's environment, in ``envs/{repo}/environment.yaml``.

Everything here is a decision with a reason that the code cannot take: which Python, what to add or
leave out, how the tests are run, which releases after T0 are accepted. Unknown keys are errors.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from probe.errors import ConfigError


class Section(BaseModel):
    """Unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class TestOverride(Section):
    """How the project's own tests are run."""

    __test__ = False

    full: str | None = Field(default=None, min_length=1)
    """Bash command of the whole suite, in the project's folder."""
    subset: str | None = Field(default=None, min_length=1)
    """Bash command of a representative part, run where the whole suite takes too long."""
    totals: str | None = None
    """Parser of the totals: `pytest`, `unittest`, `node` (all JavaScript runners) or `total` (lines
    `TOTAL passed=1 failed=0 skipped=2` of a wrapper of one's own); by default the runner's."""
    skipped: dict[str, str] = {}
    """Suites that are left out, by path or name, each with its reason; paths are given to the
    runner as exclusions where no command is written here."""


class PythonOverride(Section):
    """Python packages."""

    requirements: tuple[str, ...] = ()
    """Requirements to add, such as `pytest-timeout` or `numpy<2`; resolved with the cut-off."""
    exclude: tuple[str, ...] = ()
    """Names of packages not to ask for, though a file of the project does."""
    files: tuple[str, ...] | None = None
    """Requirement files to read, in place of those that are found."""
    extras: tuple[str, ...] | None = None
    """Extras and dependency groups to install, in place of those named for tests."""
    metadata: dict[str, tuple[str, ...]] = {}
    """Requirements of packages that exist as source only and do not say what they need,
    `name==version` to its requirements."""
    lock: bool = True
    """Whether a committed lock is used; without, requirements are resolved with the cut-off."""
    editable: bool = True
    """Whether the project is installed by its own build system; without, its folders are only put on
    the path, with metadata of ours."""


class NodeOverride(Section):
    """Node and its packages."""

    release: str | None = Field(default=None, min_length=1)
    """Exact version of Node, in place of the one that the project names."""
    lock: str | None = Field(default=None, min_length=1)
    """Path of the lock to install from, where there are several."""
    requirements: tuple[str, ...] = ()
    """Packages to add, `name@version`."""
    exclude: tuple[str, ...] = ()
    """Packages to leave out, by name."""


class Override(Section):
    """What a person wrote about the environment of one repository."""

    disable: str | None = Field(default=None, min_length=1)
    """Build no environment, for this reason."""
    version: str | None = Field(default=None, min_length=1)
    """Version of the project at T0, for build tools that would ask git."""
    variables: dict[str, str] = {}
    """Variables of all commands inside, such as `AIOHTTP_NO_EXTENSIONS: "1"`."""
    late: dict[str, str] = {}
    """Releases after T0 that are accepted, `name==version` (Node: `name@version`), each with its
    reason."""
    leaks: dict[str, str] = {}
    """Leaks that are accepted, by where they were found, each with its reason."""
    test: TestOverride = TestOverride()
    """How the project's own tests are run."""
    python: PythonOverride = PythonOverride()
    """Python packages."""
    node: NodeOverride = NodeOverride()
    """Node and its packages."""


def override_keys(model: type[Section] = Override, above: str = "") -> list[tuple[str, str]]:
    """Every key with its meaning, ``python.requirements`` and so on, in the order of the file."""
    found: list[tuple[str, str]] = []
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, Section):
            found += override_keys(kind, f"{above}{name}.")
        else:
            found.append((f"{above}{name}", " ".join((field.description or "").split())))
    return found


def read_override(files: Sequence[str | Path]) -> Override:
    """The override of a repository; the empty one where nobody wrote any.

    Args:
        files: None or one file.

    Raises:
        ConfigError: several files, no YAML, or an unknown or ill-typed key; file and key are named.
    """
    named = [Path(file) for file in files]
    if not named:
        return Override()
    if len(named) > 1:
        names = ", ".join(str(file) for file in named)
        raise ConfigError(f"{names}: one override a repository; merge them into environment.yaml")
    return parse_override(named[0].read_text(encoding="utf-8"), str(named[0]))


def parse_override(text: str, where: str) -> Override:
    """An override's text.

    Raises:
        ConfigError: as :func:`read_override`.
    """
    try:
        told: Any = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"{where}: no YAML: {' '.join(str(error).split())}") from None
    try:
        return Override.model_validate({} if told is None else told)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in problem["loc"]) or "the file"
        raise ConfigError(
            f"{where}: {key}: {problem['msg']}; docs/environment.md lists the keys"
        ) from None
