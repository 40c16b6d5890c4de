"""When another attempt is made, and after how long."""

import asyncio
import random

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from probe.models.faults import AttemptError

_FIRST_S = {"rate_limited": 2.0}
_OTHER_FIRST_S = 0.5
_LONGEST_S = 60.0


def retrying(max_attempts: int) -> AsyncRetrying:
    """Attempts of one call; the last :class:`AttemptError` is raised as it is.

    What cannot pass (a wrong key, a request the server rejects, a prompt that is too long) is
    never tried again; everything else is, until the attempts are used up.
    """
    return AsyncRetrying(
        stop=stop_after_attempt(max_attempts),
        retry=retry_if_exception(lambda e: isinstance(e, AttemptError) and e.can_pass),
        wait=_wait,
        sleep=asyncio.sleep,
        reraise=True,
    )


def pause_s(failure: AttemptError, attempt: int, chance: float) -> float:
    """Seconds until the next attempt.

    Doubles from 0.5 s (2 s after a rate limit, whose six attempts thus outlast the minute that
    providers count in) up to a minute, plus up to a quarter so that clients part. Never
    less than the server asked for.

    Args:
        failure: how the last attempt ended.
        attempt: its number, 1 for the first.
        chance: uniform on [0, 1).
    """
    first = _FIRST_S.get(failure.kind, _OTHER_FIRST_S)
    if failure.retry_after is not None:
        return failure.retry_after + chance * min(1.0, first)
    backoff: float = min(_LONGEST_S, first * 2 ** (attempt - 1))
    return backoff * (1 + chance / 4)


def _wait(state: RetryCallState) -> float:
    failure = state.outcome.exception() if state.outcome else None
    if not isinstance(failure, AttemptError):
        return 0.0
    return pause_s(failure, state.attempt_number, random.random())  # noqa: S311 - no secret
