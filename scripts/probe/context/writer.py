"""The document by a model: an agent explores the snapshot's sources and hands in the whole of it.

It works in a plain sandbox, without environment and history. A pass without an answer fails the job:
a document by other rules than asked for would change what every session is given.
"""

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from probe.agent import NOBODY, AgentLimits, AgentResult, AgentTask, run_in_sandbox
from probe.agent.actions import Submit, object_actions, tool_actions
from probe.context.entry import Document
from probe.context.render import FINDERS, PANEL, render
from probe.context.room import check_context_room
from probe.context.sources import Sources
from probe.context.submission import (
    ContextSubmission,
    checked,
    document_of,
    problems,
    struck,
)
from probe.errors import BudgetError, ModelError
from probe.models.base import Model
from probe.models.client import Caller
from probe.models.prompts import Prompt
from probe.records import ContextDrop, file_sha256
from probe.records.transcript import AnswerLine, HeaderLine, read_transcript
from probe.sandbox import WORK, Limits, SandboxSpec, open_sandbox

ORIGIN = (
    "Written by an agent that explored the sources of this snapshot. The files and names in it were "
    "checked against them, and quotes stand in the files named; the rest is its reading."
)
"""The document's head."""

BOX = Limits()
"""What the sandbox may use."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Writing:
    """What the agent is to do, and with what."""

    sources: Sources
    """The snapshot."""
    listing: str
    """Its audited files in short."""
    prompt: Prompt
    """``prompts/context.j2``."""
    model: Model
    """Whom to ask."""
    engine: str
    """The sandbox engine, as in ``sandbox.engine``."""
    limits: AgentLimits
    """Of the pass."""
    tokens: int
    """Tokens of a finished document, at most."""
    transcript: Path
    """Gone on with where it is there."""
    purpose: str
    """For the ledger: ``context REPOSITORY``."""
    box: Limits = BOX
    """Of the sandbox."""


class Written(NamedTuple):
    """What came of it."""

    document: Document
    dropped: tuple[ContextDrop, ...]
    result: AgentResult[ContextSubmission]


def write_context(about: Writing, caller: Caller) -> Written:
    """Let the agent write the document.

    What of its last submission does not hold after all corrections is struck out and recorded.

    Raises:
        BudgetError: a call could pass the cap; what was bought stays, and the pass goes on.
        ModelError: the model cannot be asked, its window is too small, or it handed in nothing that
            could stand; the message says what to do.
        SandboxError: no sandbox works here.
    """
    check_context_room(about.model, about.prompt, about.tokens)
    result = _run(about, caller)
    if result.status == "budget":
        raise BudgetError(f"{result.detail}")
    if result.answer is not None:
        return Written(document_of(result.answer), (), result)
    said = _last_submission(about.transcript) if _is_over(result) else None
    if said is None:
        raise ModelError(_unanswered(about, result))
    left, drops = struck(said, problems(said, about.sources))
    if not (left.purpose and left.modules and left.public_api):
        raise ModelError(_unanswered(about, result, "nothing that could stand was left of it"))
    for drop in drops:
        _log.warning("struck out of %s: %s (%s)", drop.section, drop.text, drop.reason)
    return Written(document_of(left), tuple(drops), result)


def submission_type(sources: Sources, tokens: int) -> type[ContextSubmission]:
    """What the agent of a snapshot hands in; to replay its transcript as well.

    Args:
        sources: the snapshot.
        tokens: of a finished document, at most.
    """

    def too_long(said: ContextSubmission) -> str:
        document = document_of(said)
        longest = max(
            render(document, ORIGIN, 100 * tokens, form).tokens for form in (FINDERS, PANEL)
        )
        if longest <= tokens:
            return ""
        return f"the document has {longest} tokens, {longest - tokens} more than it may; shorten it"

    return checked(sources, too_long)


def _run(about: Writing, caller: Caller) -> AgentResult[ContextSubmission]:
    """The pass; where its sandbox dies it goes on once in a new one."""
    messages = about.prompt.messages(work=WORK, tokens=about.tokens, listing=about.listing)
    task = AgentTask(
        model=about.model,
        system=str(messages[0]["content"]),
        user=str(messages[1]["content"]),
        submit=submission_type(about.sources, about.tokens),
        content_sha256=file_sha256(about.sources.archive),
        purpose=about.purpose,
    )
    spec = SandboxSpec(files=about.sources.archive, limits=about.box)
    return run_in_sandbox(
        caller, lambda: open_sandbox(spec, about.engine), task, about.limits, about.transcript
    )[0]


def _is_over(result: AgentResult[ContextSubmission]) -> bool:
    """Whether a submission that was not accepted is all there will be."""
    return result.status == "limit" or result.reason == "invalid_submission"


def _last_submission(transcript: Path) -> ContextSubmission | None:
    """The last submission of the right form, whether or not it holds; None where there is none."""
    lines = read_transcript(transcript)
    native = any(isinstance(line, HeaderLine) and line.style == "tools" for line in lines)
    read = tool_actions if native else object_actions
    found = None
    for line in lines:
        for action in read(line.answer) if isinstance(line, AnswerLine) and line.answer else ():
            if isinstance(action, Submit):
                try:
                    found = ContextSubmission.model_validate_json(action.document)
                except ValueError:
                    _log.info("a submission without the right form is passed over")
    return found


def _unanswered(about: Writing, result: AgentResult[ContextSubmission], more: str = "") -> str:
    why = f"{result.reason}: {result.detail}" + (f"; {more}" if more else "")
    start = f"model {about.model.name!r}: the agent of stage context handed in no document ({why})"
    if result.reason in NOBODY:
        return f"{start}; check api_base, key and network, then run the same command again"
    if result.status == "limit":
        return (
            f"{start}; raise context.turns, context.working_s or context.usd, or name another model"
        )
    return (
        f"{start}; name another model for context.engine, or delete {about.transcript} "
        "and run the same command again"
    )
