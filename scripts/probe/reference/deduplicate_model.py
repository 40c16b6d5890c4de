"""Which reports are one defect, as a model judges it; the heuristic is :mod:`probe.reference.deduplicate`.

The judge reads the two reports with their code, not the fixes: it is to decide on what a finder's
report will be compared with later, and a fix commit with several bugs shows one diff for all of
them. Where two commits made the very same change there is nothing to judge, and nobody is asked.
"""

from collections.abc import Iterable, Iterator, Mapping

from probe.models.base import Model, Question, Reply, provenance_of
from probe.models.client import Asker
from probe.models.prompts import Prompt
from probe.models.size import prompt_tokens
from probe.records import Candidate, Judgement, Pair, Record, Report
from probe.records.base import Confidence
from probe.reference.asking import check_reached, check_window, why_unjudged
from probe.reference.classify_text import clean, cut_middle, one_line
from probe.reference.deduplicate import Fixes

TITLE_TOKENS = 300
"""Tokens of a title, at most."""

DESCRIPTION_TOKENS = 2_000
"""Tokens of a description, at most."""

TRIGGER_TOKENS = 500
"""Tokens of a trigger, at most."""

PLACES_TOKENS = 500
"""Tokens of a list of places, at most."""

SNIPPET_TOKENS = 2_500
"""Tokens of a snippet, at most."""

_MAX_RATIONALE = 1_000


class DuplicateAnswer(Record):
    """What a model says of two reports; the order makes it reason before it decides."""

    rationale: str
    """The two mechanisms, and whether they are one."""
    same: bool
    """Whether both describe the same flaw at the root."""
    confidence: Confidence
    """How likely `same` is right, from 0 to 1."""


def judge_with_model(
    pairs: Iterable[Pair],
    reports: Iterable[Report],
    candidates: Iterable[Candidate],
    prompt: Prompt,
    asker: Asker,
    model: Model,
    *,
    purpose: str,
) -> list[Judgement]:
    """Ask a model about each pair, all in one batch; equal patches are decided without it.

    Args:
        pairs: pairs of reports, of which none leaks.
        reports: theirs, at least.
        candidates: theirs, at least.
        prompt: ``prompts/deduplicate.j2``.
        asker: the client.
        model: whom to ask.
        purpose: for the ledger, ``deduplicate REPOSITORY``.

    Returns:
        A judgement for each pair, in order; ``match`` is None where there is no answer.

    Raises:
        BudgetError: a call could pass the cap; what was bought stays in the cache.
        ModelError: the model cannot be asked at all, its window is too small, or no pair got an
            answer and the server is the reason.
        KeyError: a pair of reports or candidates that are not given.
    """
    check_room(model, prompt)
    wanted = list(pairs)
    known = decided(wanted, candidates)
    open_pairs = [pair for pair in wanted if pair_id(pair) not in known]
    questions = list(duplicate_questions(open_pairs, reports, prompt))
    replies = asker.ask(model, questions, DuplicateAnswer, purpose=purpose)
    check_reached(replies, model)
    by_id = {reply.id: reply for reply in replies}
    return [
        known.get(pair_id(pair)) or _judgement(pair, by_id[pair_id(pair)], model, prompt)
        for pair in wanted
    ]


def decided(pairs: Iterable[Pair], candidates: Iterable[Candidate]) -> dict[str, Judgement]:
    """Judgements of pairs whose commits made the same change, by :func:`pair_id`."""
    by_id = {candidate.id: candidate for candidate in candidates}
    fixes = Fixes(by_id.values())
    return {
        pair_id(pair): fixes.judge(pair)
        for pair in pairs
        if fixes.same_patch(by_id[pair.left], by_id[pair.right])
    }


def duplicate_questions(
    pairs: Iterable[Pair], reports: Iterable[Report], prompt: Prompt
) -> Iterator[Question[DuplicateAnswer]]:
    """What :func:`judge_with_model` asks, without asking: for estimates.

    A question holds nothing of the repository's key, window or blocks, and no commit.

    Args:
        pairs: those that are not :func:`decided`.
        reports: theirs, at least.
        prompt: ``prompts/deduplicate.j2``.
    """
    by_id = {report.candidate: report for report in reports}
    for pair in pairs:
        messages = prompt.messages(first=_shown(by_id[pair.left]), second=_shown(by_id[pair.right]))
        yield Question(pair_id(pair), messages)


def check_room(model: Model, prompt: Prompt) -> None:
    """Say early that a model's window cannot hold the largest prompt.

    Raises:
        ModelError: it cannot.
    """
    nothing = dict.fromkeys(("title", "description", "trigger", "places", "snippet"), "")
    empty = prompt.messages(first=nothing, second=nothing)
    texts = TITLE_TOKENS + DESCRIPTION_TOKENS + TRIGGER_TOKENS + PLACES_TOKENS + SNIPPET_TOKENS
    largest = prompt_tokens(empty, DuplicateAnswer.model_json_schema()) + 2 * texts
    check_window(model, "deduplicate", largest, {})


def pair_id(pair: Pair) -> str:
    """What names a pair of one repository."""
    return f"{pair.left} {pair.right}"


def _shown(report: Report) -> Mapping[str, str]:
    places = [
        f"{place.path}, lines {place.first}-{place.last}"
        for place in (report.primary, *report.others)
    ]
    if report.unit:
        places[0] += f", in `{report.unit}`"
    return {
        "title": cut_middle(clean(report.title), TITLE_TOKENS),
        "description": cut_middle(clean(report.description), DESCRIPTION_TOKENS),
        "trigger": cut_middle(clean(report.trigger or "(not said)"), TRIGGER_TOKENS),
        "places": cut_middle(clean("\n".join(places)), PLACES_TOKENS),
        "snippet": cut_middle(clean(report.snippet), SNIPPET_TOKENS),
    }


def _judgement(
    pair: Pair, reply: Reply[DuplicateAnswer], model: Model, prompt: Prompt
) -> Judgement:
    provenance = provenance_of(model, prompt.sha256, reply)
    if reply.value is None:
        return Judgement(
            left=pair.left,
            right=pair.right,
            match=None,
            confidence=0.0,
            rationale=f"unjudged, {why_unjudged(reply)}",
            provenance=provenance,
        )
    return Judgement(
        left=pair.left,
        right=pair.right,
        match=reply.value.same,
        confidence=reply.value.confidence,
        rationale=one_line(reply.value.rationale, _MAX_RATIONALE),
        provenance=provenance,
    )
