"""The runs that can be scored (``runs.yaml``): one finder configuration each.

A new kind of finder is one more class here, a member of :data:`Run`, and its module in
``probe.finders``.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, TypeAdapter, field_validator, model_validator

from probe.config.base import Section, Texts
from probe.config.names import RunName, SnapshotName
from probe.records import Variant

LanguageKey = Literal["python", "javascript", "typescript"]
"""Languages that PROBE audits; ``.tsx`` files belong to TypeScript."""

Languages = Annotated[tuple[LanguageKey, ...], Field(strict=False)]

AnalyzerTool = Literal["ruff", "pylint", "pyrefly", "oxlint"]
"""Analysers that PROBE runs; each is a module of ``probe.finders``."""


class _BaseRun(Section):
    """What every kind of run has."""

    repositories: Annotated[tuple[SnapshotName, ...], Field(strict=False, exclude=True)] = ()
    """Repositories, or variants of them, that the run is for; empty for all that have one of its
    languages. A repository does not stand for its variants: a report on one snapshot is none on
    another."""


class AnalyzerRun(_BaseRun):
    """A static analyser, run once over the unpacked snapshot without importing or executing it."""

    kind: Literal["analyzer"]
    """Says that this is an analyser."""
    tool: AnalyzerTool
    """Which one; its version is pinned in `envs/requirements.lock`."""
    languages: Annotated[tuple[LanguageKey, ...], Field(strict=False, min_length=1)]
    """Languages that the tool reads; repositories without any of them have no such cell."""
    rules: Annotated[tuple[str, ...], Field(strict=False, min_length=1)]
    """What is reported, in the tool's own names; only rules that claim a bug."""
    ignore: Texts = ()
    """What is left out although `rules` covers it."""
    timeout_s: int = Field(default=600, ge=1)
    """Seconds for one call of the tool; the pass ends after four times as many."""


class SarifRun(_BaseRun):
    """The report of any other tool: a SARIF 2.1.0 file that somebody made of the snapshot."""

    kind: Literal["sarif"]
    """Says that this is an imported file."""
    path: str
    """The file; `{repo}` stands for the repository's name, and a relative path starts at the
    workflow's root."""
    languages: Languages = ()
    """Languages that the tool reads; empty for all."""

    max_mb: float = Field(default=512, gt=0)
    """Size in MB of 10^6 bytes; a larger file is refused."""
    root: str = ""
    """Folder of the checkout on the machine that made the report, for its absolute paths."""

    @field_validator("path")
    @classmethod
    def _only_repo_varies(cls, path: str) -> str:
        rest = path.replace("{repo}", "")
        if not rest or "{" in rest or "}" in rest or "\0" in rest:
            raise ValueError(
                f"found {path!r}, expected a file name in which only {{repo}} is replaced"
            )
        return path


class AskingRun(_BaseRun):
    """What all runs that ask a model have."""

    model: str = Field(min_length=1)
    """Which one: a key of `models.yaml`."""
    repeats: int = Field(default=1, ge=1, le=99, exclude=True)
    """How often the whole run is done: with 9 the run `luna` stands for the runs `luna-1` to
    `luna-9`, which ask the same questions anew and are cells of their own."""
    repeat: int = Field(default=1, ge=1)
    """Number of the repeat: runs that differ in it alone ask the same questions anew. `repeats` counts
    it up; a file gives it only to add a repeat to finished ones."""
    languages: Languages = ()
    """Languages of the repositories that it is run on; empty for all."""

    @model_validator(mode="after")
    def _one_way_to_count(self) -> Self:
        if self.repeats > 1 and self.repeat > 1:
            raise ValueError("repeats counts the repeats itself; leave out repeat")
        return self


class ModelRun(AskingRun):
    """A model without tools: one structured call a pass, with the files in the prompt."""

    kind: Literal["model"]
    """Says that a model is asked directly."""


class SessionRun(AskingRun):
    """What all runs that work in a sandbox have; limits are those of one pass."""

    variant: Variant = "full"
    """`full`: project context, sources, call graph and snippets of callers and callees in the prompt;
    `passes-only`: the paths of the pass alone; `vanilla`: one session for the whole repository."""
    working_s: float = Field(default=10_800, gt=0)
    """Seconds of the model and its commands, at most; waiting for rate limits does not count for
    `agent`, and does for `cli`."""
    usd: float | None = Field(default=None, gt=0)
    """US dollars, at most; null for no limit but the budget's."""
    calls: int = Field(default=200, ge=1)
    """Answers of the model, at most."""
    command_s: float = Field(default=120, gt=0)
    """Seconds of one command, at most."""
    memory_mb: int = Field(default=8_000, ge=256)
    """Memory of the sandbox in MB of 10^6 bytes."""


class AgentRun(SessionRun):
    """The agent of PROBE: the loop that is the same for all models, a sandbox for each pass."""

    kind: Literal["agent"]
    """Says that a model works as an agent."""


CliTool = Literal["codex", "claude-code", "opencode", "gemini-cli", "qwen-code", "pi"]
"""Command-line agents that PROBE runs; each is a module of ``probe.finders``."""


class CliRun(SessionRun):
    """A command-line agent in a sandbox, which reaches its model through the gateway only."""

    kind: Literal["cli"]
    """Says that this is a command-line agent."""
    tool: CliTool
    """Which one; versions are pinned in `envs/agents/package-lock.json`."""


Run = Annotated[AnalyzerRun | AgentRun | CliRun | ModelRun | SarifRun, Field(discriminator="kind")]
"""A run of any kind; ``kind`` says which."""

RUN_KINDS: dict[str, type[Section]] = {
    "analyzer": AnalyzerRun,
    "agent": AgentRun,
    "cli": CliRun,
    "model": ModelRun,
    "sarif": SarifRun,
}
"""The kinds by their key ``kind``, in the order in which the documentation lists them."""

RUN_ADAPTER: TypeAdapter[AnalyzerRun | AgentRun | CliRun | ModelRun | SarifRun] = TypeAdapter(Run)
"""Validates one entry of ``runs.yaml``."""


def expand_repeats(runs: Mapping[str, Run]) -> tuple[dict[str, Run], dict[str, tuple[str, ...]]]:
    """Runs with every repeat as a run of its own, and which names stand for which of them.

    ``luna`` with ``repeats: 3`` becomes ``luna-1``, ``luna-2`` and ``luna-3``; every other run stays
    what it is, and stands for itself.

    Raises:
        ValueError: a repeat has the name of another run, or a name that is too long; the message
            begins with the run's name.
    """
    expanded: dict[str, Run] = {}
    groups: dict[str, tuple[str, ...]] = {}
    for name, run in runs.items():
        if not isinstance(run, AskingRun) or run.repeats == 1:
            groups[name] = (name,)
            expanded[name] = run
            continue
        groups[name] = tuple(f"{name}-{number}" for number in range(1, run.repeats + 1))
        for number, repeat in enumerate(groups[name], 1):
            if repeat in runs:
                raise ValueError(f"{name}: repeats: {repeat!r} is another run's name")
            try:
                TypeAdapter(RunName).validate_python(repeat)
            except ValueError as error:
                raise ValueError(f"{name}: repeats: {repeat!r} is no name for a run") from error
            expanded[repeat] = run.model_copy(update={"repeat": number, "repeats": 1})
    return expanded, groups
