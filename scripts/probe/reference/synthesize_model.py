"""The report of a present defect as a model writes it; the heuristic is :mod:`probe.reference.synthesize`.

The model knows the fix, since nothing else says what is wrong, and must not let it show. What it
writes is held against :mod:`probe.reference.leaks`, and it is told what leaks. A report that leaks
after the last repair turn is recorded with its leaks and makes no bug. Place, snippet and unit are
never the model's.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from probe.code.units import enclosing_unit
from probe.models.base import Model, Question, Reply, provenance_of
from probe.models.client import Asker
from probe.models.prompts import Prompt
from probe.models.size import prompt_tokens
from probe.records import Candidate, Dropped, Provenance, Record, Report, Severity
from probe.records.history import UNJUDGED
from probe.reference.asking import UNREACHED, check_reached, check_window, why_unjudged
from probe.reference.classify_text import clean, cut_middle, one_line
from probe.reference.excerpt import excerpt, places_text
from probe.reference.leaks import Forbidden, Leak, find_leaks
from probe.reference.mirror import Snapshot
from probe.reference.synthesize import (
    MAX_LEAKS,
    clip_places,
    cut_snippet,
    forbid_around,
    leaking,
    no_place,
)

TITLE_TOKENS = 300
"""Tokens of a candidate's title, at most."""

ROOT_CAUSE_TOKENS = 1_000
"""Tokens of its root cause, at most."""

PLACES_TOKENS = 1_000
"""Tokens of the list of its places, at most."""

_WHY = {
    "fix": "speaks of the repair",
    "commit": "names a commit",
    "reference": "names an issue, pull request or advisory",
    "identifier": "is a name that only the repair has",
    "future": "is in the future tense",
    "instruction": "says what to do",
}


class ReportAnswer(Record):
    """What a model writes; the order makes it describe before it names."""

    description: str
    """Mechanism, place and consequence, in the present tense, in the snapshot's identifiers."""
    trigger: str
    """The smallest input, state or environment that shows the wrong behaviour."""
    title: str
    """One line that names the wrong behaviour."""
    severity: Severity
    """How bad a user would find it: critical loses data, opens a security hole or stops most use;
    high is wrong or crashes in ordinary use; medium in less usual use; low is rare or slight."""
    suggested_fix: str
    """How the code could be repaired; the only field that may draw on the repair."""


@dataclass(frozen=True)
class Budgets:
    """How much a model sees of a candidate, in tokens (cl100k_base)."""

    diff_tokens: int
    """Of the fix."""
    file_tokens: int
    """Of the snapshot's code around the defect."""


def write_with_model(
    candidates: Iterable[Candidate],
    snapshot: Snapshot,
    forbidden: Mapping[str, Forbidden],
    prompt: Prompt,
    asker: Asker,
    model: Model,
    budgets: Budgets,
    *,
    purpose: str,
) -> tuple[list[Report], list[Dropped]]:
    """Ask a model for the reports of present candidates, all in one batch.

    Args:
        candidates: candidates that the snapshot had.
        snapshot: the snapshot.
        forbidden: by candidate what its report may not say.
        prompt: ``prompts/synthesize.j2``.
        asker: the client.
        model: whom to ask.
        budgets: how much it sees.
        purpose: for the ledger, ``synthesize REPOSITORY/BLOCK``.

    Returns:
        Reports in the candidates' order, leaking ones included; and in the same order the
        candidates that make no bug: without a place, unjudged, or with a report that leaks.

    Raises:
        BudgetError: a call could pass the cap; what was bought stays in the cache.
        ModelError: the model cannot be asked at all, its window is too small for the budgets, or
            no candidate got an answer and the server is the reason.
    """
    check_room(model, prompt, budgets)
    items = list(candidates)
    questions = list(report_questions(items, snapshot, forbidden, prompt, budgets))
    replies = asker.ask(model, questions, ReportAnswer, purpose=purpose)
    check_reached(replies, model)
    by_id = {reply.id: reply for reply in replies}
    reports: list[Report] = []
    left: list[Dropped] = []
    for item in items:
        if item.id not in by_id:
            left.append(no_place(item))
            continue
        around = _around(item, snapshot, forbidden)
        made_by = provenance_of(model, prompt.sha256, by_id[item.id])
        report, dropped = _outcome(item, by_id[item.id], snapshot, around, made_by)
        reports += [report] if report else []
        left += [dropped] if dropped else []
    return reports, left


