"""A transcript's first and last lines: what a pass is, and how it ended."""

from dataclasses import asdict
from typing import NamedTuple

from pydantic import BaseModel

from probe import __version__
from probe.agent.journal import now
from probe.agent.tools import style_of
from probe.agent.types import AgentLimits, AgentResult, AgentTask, S
from probe.config import ModelEntry
from probe.errors import RecordError
from probe.models.base import Model
from probe.records import SandboxUse
from probe.records.transcript import AgentStatus, AnswerLine, EndLine, HeaderLine
from probe.sandbox.base import SandboxInfo


def header_line(task: AgentTask[S], limits: AgentLimits, sandbox: SandboxInfo) -> HeaderLine:
    """The first line of a pass's transcript; addresses and keys are no part of it."""
    entry = task.model.entry
    return HeaderLine(
        time=now(),
        probe_version=__version__,
        model=task.model.name,
        settings=entry.answer_settings(),
        context_tokens=entry.context_tokens,
        style=style_of(entry),
        limits=asdict(limits),
        sandbox=SandboxUse(
            engine=sandbox.engine,
            version=sandbox.version,
            image=sandbox.image,
            limits=asdict(sandbox.limits),
        ),
        system=task.system,
        user=task.user,
        submit_schema=task.submit.model_json_schema(),
        content_sha256=task.content_sha256,
        sample=task.sample,
        purpose=task.purpose,
    )


def task_of(header: HeaderLine, submit: type[S]) -> tuple[AgentTask[S], AgentLimits]:
    """The task and limits that a header was written from.

    Raises:
        RecordError: the submission had another schema, or the header is of another version.
    """
    if header.submit_schema != submit.model_json_schema():
        raise RecordError(f"the transcript's submission is not a {submit.__name__} of this version")
    try:
        entry = ModelEntry.model_validate(
            {**header.settings, "context_tokens": header.context_tokens}
        )
        limits = AgentLimits(**header.limits)  # type: ignore[arg-type]
    except (ValueError, TypeError) as error:
        raise RecordError(f"the transcript's header is of another version: {error}") from error
    task = AgentTask(
        model=Model(header.model, entry),
        system=header.system,
        user=header.user,
        submit=submit,
        content_sha256=header.content_sha256,
        sample=header.sample,
        purpose=header.purpose,
    )
    return task, limits


class Ending(NamedTuple):
    """Why a pass ends; see :class:`~probe.agent.types.AgentResult` for the fields."""

    status: AgentStatus
    reason: str | None = None
    detail: str | None = None
    answer: BaseModel | None = None


def unanswered(line: AnswerLine) -> Ending:
    """The end of a pass whose model gave no answer."""
    if line.failure is None:
        return Ending("budget", "budget", line.budget)
    kind, detail = line.failure.kind, line.failure.detail
    if kind == "context_length":
        return Ending("limit", "context", f"refused by the server: {detail}")
    return Ending("failed", kind, detail)


def end_line(result: AgentResult[S]) -> EndLine:
    """A transcript's last line."""
    return EndLine(
        time=now(),
        status=result.status,
        reason=result.reason,
        detail=result.detail,
        last_chance=result.last_chance,
        answer=None if result.answer is None else result.answer.model_dump(mode="json"),
        usage=result.usage,
        turns=result.turns,
        commands=result.commands,
        working_s=result.working_s,
    )
