"""What every stage and finder with an agent does around the loop: sandboxes, provenance, lost servers."""

import logging
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from probe import __version__
from probe.agent.loop import run_agent
from probe.agent.types import AgentLimits, AgentResult, AgentTask
from probe.errors import ModelError
from probe.models.base import NOT_SERVED, Model
from probe.models.client import Caller
from probe.models.prompts import Prompt
from probe.records import Provenance
from probe.sandbox import Sandbox, SandboxInfo

S = TypeVar("S", bound=BaseModel)

ATTEMPTS = 2
"""Sandboxes that a pass may use up."""

NOBODY = frozenset({"auth", "connection"})
"""Reasons of a failed pass that say nothing of it: nobody answered at all."""

_log = logging.getLogger(__name__)


def run_in_sandbox(
    caller: Caller,
    open_box: Callable[[], Sandbox],
    task: AgentTask[S],
    limits: AgentLimits,
    transcript: Path,
) -> tuple[AgentResult[S], SandboxInfo]:
    """A pass in a sandbox of its own; where that one dies the pass goes on once in a new one.

    Args:
        caller: the client.
        open_box: opens a sandbox; it is closed here.
        task: the pass.
        limits: of the pass.
        transcript: gone on with where it is there.

    Returns:
        How the pass ended, and the last sandbox that it worked in.

    Raises:
        SandboxError: none can be had.
        RecordError: the transcript cannot be written, or another process writes it.
    """
    for attempt in range(1, ATTEMPTS + 1):
        with closing(open_box()) as box:
            info = box.info
            result = run_agent(caller, box, task, limits, transcript)
        if result.reason != "dead_sandbox":
            break
        _log.warning("%s: attempt %d: %s", transcript.stem, attempt, result.detail)
    return result, info


def made_by(model: Model, prompt: Prompt, result: AgentResult[S] | None) -> Provenance:
    """The provenance of what an agent handed in, or did not; None for a pass that never began."""
    return Provenance(
        engine=model.name,
        engine_version=(result.served_model if result else None) or NOT_SERVED,
        probe_version=__version__,
        prompt_sha256=prompt.sha256,
        calls=result.calls if result else (),
    )


def unreached(model: Model, why: str) -> ModelError:
    """The error of a job whose model nobody serves."""
    return ModelError(
        f"model {model.name!r} does not answer: {why}; check api_base, key and network, then run the "
        "same command again: what was bought is kept"
    )
