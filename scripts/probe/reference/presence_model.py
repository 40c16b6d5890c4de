"""Whether the snapshot had each candidate's defect, as an agent establishes it.

The agent works on a scratch copy of the snapshot with git history up to the fix, and may drop a
candidate only on one of four grounds, citing commands. Here its answer is made a record: a drop
counts once the workflow has executed its citations again and seen the same
(:mod:`probe.reference.presence_recheck`); any other drop becomes a keep with low confidence that
says what was overruled. A pass without an answer leaves the candidate unjudged.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from probe.agent import (
    NOBODY,
    AgentLimits,
    AgentResult,
    AgentTask,
    made_by,
    run_in_sandbox,
    unreached,
)
from probe.errors import BudgetError
from probe.git.ancestry import first_parents
from probe.models.base import Model
from probe.models.client import Caller
from probe.models.prompts import Prompt
from probe.records import (
    Candidate,
    Evidence,
    Failure,
    FailureKind,
    Presence,
    Provenance,
    content_sha256,
    file_sha256,
)
from probe.records.history import Overruled
from probe.reference.asking import UNREACHED
from probe.reference.classify_text import one_line
from probe.reference.presence_answer import PresenceAnswer, PresenceClaim, last_claim
from probe.reference.presence_box import Checkout
from probe.reference.presence_pool import run_all
from probe.reference.presence_prompt import Revisions, check_presence_room, presence_texts
from probe.reference.presence_recheck import MAX_OUTPUT, Recheck, recheck, search_names, unit_names
from probe.sandbox import Limits

BOX = Limits()
"""What a sandbox may use."""

OVERRULED_CONFIDENCE = 0.3
"""The most that a keep can have which was claimed to be a drop."""

_KINDS: dict[str, FailureKind] = {
    "no_action": "empty",
    "invalid_submission": "invalid",
    "dead_sandbox": "dead_sandbox",
}
_MAX_RATIONALE = 1_500

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Investigation:
    """All that the candidates of a block have in common."""

    mirror: Path
    """A git directory with the window."""
    archive: Path
    """The snapshot's files (``source.tar``)."""
    t0: str
    """The snapshot commit."""
    prompt: Prompt
    """``prompts/presence.j2``."""
    model: Model
    """Whom to ask."""
    engine: str
    """The sandbox engine, as in ``sandbox.engine``."""
    limits: AgentLimits
    """Of one candidate; ``command_s`` holds for cited commands too."""
    transcripts: Path
    """Folder of the transcripts, ``{candidate}.jsonl``; what is there is gone on with."""
    purpose: str
    """For the ledger: ``presence REPOSITORY/BLOCK``."""
    parallel: int = 2
    """Candidates at a time."""
    box: Limits = BOX
    """Of each sandbox."""


def investigate_presences(
    candidates: Sequence[Candidate], about: Investigation, caller: Caller
) -> list[Presence]:
    """Let an agent look into each candidate.

    Args:
        candidates: of one block.
        about: what they have in common.
        caller: the client.

    Returns:
        A record for each candidate, in order; the verdict is None where the agent gave none.

    Raises:
        BudgetError: a call could pass the cap; what was bought stays, and the passes go on.
        ModelError: the model cannot be asked at all, its window is too small, or no candidate got
            an answer and the server is the reason.
        SandboxError: no sandbox works here, or git cannot read the history in one.
        GitError: a fix commit is missing.
    """
    if not candidates:
        return []
    check_presence_room(about.model, about.prompt)
    shas = list(dict.fromkeys(candidate.commit for candidate in candidates))
    parents = first_parents(about.mirror, "--no-walk=unsorted", *shas)
    content = file_sha256(about.archive)

    def look_into(candidate: Candidate) -> Presence:
        revisions = Revisions(about.t0, parents.get(candidate.commit), candidate.commit)
        presence = _presence(candidate, revisions, content, about, caller)
        _log.info("%s: %s", candidate.id, presence.verdict or f"unjudged ({presence.rationale})")
        return presence

    presences = run_all(look_into, candidates, about.parallel)
    _check_reached(presences, about.model)
    return presences


def _presence(
    candidate: Candidate, revisions: Revisions, content: str, about: Investigation, caller: Caller
) -> Presence:
    with Checkout(
        about.archive,
        about.mirror,
        about.transcripts / f".{candidate.id}.git",
        about.t0,
        candidate.commit,
        engine=about.engine,
        limits=about.box,
    ) as checkout:
        result = _run(candidate, revisions, content, about, caller, checkout)
        if result.status == "budget":
            raise BudgetError(f"{result.detail}")
        if result.reason in NOBODY:  # no other candidate need be tried
            raise unreached(about.model, f"{result.reason}: {result.detail}")
        provenance = made_by(about.model, about.prompt, result)
        claim: PresenceClaim | None = result.answer
        if result.reason == "invalid_submission":
            said = last_claim(_transcript(candidate, about))
            claim = said if said is not None and said.lacks() else None
        if claim is None:
            return _unjudged(candidate, _failure(result), provenance)
        return _judged(candidate, claim, revisions, about, checkout, provenance)


