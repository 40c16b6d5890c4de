"""Mending an environment by an agent: it looks at what failed and proposes an override.

It changes nothing by itself. The proposal lies beside the place of the override, under a name that is
not read; a person looks at it, tries it and renames it.
"""

import logging
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, field_validator

from probe.agent import AgentLimits, AgentResult, AgentTask, run_agent
from probe.environment.override import override_keys, parse_override
from probe.environment.recipe import Recipe
from probe.environment.use import open_environment
from probe.errors import BudgetError, ConfigError, ModelError, RecordError
from probe.models.base import Model
from probe.models.client import Caller
from probe.models.prompts import Prompt
from probe.records import Environment, read_json, write_text
from probe.sandbox import Limits

log = logging.getLogger(__name__)

PROPOSAL = "environment.proposed.yaml"
"""Name of a proposal; `environment.yaml` is what counts."""
_LOG_CHARS = 12_000
"""End of a log that the agent is shown; the project is before it to look for more."""


class OverrideProposal(BaseModel):
    """A new override file for the environment of this project."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    override: str
    """The whole file as YAML, with the known keys only; a comment at each entry says why."""
    explanation: str
    """What stands in the way now, and why this file removes it, in a few plain sentences."""

    @field_validator("override")
    @classmethod
    def _is_an_override(cls, text: str) -> str:
        try:
            parse_override(text, "the override")
        except ConfigError as error:
            raise ValueError(str(error)) from None
        return text


@dataclass(frozen=True)
class Repair:
    """What is to be mended, and with what."""

    folder: Path
    """``results/{repo}``, with a built or failed environment."""
    overrides: Path
    """``envs/{repo}``."""
    prompt: Prompt
    """``prompts/environment.j2``."""
    model: Model
    """Whom to ask."""
    engine: str
    """As in ``sandbox.engine``."""
    limits: AgentLimits
    """Of the agent."""


def propose_override(about: Repair, caller: Caller) -> Path:
    """Let the agent look, and write its proposal.

    Returns:
        The file, ``envs/{repo}/environment.proposed.yaml``.

    Raises:
        BudgetError: a call could pass the cap; what was bought stays.
        ModelError: it handed in no proposal.
        RecordError: there is no environment to look at.
        SandboxError: no sandbox works here.
    """
    environment = read_json(about.folder / "snapshot" / "environment.json", Environment)
    recipe = read_json(about.folder / "environment" / "recipe.json", Recipe)
    archive = about.folder / "snapshot" / "source.tar"
    if not archive.is_file():
        raise RecordError(f"{archive}: missing; run `snakemake {archive}` first")
    messages = about.prompt.messages(**_facts(about, environment, recipe))
    task = AgentTask(
        model=about.model,
        system=str(messages[0]["content"]),
        user=str(messages[1]["content"]),
        submit=OverrideProposal,
        content_sha256=environment.sha256,
        purpose=f"environment {environment.repo}",
    )
    limits = Limits(disk_mb=4_000, processes=512)
    transcript = about.folder / "environment" / f"repair-{environment.sha256[:12]}.jsonl"
    with closing(
        open_environment(
            environment, about.folder, archive=archive, engine=about.engine, limits=limits
        )
    ) as box:
        result = run_agent(caller, box, task, about.limits, transcript)
    target = about.overrides / PROPOSAL
    write_text(target, _file(_answer(result, about), about))
    return target


def _facts(about: Repair, environment: Environment, recipe: Recipe) -> dict[str, object]:
    current = about.overrides / "environment.yaml"
    return {
        "cutoff": recipe.cutoff.isoformat(),
        "status": environment.status,
        "reason": environment.reason or "",
        "total": environment.tests.line if environment.tests else "",
        "problem": (environment.tests.problem or "") if environment.tests else "",
        "runtimes": environment.runtimes,
        "locks": environment.locks,
        "notes": [note for one in recipe.ecosystems for note in one.notes],
        "commands": [one.tests.full for one in recipe.ecosystems if one.tests],
        "override": current.read_text(encoding="utf-8") if current.is_file() else "",
        "keys": override_keys(),
        "install_log": _end(about.folder / "environment" / "install.log"),
        "tests_log": _end(about.folder / "environment" / "tests.log"),
    }


def _end(path: Path) -> str:
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    return text if len(text) <= _LOG_CHARS else f"[…]\n{text[-_LOG_CHARS:]}"


def _answer(result: AgentResult[OverrideProposal], about: Repair) -> OverrideProposal:
    if result.status == "budget":
        raise BudgetError(f"{result.detail}")
    if result.answer is None:
        raise ModelError(
            f"model {about.model.name!r}: the agent proposed no override ({result.reason}: "
            f"{result.detail}); raise its limits, or name another model"
        )
    return result.answer


def _file(proposal: OverrideProposal, about: Repair) -> str:
    said = [f"# {line}".rstrip() for line in proposal.explanation.strip().splitlines()]
    head = [
        f"# Proposed by {about.model.name} (prompt {about.prompt.sha256[:12]}). Not read under this name:",
        "# look at it, rename it to environment.yaml, and run snakemake again.",
        *said,
    ]
    return "\n".join(head) + f"\n{proposal.override.strip()}\n"
