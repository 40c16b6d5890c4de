"""What all command-line agents have in common as finders (``cli/codex``, ``cli/claude-code`` …).

The agent works inside the snapshot's sandbox and reaches its model through the gateway alone, which
holds the key, the caps and the money. It gets the prompt of PROBE's own agent in one message, and
hands in the same answer. What it printed is kept as it came; what it cost is what the gateway saw.
"""

import json
import logging
import time
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from probe import __version__
from probe.config import Settings
from probe.errors import BudgetError, FinderError, ModelError
from probe.finders.audit_prompt import AuditTexts, NoRoomError
from probe.finders.base import NO_CALLS, FinderContext, limit_of, usd_limit
from probe.finders.cli_base import INSIDE, SCHEMA_FILE, Asked, CliTool, urls
from probe.finders.cli_check import check_cli_model, check_replay
from probe.finders.cli_install import machine, tool_version
from probe.finders.cli_packages import tool_folder
from probe.finders.cli_session import Talk, shown_command, talk, write_transcript
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
from probe.gateway import Caps, Gateway, GatewayReport
from probe.isolation.agents import check_agents
from probe.models.base import NOT_SERVED
from probe.models.ledger import Ledger
from probe.models.secrets import one_line
from probe.models.strict_schema import strict_schema
from probe.records import GatewayUse, PassResult, PassStatus, Provenance
from probe.sandbox import Mount, SandboxInfo

HAND_IN = (
    "Work by yourself to the end: nobody answers questions. Your last message hands in all your reports at "
    "once: one JSON object, with nothing before or after it, that fits this JSON schema: {schema} Where you "
    "have a tool that hands in a structured answer, use it instead. What you say before the last message is "
    "not read."
)
"""What the prompt says of how a command-line agent works."""

_NOBODY = ("connection", "status 401", "status 403")
"""Failed calls that say nothing of the pass, where no other was answered: the job fails."""