def _run(
    candidate: Candidate,
    revisions: Revisions,
    content: str,
    about: Investigation,
    caller: Caller,
    checkout: Checkout,
) -> AgentResult[PresenceAnswer]:
    """The pass; where its sandbox dies it goes on once in a new one."""
    system, user = presence_texts(about.prompt, candidate, revisions)
    task = AgentTask(
        model=about.model,
        system=system,
        user=user,
        submit=PresenceAnswer,
        content_sha256=content_sha256([content, revisions.t0, revisions.fix]),
        purpose=f"{about.purpose}/{candidate.id}",
    )
    transcript = _transcript(candidate, about)
    return run_in_sandbox(caller, checkout.open, task, about.limits, transcript)[0]


def _judged(
    candidate: Candidate,
    claim: PresenceClaim,
    revisions: Revisions,
    about: Investigation,
    checkout: Checkout,
    provenance: Provenance,
) -> Presence:
    """The record of an answer; a drop only where its evidence holds."""
    overruled: Overruled | None = claim.lacks()
    checked = Recheck(_as_cited(claim), None)
    if claim.verdict == "drop" and overruled is None:
        checked = _recheck(candidate, claim, revisions, about, checkout)
        overruled = "not reproduced" if checked.problem else None
    dropped = claim.verdict == "drop" and overruled is None
    rationale = one_line(claim.rationale, _MAX_RATIONALE)
    if overruled is not None:
        why = f": {checked.problem}" if checked.problem else ""
        rationale = f"overruled ({overruled}{why}); claimed: {rationale}"
    confidence = claim.confidence
    return Presence(
        candidate=candidate.id,
        verdict="drop" if dropped else "keep",
        ground=claim.ground if dropped else None,
        overruled=overruled,
        claimed=claim.ground if overruled else None,
        confidence=min(confidence, OVERRULED_CONFIDENCE) if overruled else confidence,
        rationale=rationale,
        evidence=checked.evidence,
        provenance=provenance,
    )


def _recheck(
    candidate: Candidate,
    claim: PresenceClaim,
    revisions: Revisions,
    about: Investigation,
    checkout: Checkout,
) -> Recheck:
    """All citations of a drop, and for absent code the names."""
    checked = recheck(checkout, claim.citations, about.limits.command_s)
    if checked.problem or claim.ground != "code_absent":
        return checked
    repaired = [sha for sha in (revisions.parent, revisions.fix) if sha is not None]
    names = [*claim.names, *unit_names(about.mirror, revisions.parent, candidate)]
    searched = search_names(checkout, revisions.t0, repaired, names, about.limits.command_s)
    return Recheck((*checked.evidence, *searched.evidence), searched.problem)


def _as_cited(claim: PresenceClaim) -> tuple[Evidence, ...]:
    """Citations that nothing hangs on, as the agent gave them."""
    return tuple(
        Evidence(command=one.command, output=one.output[:MAX_OUTPUT], exit=one.exit)
        for one in claim.citations
    )


def _unjudged(candidate: Candidate, failure: Failure, provenance: Provenance) -> Presence:
    return Presence(
        candidate=candidate.id,
        verdict=None,
        confidence=0.0,
        rationale=f"unjudged, {failure.kind}: {failure.detail}",
        failure=failure,
        provenance=provenance,
    )


def _failure(result: AgentResult[PresenceAnswer]) -> Failure:
    """Why a pass gave no verdict, among the named kinds."""
    if result.status == "limit":
        kind: FailureKind = "context_length" if result.reason == "context" else "limit"
        return Failure(kind=kind, detail=f"{result.reason}: {result.detail}")
    reason = result.reason or "empty"
    named = _KINDS.get(reason)
    if named is not None:
        return Failure(kind=named, detail=f"{reason}: {result.detail}")
    return Failure.model_validate({"kind": reason, "detail": f"{result.detail}"})


def _check_reached(presences: Sequence[Presence], model: Model) -> None:
    """A server that answers nothing at all is no result, not even one of unjudged candidates."""
    silent = [one.failure for one in presences if one.failure and not one.provenance.calls]
    if len(silent) == len(presences) and {failure.kind for failure in silent} <= UNREACHED:
        raise unreached(model, f"{silent[0].kind}: {silent[0].detail}")


def _transcript(candidate: Candidate, about: Investigation) -> Path:
    return about.transcripts / f"{candidate.id}.jsonl"
