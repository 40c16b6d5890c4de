"""Whether some part of a commit corrects wrong behaviour, as a model sees it.

The model reads the message, file statistics and the diff, each cut to a budget; the heuristic engine
beside it is :mod:`probe.reference.classify`. A commit on which the model failed stays unjudged.
"""

from collections.abc import Iterable, Sequence

from probe.git.diff import CommitDiff
from probe.models.base import Model, Question, Reply, provenance_of
from probe.models.client import Asker
from probe.models.prompts import Prompt
from probe.models.size import prompt_tokens
from probe.records import Classification, Commit
from probe.records.base import Confidence, Record
from probe.reference.asking import check_reached, check_window, pair_diffs, why_unjudged
from probe.reference.classify_text import clean, cut_middle, diff_text, one_line, statistics_text

SUBJECT_TOKENS = 300
"""Tokens of a subject, at most."""

BODY_TOKENS = 1_500
"""Tokens of a body, at most."""

STATISTICS_TOKENS = 1_500
"""Tokens of the file statistics, at most."""

_MAX_RATIONALE = 1_000


class ClassifyAnswer(Record):
    """What a model says of a commit; the order makes it reason before it decides."""

    rationale: str
    """Which wrong behaviour is corrected and where, or what the commit does instead."""
    is_fix: bool
    """Whether any part of the commit corrects behaviour that was wrong."""
    confidence: Confidence
    """How likely `is_fix` is right, from 0 to 1."""


def classify_with_model(
    commits: Sequence[Commit],
    diffs: Iterable[CommitDiff],
    prompt: Prompt,
    asker: Asker,
    model: Model,
    *,
    diff_tokens: int,
    purpose: str,
) -> list[Classification]:
    """Ask a model about each commit, all in one batch.

    Args:
        commits: without merges, which are no fixes by themselves.
        diffs: diffs of some or all of them, in the same order.
        prompt: ``prompts/classify.j2``.
        asker: the client.
        model: whom to ask.
        diff_tokens: tokens (cl100k_base) of a diff that the model sees, at most.
        purpose: for the ledger, ``classify REPOSITORY/BLOCK``.

    Returns:
        A record for each commit, in order; ``is_fix`` is None where there is no answer.

    Raises:
        BudgetError: a call could pass the cap; what was bought stays in the cache.
        ModelError: the model cannot be asked at all, its window is too small for the budgets, or
            no commit got an answer and the server is the reason.
        GitError: a diff is out of order, or belongs to none of the commits.
    """
    check_room(model, prompt, diff_tokens)
    questions = classify_questions(commits, diffs, prompt, diff_tokens=diff_tokens)
    replies = asker.ask(model, questions, ClassifyAnswer, purpose=purpose)
    check_reached(replies, model)
    return [_classification(reply, model, prompt) for reply in replies]


def classify_questions(
    commits: Sequence[Commit],
    diffs: Iterable[CommitDiff],
    prompt: Prompt,
    *,
    diff_tokens: int,
) -> list[Question[ClassifyAnswer]]:
    """What :func:`classify_with_model` asks, without asking: for estimates.

    Raises:
        GitError: a diff is out of order, or belongs to none of the commits.
        ConfigError: the prompt names a variable that there is not.
    """
    questions = []
    for commit, diff in pair_diffs(commits, diffs):
        messages = prompt.messages(
            subject=cut_middle(clean(commit.subject), SUBJECT_TOKENS),
            body=cut_middle(clean(commit.body), BODY_TOKENS) or "(none)",
            statistics=cut_middle(statistics_text(commit), STATISTICS_TOKENS),
            diff=cut_middle(diff_text(diff), diff_tokens),
        )
        questions.append(Question[ClassifyAnswer](commit.sha, messages))
    return questions


def check_room(model: Model, prompt: Prompt, diff_tokens: int) -> None:
    """Say early that a model's window cannot hold the largest prompt that the budgets allow.

    Raises:
        ModelError: it cannot; the message says which budget would do.
    """
    empty = prompt.messages(subject="", body="", statistics="", diff="")
    fixed = prompt_tokens(empty, ClassifyAnswer.model_json_schema())
    fixed += SUBJECT_TOKENS + BODY_TOKENS + STATISTICS_TOKENS
    check_window(model, "classify", fixed, {"diff_tokens": diff_tokens})


def _classification(reply: Reply[ClassifyAnswer], model: Model, prompt: Prompt) -> Classification:
    provenance = provenance_of(model, prompt.sha256, reply)
    if reply.value is None:
        return Classification(
            commit=reply.id,
            is_fix=None,
            confidence=0.0,
            rationale=f"unjudged, {why_unjudged(reply)}",
            failure=reply.failure,
            provenance=provenance,
        )
    return Classification(
        commit=reply.id,
        is_fix=reply.value.is_fix,
        confidence=reply.value.confidence,
        rationale=one_line(reply.value.rationale, _MAX_RATIONALE),
        provenance=provenance,
    )
