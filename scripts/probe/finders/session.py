"""What agents of every kind share: what they are given, what they hand in, what becomes of it.

An agent of ours and a command-line agent differ in who runs the conversation, and in nothing else:
the same prompt, the same form of an answer, the same check of every finding against the snapshot.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

from pydantic import ValidationError

from probe.code.languages import language_of
from probe.code.units import enclosing_unit, find_units
from probe.config import Benchmark
from probe.environment.use import open_environment
from probe.errors import FinderError
from probe.finders.audit_prompt import AuditTexts, audit_texts
from probe.finders.locate import SnapshotTree
from probe.finders.normalise import Cleaner, Normalised, quoted_paths
from probe.finders.reported import place_items, raw_item
from probe.models.client import get_model
from probe.models.prompts import Prompt, load_prompt
from probe.records import (
    Environment,
    Finding,
    GatewayUse,
    PassResult,
    PassStatus,
    Provenance,
    Record,
    Rejected,
    SandboxUse,
    Severity,
    Usage,
    Variant,
    read_json,
)
from probe.records.base import Confidence
from probe.sandbox import WORK, Limits, Mount, Sandbox, SandboxInfo

if TYPE_CHECKING:
    from probe.finders.base import FinderContext
    from probe.models.base import Model
    from probe.models.client import Caller
    from probe.models.ledger import Ledger

_PROCESSES = 512
"""Processes and threads of a session's sandbox: test runners start many."""


class AuditItem(Record):
    """One defect."""

    path: str
    """The file, relative to the repository's root, spelled as it is there."""
    first_line: int
    """First line of the fault in that file, counted from 1."""
    last_line: int
    """Last line of the fault, inclusive."""
    snippet: str
    """The faulty lines, copied word for word from the file, without line numbers; for a long range
    the lines that carry the fault."""
    description: str
    """What the code does there and what it should do, and a concrete case in which it shows."""
    title: str
    """One line that names the wrong behaviour."""
    severity: Severity
    """critical, high, medium or low."""
    confidence: Confidence
    """From 0 to 1: how likely a maintainer would agree that it is a bug."""
    suggested_fix: str
    """How to repair it; empty if unknown."""


class AuditAnswer(Record):
    """All defects that the audit found, the worst first; an empty list where it found none."""

    findings: tuple[AuditItem, ...]
    """One entry for each defect."""


@dataclass(frozen=True)
class Session:
    """All that a session needs beyond the files of its pass."""

    archive: Path
    """The snapshot's files (``source.tar``), which the sandbox gets."""
    environment: Environment
    """Where the project's code can run."""
    folder: Path
    """``results/{repo}``: where the environment's artifacts are."""
    project: str
    """The document on the project; empty for variants that do not get it."""
    content_sha256: str
    """The brief's hash: over all that the session sees."""
    engine: str
    """The sandbox engine, as in ``sandbox.engine``."""
    model: "Model"
    """Who works."""
    prompt: Prompt
    """The variant's template."""
    transcripts: Path
    """``results/{repo}/{run}/transcripts``; what is there is gone on with."""
    caller: "Caller | None" = None
    """The client, for agents of ours."""
    ledger: "Ledger | None" = None
    """Where a gateway books the calls of a command-line agent."""
    agents: Path | None = None
    """Folder of the installed command-line agents."""


def session_of_files(
    benchmark: Benchmark,
    model: str,
    *,
    archive: Path,
    environment: Path,
    context: str | None,
    prompt: Path,
    result: Path,
    content_sha256: str,
) -> Session:
    """A session from the files that a rule names; who carries the conversation is added by the caller.

    Args:
        benchmark: the validated configuration.
        model: key of the model.
        archive: the snapshot's ``source.tar``.
        environment: ``results/{repo}/snapshot/environment.json``.
        context: the document on the project; None for variants that do not get it.
        prompt: the variant's template.
        result: the pass file. Transcripts stand beside the declared outputs, which Snakemake removes
            before a job runs.
        content_sha256: the brief's hash.

    Raises:
        RecordError: a file cannot be read.
        ConfigError: the prompt cannot be read.
        ModelError: there is no such model.
    """
    return Session(
        archive=archive,
        environment=read_json(environment, Environment),
        folder=environment.parent.parent,
        project=Path(context).read_text(encoding="utf-8") if context else "",
        content_sha256=content_sha256,
        engine=benchmark.settings.sandbox.engine,
        model=get_model(benchmark.models, model),
        prompt=load_prompt(prompt),
        transcripts=result.parent.parent / "transcripts",
    )


@dataclass(frozen=True)
class SessionEnd:
    """How a session ended."""

    status: PassStatus
    """``ok`` only where an answer was handed in and read."""
    error: str | None
    """One line; None exactly for ``ok``."""
    usage: Usage
    """What it cost, whatever came of it."""
    provenance: Provenance
    """What made it."""
    started: float
    """``time.monotonic()`` at its start."""
    items: Sequence[AuditItem] = ()
    """What was handed in."""
    rejected: Sequence[Rejected] = ()
    """Parts of the answer that are no item (:func:`read_items`)."""
    sandbox: SandboxInfo | None = None
    """Where it worked; None where it could not even be opened."""
    transcript: Path | None = None
    """Its record, inside :attr:`Session.transcripts`."""
    turns: int | None = None
    """Answers of the model."""
    gateway: GatewayUse | None = None
    """For command-line agents."""
    command: Sequence[str] = ()
    """For command-line agents: the command line, without paths of this machine."""
    oddities: Mapping[str, int] = field(default_factory=dict)
    """Further things to count, by kind."""