_STDERR_CHARS = 300
"""Characters of a crashed agent's last words in its pass's record."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Job:
    """A pass, and who audits it with what."""

    context: FinderContext
    session: Session
    ledger: Ledger
    agents: Path
    tool: CliTool
    version: str
    schema: str

    @property
    def part(self) -> str:
        return self.context.the_pass.id

    def caps(self) -> Caps:
        """What the gateway lets through."""
        calls, seconds = limit_of(self.context, "calls"), limit_of(self.context, "working_s")
        return Caps(calls=int(calls), usd=usd_limit(self.context), seconds=seconds)

    def made_by(self, served: tuple[str, ...] = ()) -> Provenance:
        """The model as served, and the tool that asked it."""
        names = ", ".join(served) or NOT_SERVED
        return Provenance(
            engine=self.session.model.name,
            engine_version=f"{names} ({self.tool.name} {self.version})",
            probe_version=__version__,
            prompt_sha256=self.session.prompt.sha256,
        )


class _Done(NamedTuple):
    """A session after its end."""

    talk: Talk
    report: GatewayReport
    info: SandboxInfo
    command: list[str]


def audit(context: FinderContext, tool: CliTool) -> PassResult:
    """Let a command-line agent audit the pass.

    Settings: ``variant``, ``calls``, ``working_s`` (wall time), ``usd``, ``memory_mb``. A pass that was
    interrupted begins anew: the answers that it bought were the agent's own conversation.

    Returns:
        status ``ok`` when an answer was handed in, however little it reports; ``limit`` or ``timeout``
        when the session ran out of something or its instructions do not fit the model's window;
        ``failed`` when the agent or its sandbox died, or it handed in nothing that can be read.

    Raises:
        FinderError: the agents are not installed, or the settings are wrong.
        ConfigError: the tool cannot speak with the model.
        ModelError: the model cannot be reached; what the session cost is in the ledger.
        BudgetError: the workflow's money is spent.
        SandboxError: no sandbox can be had.
        RecordError: the transcript cannot be written.
    """
    started = time.monotonic()
    job = _job(context, tool)
    tree = SnapshotTree(context.snapshot_root, context.files)
    try:
        texts = session_texts(context, tree, HAND_IN.format(schema=job.schema))
    except NoRoomError as error:
        end = SessionEnd("limit", f"context: {error}", NO_CALLS, job.made_by(), started)
        return session_result(context, tree, end)
    done = _run(job, f"{texts.system.strip()}\n\n{texts.user.strip()}\n")
    status, why = _verdict(job, done)
    _log.info("%s: %s", job.part, why or "handed in")
    return session_result(context, tree, _end(job, texts, done, status, why, started))


def open_ledger(settings: Settings) -> Ledger:
    """Where the calls of a build's command-line agents are booked.

    Raises:
        ModelError: replay mode is on: an agent's calls are never answered from the cache.
    """
    check_replay(settings)
    return Ledger(Path(settings.calls.folder), settings.budget.usd)


def _job(context: FinderContext, tool: CliTool) -> _Job:
    session = session_of(context)
    if session.ledger is None or session.agents is None:
        raise FinderError(f"run {context.run!r}: its finder was given no ledger, or no agents")
    check_cli_model(tool.name, session.model.name, session.model.entry)
    version = tool_version(tool, session.agents)
    agents = tool_folder(tool, session.agents)
    check_agents(agents, session.archive)
    schema = json.dumps(strict_schema(AuditAnswer), ensure_ascii=False)
    return _Job(context, session, session.ledger, agents, tool, version, schema)


def _run(job: _Job, prompt: str) -> _Done:
    """The session, and its transcript."""
    session, context = job.session, job.context
    launch = job.tool.launch(Asked(session.model.entry, job.schema, machine()))
    gateway = Gateway(
        session.model,
        job.ledger,
        job.caps(),
        purpose=f"audit {context.repo}/{context.run}/{job.part}",
        log=session.transcripts / f"{job.part}.gateway.jsonl",
    )
    with gateway:
        box = open_box(
            context,
            mounts=[gateway.mount, Mount(job.agents, INSIDE)],
            variables={"TERM": "dumb", **urls(job.tool.protocol), **launch.environment},
        )
        with closing(box):
            launch = replace(launch, files={**launch.files, SCHEMA_FILE: job.schema})
            said = talk(box, job.tool, launch, prompt, limit_of(context, "working_s"))
    command = shown_command(launch, job.schema)
    header: dict[str, object] = {
        "tool": job.tool.name,
        "version": job.version,
        "model": session.model.name,
        "content_sha256": session.content_sha256,
        "command": command,
    }
    write_transcript(_transcript(job), header, prompt, said)
    return _Done(said, gateway.report(), box.info, command)


def _verdict(job: _Job, done: _Done) -> tuple[PassStatus, str | None]:
    """How the session ended, and why in a line where no answer was handed in.

    Raises:
        BudgetError: the workflow's money is spent.
        ModelError: nobody answered.
    """
    said, report = done.talk, done.report
    if said.answered is not None:
        return "ok", None
    name, limit = job.session.model.name, report.limit
    if limit == "budget":
        raise BudgetError(
            f"budget.usd leaves no room for the next call to model {name!r}; raise it, and pass "
            f"{job.part} is run again"
        )
    strangers = [kind for kind in report.errors if kind.startswith(_NOBODY)]
    if limit == "failures" or (strangers and not report.answered):
        raise ModelError(
            f"model {name!r} does not answer: {', '.join(report.errors)}; check api_base, key and "
            "network, then run the same command again"
        )
    if (said.turns and said.turns[-1].exit is None) or limit == "seconds":
        return (
            "timeout",
            f"time: no answer within working_s: {limit_of(job.context, 'working_s'):g}",
        )
    if limit is not None:
        return "limit", f"{limit}: no answer within {limit}: {limit_of(job.context, limit):g}"
    return "failed", one_line(_failure(job.tool, said))


def _failure(tool: CliTool, said: Talk) -> str:
    """Why a session without a limit has no answer."""
    if said.death is not None:
        return f"dead_sandbox: {said.death}"
    turn = said.turns[-1]
    stderr = " ".join(turn.stderr.split())[-_STDERR_CHARS:]
    tail = f"; its last words: {stderr}" if stderr else ""
    if turn.exit:
        why = f": {turn.spoken.error}" if turn.spoken.error else ""
        return f"crashed: {tool.name} ended with status {turn.exit}{why}{tail}"
    if turn.spoken.error:
        return f"crashed: {tool.name} says: {turn.spoken.error}{tail}"
    return f"invalid_answer: {turn.problem}"


def _end(
    job: _Job,
    texts: AuditTexts,
    done: _Done,
    status: PassStatus,
    why: str | None,
    started: float,
) -> SessionEnd:
    report, turn = done.report, done.talk.answered
    answer = turn.answer if turn else None
    return SessionEnd(
        status=status,
        error=why,
        usage=report.usage if report.calls else NO_CALLS,
        provenance=job.made_by(report.served_models),
        started=started,
        items=answer.items if answer else (),
        rejected=answer.rejected if answer else (),
        sandbox=done.info,
        transcript=_transcript(job),
        turns=report.answered,
        gateway=GatewayUse(
            refused=report.refused,
            stripped=report.stripped,
            errors=report.errors,
            uncertain=report.uncertain,
            asked_models=report.asked_models,
            served_models=report.served_models,
            efforts=report.efforts,
        ),
        command=done.command,
        oddities={
            **texts.counts(job.context.the_pass),
            "asked_again": max(len(done.talk.turns) - 1, 0),
        },
    )


def _transcript(job: _Job) -> Path:
    return job.session.transcripts / f"{job.part}.jsonl"
