"""The finder ``model``: one structured call a pass, with the pass's files in the prompt.

The simplest finder that a model can be: no tools, no second look, nothing but what the prompt holds.
It shows what reading alone finds, and costs one call a pass; more where a model's window is smaller
than the pass, which is then asked in parts.
"""

import time
from collections.abc import Sequence

from probe.errors import FinderError
from probe.finders.base import NO_CALLS, Asking, FinderContext, repeat_of
from probe.finders.locate import SnapshotTree
from probe.finders.normalise import Normalised
from probe.finders.questions import Part, WindowError, joined, pass_parts, without_repeats
from probe.finders.reported import place_items, raw_item
from probe.models.base import Model, Question, Reply, provenance_of
from probe.models.prompts import Prompt
from probe.records import (
    FailureKind,
    Pass,
    PassResult,
    PassStatus,
    Record,
    Severity,
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


Answered = Sequence[tuple[Part, Reply[FindAnswer]]]
"""The parts of a pass with what came of them."""


def find(context: FinderContext) -> PassResult:
    """Ask the model for the defects of the pass's files.

    Settings: ``repeat``, the number of the repeat.

    Returns:
        status ``ok`` when every part of the pass was answered, however little the answers report;
        ``limit`` when the model's window holds no part of it, ``timeout`` or ``failed`` when there is
        no usable answer. What other parts reported stays with a pass that did not end well.

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
    try:
        parts = find_parts(context.repo, context.the_pass, tree, asking.prompt, asking.model)
    except WindowError as error:
        return _result(context, asking, started, "limit", str(error))
    replies = asking.asker.ask(
        asking.model,
        [Question[FindAnswer](part.id, part.messages) for part in parts],
        FindAnswer,
        purpose=f"find {context.repo}/{context.run}/{context.the_pass.id}",
        sample=repeat_of(context),
    )
    answered = list(zip(parts, replies, strict=True))
    status, problem = _outcome(answered)
    reply = joined(context.the_pass, replies)
    placed = _placed(context, tree, answered)
    return _result(context, asking, started, status, problem, reply, placed, _files_read(answered))


def find_parts(
    repo: str, the_pass: Pass, tree: SnapshotTree, prompt: Prompt, model: Model
) -> list[Part]:
    """What a pass is asked as; also what an estimate counts.

    Raises:
        WindowError: the model's window does not even hold the smallest part.
        FinderError: a file cannot be read.
    """
    return pass_parts(repo, the_pass, tree, prompt, model, FindAnswer.model_json_schema())


def _outcome(answered: Answered) -> tuple[PassStatus, str | None]:
    """How the pass ended: as its first part without an answer, ``ok`` where each has one."""
    for number, (part, reply) in enumerate(answered, 1):
        if reply.value is None:
            status, error = _failure(reply)
            which = (
                f"part {number} of {len(answered)} ({part.place}): " if len(answered) > 1 else ""
            )
            return status, which + error
    return "ok", None


def _failure(reply: Reply[FindAnswer]) -> tuple[PassStatus, str]:
    if reply.failure is None:
        return "failed", "no answer, and no reason for it"
    kind, detail = reply.failure.kind, reply.failure.detail
    return _STATUS.get(kind, "failed"), f"{kind}: {' '.join(detail.split())}"


def _files_read(answered: Answered) -> int:
    """Files of which every piece was shown in a question with an answer."""
    shown = {piece.path for part, _ in answered for piece in part.pieces}
    unread = {
        piece.path for part, reply in answered if reply.value is None for piece in part.pieces
    }
    return len(shown - unread)


def _placed(context: FinderContext, tree: SnapshotTree, answered: Answered) -> Normalised:
    """The findings of all parts that were answered."""
    found = [
        (part, [raw_item(item, (item.path,)) for item in reply.value.findings])
        for part, reply in answered
        if reply.value is not None
    ]
    items, repeats = without_repeats(found, tree)
    return place_items(context, tree, items, {"repeated_part": repeats})


def _result(
    context: FinderContext,
    asking: Asking,
    started: float,
    status: PassStatus,
    error: str | None,
    reply: Reply[FindAnswer] | None = None,
    placed: Normalised | None = None,
    files_read: int = 0,
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
        files_read=files_read,
        usage=reply.usage if reply else NO_CALLS,
        wall_s=time.monotonic() - started,
        provenance=provenance_of(asking.model, asking.prompt.sha256, reply),
    )
