"""The money and the limits of one pass: what may still be called, and what it has cost."""

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from probe.errors import BudgetError, ModelError
from probe.gateway.report import GatewayLine, GatewayReport, LimitHit
from probe.gateway.screen import Body, RefusalError
from probe.models.base import Model
from probe.models.ledger import Ledger
from probe.models.prices import bound_usd, cost_usd, usage_from_provider
from probe.models.size import bound_tokens
from probe.records import Usage

_NO_PROVIDER = ("connection", "timeout", "status 5")
_NO_ENTRY = ("status 401", "status 403")
"""No way in: a failure of the infrastructure as well, as long as there has been no answer."""


@dataclass(frozen=True)
class Caps:
    """What a pass may use; checked before each call, so that calls in flight can pass a cap."""

    calls: int | None = None
    """Calls that are passed on."""
    usd: float | None = None
    """US dollars; ``budget.usd`` holds for the whole workflow besides, and strictly."""
    seconds: float | None = None
    """Seconds of wall time from the gateway's start; calls in flight come to their end."""
    failures: int = 10
    """Calls in a row that find no provider (no connection, no answer in time, status 5xx): clients
    would go on for minutes."""
    first_failures: int = 3
    """The same before any call was answered, where a session that ends loses nothing; a key that is
    refused counts as well."""


@dataclass(frozen=True)
class Booking:
    """A call that was let through."""

    id: str
    """In the ledger."""
    bound: float
    """US dollars that it can cost at most."""


class Account:
    """Books a call's bound before it and its cost after it, in the ledger of the workflow."""

    def __init__(self, model: Model, ledger: Ledger, caps: Caps, purpose: str) -> None:
        """Start the clock of ``caps.seconds``."""
        self.limit: LimitHit | None = None
        """The limit that was hit; from then on every call is refused."""
        self.calls = 0
        """Calls let through."""
        self._model = model
        self._ledger = ledger
        self._caps = caps
        self._purpose = purpose
        self._spent = 0.0
        self._failures = 0
        self._answered = False
        self._started = time.monotonic()

    def check(self) -> None:
        """Let a call through, or not.

        Raises:
            RefusalError: a limit has been hit.
        """
        caps = self._caps
        used = time.monotonic() - self._started
        if self.limit is None:
            if caps.calls is not None and self.calls >= caps.calls:
                self.limit = "calls"
            elif caps.usd is not None and self._spent >= caps.usd and self.calls:
                self.limit = "usd"
            elif caps.seconds is not None and used >= caps.seconds:
                self.limit = "seconds"
            elif self._failures >= self._patience:
                self.limit = "failures"
        if self.limit is not None:
            told = _told(caps, self.limit, self._failures)
            raise RefusalError(400, f"limit_{self.limit}", f"{told}; end here")

    @property
    def _patience(self) -> int:
        """Calls in a row that may find no provider."""
        if self._answered:
            return self._caps.failures
        return min(self._caps.failures, self._caps.first_failures)

    def book(self, body: Body) -> Booking:
        """Reserve the most that a call can cost.

        Raises:
            RefusalError: a limit has been hit, the workflow's budget included.
        """
        self.check()
        tools = body.get("tools") or []
        rest = {key: value for key, value in body.items() if key != "tools"}
        bound = bound_usd(self._model.entry, bound_tokens([rest], None, tools))
        try:
            booking = self._ledger.book(self._model.name, bound, purpose=self._purpose)
        except BudgetError as error:
            self.limit = "budget"
            raise RefusalError(400, "limit_budget", str(error)) from error
        self.calls += 1
        return Booking(booking, bound)

    def settle(
        self, booking: Booking, raw: dict[str, object], outcome: str, *, billed: bool, whole: bool
    ) -> tuple[Usage, bool]:
        """End a call.

        Args:
            booking: of the call.
            raw: the provider's usage object; empty where none came.
            outcome: as in the log.
            billed: whether it can have cost money at all.
            whole: whether the answer came to its end, so that ``raw`` is its last word.

        Returns:
            The usage with its cost in ``usd``, and whether that is certain.
        """
        nobody = _NO_PROVIDER if self._answered else (*_NO_PROVIDER, *_NO_ENTRY)
        self._failures = self._failures + 1 if outcome.startswith(nobody) else 0
        self._answered = self._answered or outcome == "answered"
        usage, certain = usage_from_provider(raw), True
        usd = 0.0
        if billed:
            usd, certain = self._cost(usage, booking, whole=whole)
        self._spent += usd
        self._ledger.settle(booking.id, usd, outcome=outcome, certain=certain)
        return usage.model_copy(update={"usd": usd}), certain

    def _cost(self, usage: Usage, booking: Booking, *, whole: bool) -> tuple[float, bool]:
        try:
            if whole or self._model.entry.free:
                return cost_usd(self._model.entry, usage), True
        except ModelError:
            return booking.bound, False
        return booking.bound, False


def _told(caps: Caps, limit: LimitHit, failures: int) -> str:
    if limit == "failures":
        return f"{failures} calls in a row found no provider"
    given = getattr(caps, limit, None)
    shown = "" if given is None else f" of {given:g}"
    return f"the limit{shown} on {limit} of this session is reached"


def summed(lines: list[GatewayLine], limit: LimitHit | None) -> GatewayReport:
    """The report over the lines of a log."""
    passed = [line for line in lines if not line.outcome.startswith(("refused", "counted"))]
    answered = [line for line in passed if line.outcome == "answered"]
    refused = [line.outcome.removeprefix("refused: ") for line in lines if _is_refused(line)]
    working = sum(line.latency_s for line in answered)
    usage = sum((line.usage for line in passed), Usage())
    return GatewayReport(
        calls=len(passed),
        answered=len(answered),
        uncertain=sum(not line.certain for line in passed),
        refused=dict(sorted(Counter(refused).items())),
        errors=dict(sorted(Counter(x.outcome for x in passed if x.outcome != "answered").items())),
        stripped=dict(sorted(Counter(name for line in lines for name in line.stripped).items())),
        usage=usage.model_copy(
            update={"calls": len(answered), "attempts": len(passed), "working_s": working}
        ),
        limit=limit,
        asked_models=_names(line.asked_model for line in passed),
        served_models=_names(line.served_model for line in passed),
        efforts=_names(line.effort for line in passed),
    )


def _is_refused(line: GatewayLine) -> bool:
    return line.outcome.startswith("refused")


def _names(values: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(sorted({value for value in values if value}))
