"""The finder ``model``: one structured call a pass, with the pass's files in the prompt.

The simplest finder that a model can be: no tools, no second look, nothing but what the prompt holds.
It shows what reading alone finds, and costs one call a pass.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from probe.errors import FinderError
from probe.finders.base import Asking, FinderContext
from probe.finders.locate import SnapshotTree
from probe.finders.normalise import Cleaner, Normalised, RawItem, normalise
from probe.models.base import Message, Question, Reply, provenance_of
from probe.models.prompts import Prompt
from probe.models.size import prompt_tokens
from probe.records import (
    FailureKind,
    Pass,
    PassResult,
    PassStatus,
    Record,
    Severity,
    Usage,
)
from probe.records.base import Confidence

_STATUS: dict[FailureKind, PassStatus] = {"timeout": "timeout", "context_length": "limit"}
"""Every other failure is ``failed``."""


class FoundItem(Record):
    """One defect as the model words it; places may be wrong, and are checked later."""

    path: str
    """The file, as in its FILE line."""
    first_line: int
    """First line of the fault, by the numbers shown."""
    last_line: int
    """Last line of the fault, inclusive."""
    description: str
    """What goes wrong, what should happen, and a concrete case."""
    title: str
    """One line that names the wrong behaviour."""
    severity: Severity
    """How bad a user would find it."""
    confidence: Confidence
    """How likely a maintainer would agree, from 0 to 1."""
    suggested_fix: str
    """How to repair it; empty if unknown."""


class FindAnswer(Record):
    """What a model reports on a pass."""

    findings: tuple[FoundItem, ...]
    """All defects, the worst first; empty where there is none."""


class NumberedFile(NamedTuple):
    """A file as the prompt shows it."""

    path: str
    """Inside the snapshot."""
    text: str
    """Its lines, each with its number and a bar."""


def find(context: FinderContext) -> PassResult:
    """Ask the model for the defects of the pass's files.

    Settings: ``repeat``, the number of the repeat.

    Returns:
        status ``ok`` when an answer was read, however little it reports; ``limit`` when the prompt
        is too long for the model, ``timeout`` or ``failed`` when there is no usable answer.

    Raises:
        FinderError: the context names no model, or a file cannot be read.
        ModelError: the model cannot be asked at all.
        BudgetError: the call could pass the cap on money: no result, so that the pass is run again
            once there is more.
    """
    started = time.monotonic()
    asking = context.asking
    if asking is None:
        raise FinderError(f"run {context.run!r}: the finder 'model' was given no model to ask")
    tree = SnapshotTree(context.snapshot_root, context.files)
    messages = find_messages(context.repo, context.the_pass, tree, asking.prompt)
    problem = _too_long(asking, messages)
    if problem:
        return _result(context, asking, started, "limit", problem)
    question = Question[FindAnswer](context.the_pass.id, messages)
    [reply] = asking.asker.ask(
        asking.model,
        [question],
        FindAnswer,
        purpose=f"find {context.repo}/{context.run}/{context.the_pass.id}",
        sample=_repeat(context),
    )
    if reply.value is None:
        status, error = _failure(reply)
        return _result(context, asking, started, status, error, reply)
    return _placed(context, asking, started, tree, reply, reply.value.findings)


def find_messages(repo: str, the_pass: Pass, tree: SnapshotTree, prompt: Prompt) -> list[Message]:
    """The prompt of a pass; also what an estimate counts."""
    files = [NumberedFile(path, _numbered(tree.text(path))) for path in the_pass.files]
    return prompt.messages(repository=repo, files=files)


def _numbered(text: str) -> str:
    clean = text.encode("utf-8", errors="replace").decode("utf-8")
    return "\n".join(f"{number}|{line}" for number, line in enumerate(clean.split("\n"), 1))


def _too_long(asking: Asking, messages: Sequence[Message]) -> str:
    """Why the prompt cannot be sent, in a line; empty where it can."""
    tokens = prompt_tokens(messages, FindAnswer.model_json_schema())
    room = asking.model.entry.prompt_room
    if tokens <= room:
        return ""
    return (
        f"the prompt has {tokens} tokens, but model {asking.model.name!r} has room for {room} "
        "(context_tokens less max_output_tokens); lower plan.token_budget or name a model with a "
        "larger window; nothing was sent"
    )


def _repeat(context: FinderContext) -> int:
    repeat = context.settings.get("repeat", 1)
    if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 1:
        raise FinderError(f"run {context.run!r}: 'repeat' is {repeat!r}; expected 1 or more")
    return repeat


def _failure(reply: Reply[FindAnswer]) -> tuple[PassStatus, str]:
    if reply.failure is None:
        return "failed", "no answer, and no reason for it"
    kind, detail = reply.failure.kind, reply.failure.detail
    return _STATUS.get(kind, "failed"), f"{kind}: {' '.join(detail.split())}"


def _placed(
    context: FinderContext,
    asking: Asking,
    started: float,
    tree: SnapshotTree,
    reply: Reply[FindAnswer],
    items: Sequence[FoundItem],
) -> PassResult:
    cleaner = Cleaner({f"{tree.root}/": "", f"{tree.root}": "{snapshot}"})
    key = (context.repo, context.run, context.the_pass.id)
    placed = normalise([_raw(item) for item in items], tree, key, cleaner)
    oddities = dict(placed.oddities)
    shown = set(context.the_pass.files)
    unseen = sum(finding.path not in shown for finding in placed.findings)
    if unseen:
        oddities["outside_pass"] = unseen
    placed = replace(placed, oddities=dict(sorted(oddities.items())))
    return _result(context, asking, started, "ok", None, reply, placed)


def _raw(item: FoundItem) -> RawItem:
    return RawItem(
        paths=(item.path,),
        first=item.first_line,
        last=item.last_line,
        column=None,
        end_column=None,
        rule=None,
        title=item.title,
        message=item.description,
        severity=item.severity,
        confidence=item.confidence,
        suggested_fix=item.suggested_fix.strip() or None,
        raw=item.model_dump(mode="json"),
    )


def _result(
    context: FinderContext,
    asking: Asking,
    started: float,
    status: PassStatus,
    error: str | None,
    reply: Reply[FindAnswer] | None = None,
    placed: Normalised | None = None,
) -> PassResult:
    return PassResult(
        repo=context.repo,
        run=context.run,
        pass_id=context.the_pass.id,
        status=status,
        error=error,
        findings=placed.findings if placed else (),
        rejected=placed.rejected if placed else (),
        oddities=placed.oddities if placed else {},
        files_read=len(context.the_pass.files) if placed else 0,
        usage=reply.usage if reply else Usage(calls=0, attempts=0, usd=0.0),
        wall_s=time.monotonic() - started,
        provenance=provenance_of(asking.model, asking.prompt.sha256, reply),
    )
