"""What went wrong with an attempt: litellm's exceptions as kinds, and what may have been billed.

litellm wraps one exception in the next and gives many of them the wrong class (a refused
connection is an InternalServerError), so the whole chain of causes is looked at: an HTTP answer
first, then how the connection ended, then litellm's own refusals.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal

from probe.models.secrets import one_line
from probe.records import FailureKind

Billed = Literal["no", "maybe"]
"""Whether a failed attempt can have cost money: ``no`` for an HTTP error and for what never reached
the server, ``maybe`` for what was sent and never answered in full."""

_PERMANENT = frozenset({"missing_key", "auth", "bad_request", "context_length", "refusal"})

LONGEST_PAUSE_S = 900.0
"""Seconds; a server that asks for a longer pause is not waited for, and the call fails."""


@dataclass(eq=False)
class AttemptError(Exception):
    """One attempt without an answer."""

    kind: FailureKind
    """Named as in the records."""
    detail: str
    """One line, without keys."""
    billed: Billed = "no"
    """Whether it can have cost money."""
    retry_after: float | None = None
    """Seconds that the server asks to wait."""

    @property
    def can_pass(self) -> bool:
        """Whether another attempt makes sense."""
        patient = self.retry_after is None or self.retry_after <= LONGEST_PAUSE_S
        return patient and self.kind not in _PERMANENT


def attempt_error(error: BaseException, now: datetime | None = None) -> AttemptError:
    """Name what an exception of litellm means.

    Args:
        error: as raised by ``litellm.acompletion``.
        now: for Retry-After as a date; the present by default.
    """
    chain = list(_causes(error))
    names = {base.__name__ for item in chain for base in type(item).__mro__}
    detail = one_line(str(error).removeprefix("litellm."))
    answer = _http_answer(chain)
    if answer is not None:
        status, headers = answer
        wait = retry_after(headers, now or datetime.now(UTC))
        return AttemptError(_by_status(status, names, detail), detail, "no", wait)
    return _without_answer(names, detail, chain)


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds to wait that a server asks for: Retry-After in seconds or as an HTTP date.

    OpenAI's ``retry-after-ms`` is finer and wins. Nonsense counts as not given.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    milliseconds = _number(lower.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1_000
    text = lower.get("retry-after")
    seconds = _number(text)
    if text is None or seconds is not None:
        return seconds
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _http_answer(chain: list[BaseException]) -> tuple[int, Mapping[str, str]] | None:
    """Status and headers of a real HTTP error; litellm invents responses, httpx does not."""
    for item in chain:
        if type(item).__name__ == "HTTPStatusError" and type(item).__module__ == "httpx":
            response = item.response  # type: ignore[attr-defined]
            return response.status_code, response.headers
    return None


def _by_status(status: int, names: set[str], detail: str) -> FailureKind:
    if "ContextWindowExceededError" in names:
        return "context_length"
    if "ContentPolicyViolationError" in names:
        return "refusal"
    if status in (401, 402, 403) or (status == 429 and "insufficient_quota" in detail):
        return "auth"
    if status == 429:
        return "rate_limited"
    if status >= 500 or status in (408, 409, 425):
        return "server_error"
    return "bad_request"


_NEVER_SENT = {"ConnectError", "ConnectTimeout", "PoolTimeout", "ClientConnectorError"}
_TIMED_OUT = {"TimeoutException", "TimeoutError", "APITimeoutError"}
_DROPPED = {"TransportError", "ClientPayloadError", "ServerDisconnectedError", "ConnectionError"}
_REFUSED_HERE = {"UnsupportedParamsError", "LiteLLMUnknownProvider", "ImportError"}


def _without_answer(names: set[str], detail: str, chain: list[BaseException]) -> AttemptError:
    if names & _NEVER_SENT:
        return AttemptError("connection", _root(chain, detail), "no")
    if names & _TIMED_OUT:
        return AttemptError("timeout", detail, "maybe")
    if names & _DROPPED:
        return AttemptError("connection", _root(chain, detail), "maybe")
    if "AuthenticationError" in names:
        return AttemptError("missing_key", detail)
    if names & _REFUSED_HERE:
        said = detail.partition(" To drop")[0]  # the rest is advice to programmers
        return AttemptError("bad_request", f"{said} (change the model's entry in models.yaml)")
    return AttemptError("malformed", f"HTTP 200 that is not of the protocol: {detail}", "maybe")


def _root(chain: list[BaseException], detail: str) -> str:
    """The innermost text: litellm's own says only that there was a connection error."""
    texts = [one_line(str(item)) for item in chain if str(item)]
    return texts[-1] if texts else detail