def session_of(context: "FinderContext") -> Session:
    """The session of a job.

    Raises:
        FinderError: the job was given none.
    """
    if context.session is None:
        raise FinderError(f"run {context.run!r}: its finder works in a session, and was given none")
    return context.session


def variant_of(context: "FinderContext") -> Variant:
    """What the run's sessions are given.

    Raises:
        FinderError: the settings name another variant.
    """
    variant = context.settings.get("variant", "full")
    if variant not in get_args(Variant):
        raise FinderError(
            f"run {context.run!r}: 'variant' is {variant!r}; known: {', '.join(get_args(Variant))}"
        )
    return cast(Variant, variant)


def session_texts(context: "FinderContext", tree: SnapshotTree, hand_in: str) -> AuditTexts:
    """System and user message of a session, within the room that its model has for the first prompt.

    Args:
        context: the job, with its session.
        tree: the unpacked snapshot.
        hand_in: how this kind of agent works and hands in its answer, in sentences.

    Raises:
        NoRoomError: not even the instructions fit; the pass is then a recorded ``limit``.
        ConfigError: the prompt names a variable that there is not.
    """
    session = session_of(context)
    return audit_texts(
        session.prompt,
        variant_of(context),
        context.repo,
        context.the_pass,
        tree,
        project=session.project,
        environment=session.environment,
        hand_in=hand_in,
        room=session.model.entry.prompt_room,
        model=session.model.name,
    )


def open_box(
    context: "FinderContext",
    mounts: Sequence[Mount] = (),
    variables: Mapping[str, str] | None = None,
) -> Sandbox:
    """The session's sandbox: the snapshot in its environment, within the run's ``memory_mb``.

    Args:
        context: the job, with its session.
        mounts: what else it sees.
        variables: of its commands, over those of the environment.

    Raises:
        SandboxError: none can be had.
    """
    session = session_of(context)
    return open_environment(
        session.environment,
        session.folder,
        archive=session.archive,
        engine=session.engine,
        limits=_box_limits(context.settings),
        mounts=mounts,
        variables=variables,
    )


def _box_limits(settings: Mapping[str, object]) -> Limits:
    memory = settings.get("memory_mb")
    if isinstance(memory, bool) or not isinstance(memory, int):
        return Limits(processes=_PROCESSES)
    return Limits(memory_mb=memory, processes=_PROCESSES)


def read_items(value: object) -> tuple[list[AuditItem], list[Rejected]]:
    """The items of an answer that no one held to the schema, each judged by itself.

    An item that does not fit is rejected as ``malformed`` and counted; nothing is completed.

    Args:
        value: the answer as JSON values.

    Raises:
        FinderError: it is no object with a list ``findings``.
    """
    listed = value.get("findings") if isinstance(value, Mapping) else None
    if not isinstance(listed, list):
        raise FinderError("the answer is no object with a list 'findings'")
    items: list[AuditItem] = []
    rejected: list[Rejected] = []
    for one in listed:
        try:
            items.append(AuditItem.model_validate(one))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "item"
            raw = one if isinstance(one, Mapping) else {"item": one}
            detail = f"{where}: {first['msg']}"
            rejected.append(Rejected(reason="malformed", detail=detail, raw=Cleaner({}).item(raw)))
    return items, rejected


def session_result(context: "FinderContext", tree: SnapshotTree, end: SessionEnd) -> PassResult:
    """The pass's record: every item placed in the snapshot, or rejected and counted.

    Items of a session that did not end by itself count as well; its status says how it ended.

    Args:
        context: the job, with its session.
        tree: the unpacked snapshot.
        end: how the session ended.
    """
    session = session_of(context)
    placed = _placed(context, tree, end)
    return PassResult(
        repo=context.repo,
        run=context.run,
        pass_id=context.the_pass.id,
        status=end.status,
        error=end.error,
        findings=placed.findings,
        rejected=placed.rejected,
        oddities=placed.oddities,
        usage=end.usage,
        wall_s=time.monotonic() - end.started,
        sandbox=sandbox_use(end.sandbox) if end.sandbox else None,
        environment=session.environment.status if end.sandbox else None,
        transcript=f"../{session.transcripts.name}/{end.transcript.name}"
        if end.transcript
        else None,
        turns=end.turns,
        gateway=end.gateway,
        command=tuple(end.command),
        provenance=end.provenance,
    )


def sandbox_use(info: SandboxInfo) -> SandboxUse:
    """A sandbox as a record names it."""
    return SandboxUse(
        engine=info.engine, version=info.version, image=info.image, limits=asdict(info.limits)
    )


def _placed(context: "FinderContext", tree: SnapshotTree, end: SessionEnd) -> Normalised:
    items = [raw_item(one, quoted_paths(one.path, WORK), one.snippet) for one in end.items]
    counts = {**end.oddities, "malformed": len(end.rejected)}
    placed = place_items(context, tree, items, counts)
    return replace(
        placed,
        findings=tuple(_in_unit(found, tree) for found in placed.findings),
        rejected=(*end.rejected, *placed.rejected),
    )


def _in_unit(finding: Finding, tree: SnapshotTree) -> Finding:
    """The finding with the name of the unit in which it begins."""
    language = language_of(finding.path)
    if language is None:
        return finding
    text = tree.text(finding.path).encode("utf-8", errors="replace")
    unit = enclosing_unit(find_units(language, text, [finding.first]), finding.first)
    return finding.model_copy(update={"unit": unit.name if unit else None})
