"""The finder ``agent``: the loop that is the same for all models audits a pass in a sandbox.

A session is bought answer by answer, so that nothing but a lost server or a spent budget may stop
the job: what these interrupt goes on from its transcript. Everything else that a session ends with
is a record, and only a submission is one of findings.
"""

import logging
import time
from collections.abc import Mapping
from typing import NamedTuple

from probe.agent import (
    NOBODY,
    AgentLimits,
    AgentResult,
    AgentTask,
    made_by,
    run_in_sandbox,
    unreached,
)
from probe.agent.tools import tool_specs
from probe.errors import BudgetError, FinderError
from probe.finders.audit_prompt import AuditTexts, NoRoomError
from probe.finders.base import NO_CALLS, FinderContext, limit_of, repeat_of, usd_limit
from probe.finders.locate import SnapshotTree
from probe.finders.session import (
    AuditAnswer,
    Session,
    SessionEnd,
    open_box,
    session_of,
    session_result,
    session_texts,
)
from probe.models.client import Caller
from probe.models.estimate import Spread
from probe.models.size import prompt_tokens
from probe.records import PassResult, Variant
from probe.sandbox import SandboxInfo

HAND_IN = (
    "Work with bash, and hand in all your reports at once with submit, which ends the session. A limit "
    "on turns or time may end it sooner: you are told once, and must hand in what you have then."
)
"""What the prompt says of how an agent of ours works."""

SHOWN_TOKENS = 8_000
"""Tokens of a command's output that the model sees: files are read in such pieces."""

_log = logging.getLogger(__name__)


class SessionSpread(NamedTuple):
    """What is assumed of a session before there is one."""

    turns: Spread
    """Answers of the model."""
    added: Spread
    """Tokens that a turn adds beside its answer: what commands print."""
    output: Spread
    """Tokens of one answer, reasoning included."""


SPREADS: Mapping[Variant, SessionSpread] = {
    "full": SessionSpread(Spread(3, 12, 50), Spread(300, 1_500, 6_000), Spread(300, 1_200, 5_000)),
    "passes-only": SessionSpread(
        Spread(6, 20, 70), Spread(1_500, 4_000, 8_000), Spread(300, 1_000, 4_000)
    ),
    "vanilla": SessionSpread(
        Spread(15, 60, 200), Spread(1_000, 3_000, 8_000), Spread(200, 800, 4_000)
    ),
}
"""By variant. A full session has its files in the prompt, and mostly checks suspicions; one of passes-only
reads them first, some 60,000 tokens in pieces; one of vanilla wanders through the repository until it
holds itself to be done. Answers of one turn are short but for the last, which lists all reports."""


def find(context: FinderContext) -> PassResult:
    """Let the model audit the pass.

    Settings: ``variant``, ``repeat``, ``calls`` (turns), ``working_s``, ``usd``, ``command_s``,
    ``memory_mb``.

    Returns:
        status ``ok`` when an answer was handed in, however little it reports; ``limit`` or
        ``timeout`` when the session ran out of something or its instructions do not fit the model's
        window; ``failed`` when the sandbox died twice, the model refused or never answered usefully.

    Raises:
        FinderError: the context holds no session, or its settings are wrong.
        ModelError: the model cannot be reached; nothing is lost, and the pass goes on another time.
        BudgetError: the workflow's money is spent; likewise.
        SandboxError: no sandbox can be had.
        RecordError: the transcript cannot be written, or another process writes it.
    """
    started = time.monotonic()
    session = session_of(context)
    if session.caller is None:
        raise FinderError(f"run {context.run!r}: the finder 'agent' was given no client")
    tree = SnapshotTree(context.snapshot_root, context.files)
    try:
        texts = session_texts(context, tree, HAND_IN)
    except NoRoomError as error:
        by = made_by(session.model, session.prompt, None)
        end = SessionEnd("limit", f"context: {error}", NO_CALLS, by, started)
        return session_result(context, tree, end)
    result, info = _run(context, session, session.caller, texts)
    if result.status == "budget":
        raise BudgetError(f"{result.detail}")
    if result.reason in NOBODY:
        raise unreached(session.model, f"{result.reason}: {result.detail}")
    return session_result(context, tree, _end(context, session, texts, result, info, started))


def first_prompt_tokens(texts: AuditTexts) -> int:
    """Tokens of a session's first request, tools included; what an estimate starts from."""
    messages = [{"content": texts.system}, {"content": texts.user}]
    return prompt_tokens(messages, tools=tool_specs(AuditAnswer, final=False))


def session_spread(settings: Mapping[str, object], variant: Variant) -> SessionSpread:
    """What is assumed of a session, its turns within the run's own limit."""
    spread = SPREADS[variant]
    calls = settings.get("calls")
    if isinstance(calls, int):
        spread = spread._replace(turns=Spread(*(min(turns, calls) for turns in spread.turns)))
    return spread


def _run(
    context: FinderContext, session: Session, caller: Caller, texts: AuditTexts
) -> tuple[AgentResult[AuditAnswer], SandboxInfo]:
    """The session; where its sandbox dies it goes on once in a new one."""
    part = context.the_pass.id
    task = AgentTask(
        model=session.model,
        system=texts.system,
        user=texts.user,
        submit=AuditAnswer,
        content_sha256=session.content_sha256,
        sample=repeat_of(context),
        purpose=f"audit {context.repo}/{context.run}/{part}",
    )
    transcript = session.transcripts / f"{part}.jsonl"
    return run_in_sandbox(
        caller, lambda: open_box(context), task, agent_limits(context), transcript
    )


def agent_limits(context: FinderContext) -> AgentLimits:
    """What a session may use, from the run's settings.

    Raises:
        FinderError: a limit is missing or no number.
    """
    return AgentLimits(
        turns=int(limit_of(context, "calls")),
        working_s=limit_of(context, "working_s"),
        usd=usd_limit(context),
        command_s=limit_of(context, "command_s"),
        shown_tokens=SHOWN_TOKENS,
    )


def _end(
    context: FinderContext,
    session: Session,
    texts: AuditTexts,
    result: AgentResult[AuditAnswer],
    info: SandboxInfo,
    started: float,
) -> SessionEnd:
    oddities = texts.counts(context.the_pass)
    if result.last_chance is not None:
        oddities[f"last_chance_{result.last_chance}"] = 1
    _log.info(
        "%s: %s after %d turns and %d commands; left out of the prompt: %s",
        context.the_pass.id,
        result.error or "handed in",
        result.turns,
        result.commands,
        ", ".join(texts.left_out) or "nothing",
    )
    return SessionEnd(
        status=result.pass_status,
        error=result.error,
        usage=result.usage if result.turns else NO_CALLS,
        provenance=made_by(session.model, session.prompt, result),
        started=started,
        items=result.answer.findings if result.answer else (),
        sandbox=info,
        transcript=session.transcripts / f"{context.the_pass.id}.jsonl",
        turns=result.turns,
        oddities=oddities,
    )