def report_questions(
    candidates: Iterable[Candidate],
    snapshot: Snapshot,
    forbidden: Mapping[str, Forbidden],
    prompt: Prompt,
    budgets: Budgets,
) -> Iterator[Question[ReportAnswer]]:
    """What :func:`write_with_model` asks, without asking: for estimates.

    Candidates without a place in the snapshot are not asked about. A question holds nothing of the
    repository's key, window or block.

    Args:
        candidates: as there.
        snapshot: the snapshot.
        forbidden: as there; a candidate that is not in it is only checked by its words.
        prompt: as there.
        budgets: as there.
    """
    for item in candidates:
        places = clip_places(item, snapshot)
        if not places:
            continue
        messages = prompt.messages(
            title=cut_middle(clean(item.title), TITLE_TOKENS),
            root_cause=cut_middle(clean(item.root_cause), ROOT_CAUSE_TOKENS) or "(not known)",
            places=cut_middle(places_text(places, snapshot), PLACES_TOKENS),
            additive=item.additive,
            code=excerpt(places, snapshot, budgets.file_tokens),
            diff=cut_middle(clean(item.suggested_fix), budgets.diff_tokens),
        )
        yield Question(item.id, messages, _check(_around(item, snapshot, forbidden)))


def check_room(model: Model, prompt: Prompt, budgets: Budgets) -> None:
    """Say early that a model's window cannot hold the largest prompt that the budgets allow.

    Raises:
        ModelError: it cannot; the message says which budget would do.
    """
    empty = prompt.messages(title="", root_cause="", places="", additive=True, code="", diff="")
    fixed = prompt_tokens(empty, ReportAnswer.model_json_schema())
    fixed += TITLE_TOKENS + ROOT_CAUSE_TOKENS + PLACES_TOKENS
    settings = {"diff_tokens": budgets.diff_tokens, "file_tokens": budgets.file_tokens}
    check_window(model, "synthesize", fixed, settings)


def leaks_of(answer: ReportAnswer, forbidden: Forbidden) -> list[Leak]:
    """What gives the fix away in the fields that finders and judges may see."""
    texts = {
        "title": answer.title,
        "description": answer.description,
        "trigger": answer.trigger,
    }
    return find_leaks(texts, forbidden)


def _around(item: Candidate, snapshot: Snapshot, forbidden: Mapping[str, Forbidden]) -> Forbidden:
    known = forbidden.get(item.id, Forbidden())
    return forbid_around(known, snapshot, clip_places(item, snapshot))


def _check(forbidden: Forbidden) -> Callable[[ReportAnswer], str | None]:
    def problem(answer: ReportAnswer) -> str | None:
        problems = [f"{name} is empty" for name in _empty(answer)]
        leaks = leaks_of(answer, forbidden)
        problems += [
            f"{leak.words!r} in {leak.field} {_WHY[leak.kind]}" for leak in leaks[:MAX_LEAKS]
        ]
        if len(leaks) > MAX_LEAKS:
            problems.append(f"and {len(leaks) - MAX_LEAKS} more of the kind")
        return "; ".join(problems) or None

    return problem


def _empty(answer: ReportAnswer) -> list[str]:
    texts = {name: getattr(answer, name) for name in ("description", "trigger", "title")}
    return [name for name, text in texts.items() if not any(map(str.isalnum, text))]


def _outcome(
    item: Candidate,
    reply: Reply[ReportAnswer],
    snapshot: Snapshot,
    forbidden: Forbidden,
    provenance: Provenance,
) -> tuple[Report | None, Dropped | None]:
    """A report, a reason why there is none, or both: a report that leaks is kept to be looked at."""
    if reply.value is not None:
        return _report(item, reply.value, snapshot, (), provenance), None
    last = reply.rejected
    unreached = reply.failure is not None and reply.failure.kind in UNREACHED
    leaks = leaks_of(last, forbidden) if last is not None and not unreached else []
    if last is None or not leaks or _empty(last):
        return None, Dropped(
            commit=item.commit,
            stage="synthesize",
            candidate=item.id,
            reason=UNJUDGED,
            detail=why_unjudged(reply),
            failure=reply.failure,
            provenance=provenance,
        )
    report = _report(item, last, snapshot, tuple(map(str, leaks)), provenance)
    return report, leaking(report)


def _report(
    item: Candidate,
    answer: ReportAnswer,
    snapshot: Snapshot,
    leaks: tuple[str, ...],
    provenance: Provenance,
) -> Report:
    primary, *others = clip_places(item, snapshot)
    unit = enclosing_unit(snapshot.units(primary.path), primary.first)
    return Report(
        candidate=item.id,
        commit=item.commit,
        title=one_line(answer.title),
        description=answer.description.strip(),
        primary=primary,
        others=tuple(others),
        unit=unit.name if unit else None,
        snippet=cut_snippet(snapshot.lines(primary.path), primary, unit),
        severity=answer.severity,
        trigger=one_line(answer.trigger),
        suggested_fix=answer.suggested_fix.strip() or item.suggested_fix,
        leaks=leaks,
        provenance=provenance,
    )
