"""What the stages that ask a model share: room for the prompt, replies that say nothing, diffs in order.

A server that answers nothing at all is no result; a single failure is, and leaves its item unjudged.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from probe.errors import GitError, ModelError
from probe.git.diff import CommitDiff
from probe.models.base import A, Model, Reply
from probe.records import Commit

UNREACHED = frozenset({"auth", "connection", "rate_limited", "server_error", "timeout"})
"""Kinds of failure that say nothing about the question."""

LEAST_ROOM = 200
"""Tokens below which no budget is proposed: little of a text would be left."""


def check_reached(replies: Sequence[Reply[A]], model: Model) -> None:
    """A server that answers nothing at all is no result, not even one of unjudged items.

    Raises:
        ModelError: no question got an answer, and the server, key or network is the reason.
    """
    failures = [reply.failure for reply in replies if reply.failure and not reply.calls]
    if failures and len(failures) == len(replies) and {f.kind for f in failures} <= UNREACHED:
        raise ModelError(
            f"model {model.name!r} answered none of {len(replies)} questions: "
            f"{failures[0].kind}: {failures[0].detail}; check api_base, key and network, then run "
            "the same command again"
        )


def why_unjudged(reply: Reply[A]) -> str:
    """Why a question has no answer, in a line."""
    if reply.failure is None:
        return "no answer"
    return f"{reply.failure.kind}: {reply.failure.detail}"


def check_window(model: Model, stage: str, fixed: int, budgets: Mapping[str, int]) -> None:
    """Say early that a model's window cannot hold the largest prompt that the budgets allow.

    Args:
        model: who would be asked.
        stage: the stage's key in ``reference``.
        fixed: tokens of everything in a prompt that no setting bounds.
        budgets: the stage's settings that bound the rest, with their tokens; empty for none.

    Raises:
        ModelError: it cannot; the message says which budget would do.
    """
    room = model.entry.prompt_room
    largest = fixed + sum(budgets.values())
    if largest <= room:
        return
    remedy = "name a model with a larger window"
    if budgets:
        widest = max(budgets, key=lambda name: budgets[name])
        free = room - (largest - budgets[widest])
        if free >= LEAST_ROOM:
            remedy = f"set reference.{stage}.{widest} to {free} at most"
    raise ModelError(
        f"model {model.name!r} has room for a prompt of {room} tokens (context_tokens less "
        f"max_output_tokens), but one of {stage} can have {largest}; {remedy}"
    )


def pair_diffs(
    commits: Sequence[Commit], diffs: Iterable[CommitDiff]
) -> Iterator[tuple[Commit, CommitDiff | None]]:
    """Each commit with its diff, None where there is none.

    Raises:
        GitError: a diff is out of order, or belongs to none of the commits.
    """
    stream = iter(diffs)
    ahead = next(stream, None)
    for commit in commits:
        if ahead is not None and ahead.sha == commit.sha:
            yield commit, ahead
            ahead = next(stream, None)
        else:
            yield commit, None
    if ahead is not None:
        raise GitError(f"diff of {ahead.sha} is out of window order or of no window commit")
