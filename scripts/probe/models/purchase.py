"""The way of one answer that is not in the cache: paced, booked, asked, kept, settled.

The order keeps what was paid for. A slot comes first, so that only calls about to be sent hold
money. The booking is on disk before the request leaves: a killed process leaves a bound in the
ledger, never an unknown sum. The answer is on disk before the booking is settled: killed between
the two, the answer is used again, and the ledger has booked too much rather than too little; the
other way round, an answer that was paid for would be lost.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from probe import __version__
from probe.errors import ModelError
from probe.models.base import Outcome, Request
from probe.models.cache import CallStore
from probe.models.faults import AttemptError, Billed
from probe.models.pacing import Slots
from probe.models.prices import bound_usd, cost_usd, price_gap, usage_from_provider
from probe.models.purse import Purse
from probe.models.rates import Rates
from probe.models.retry import retrying
from probe.models.size import bound_tokens, prompt_tokens
from probe.models.threads import Threads, to_the_end
from probe.models.transport import Received, Transport
from probe.records import Call, Failure, Usage

logger = logging.getLogger(__name__)


class Lane(NamedTuple):
    """What all calls of one model in a process share."""

    slots: Slots
    """How many are in flight."""
    rates: Rates
    """How many a minute."""


@dataclass(frozen=True)
class Shop:
    """What all calls of a process share."""

    store: CallStore
    """Answers on disk."""
    files: Threads
    """Where answers are read and written."""
    purse: Purse
    """The money."""
    transport: Transport
    """The connections."""


class Purchase:
    """One call, from asking for a slot to the outcome; good for one :meth:`run`."""

    def __init__(self, shop: Shop, lane: Lane, request: Request, gate: Callable[[], None]) -> None:
        """Nothing happens yet.

        Args:
            shop: what the process shares.
            lane: what the model's calls share.
            request: what is asked.
            gate: called before each attempt; raises when the batch has been stopped.
        """
        self._shop = shop
        self._lane = lane
        self._request = request
        self._entry = request.model.entry
        self._gate = gate
        bound = bound_tokens(request.messages, request.schema, request.tools)
        self._bound = bound_usd(self._entry, bound)
        self._attempts = 0
        self._asked = time.monotonic()
        self._first_slot: float | None = None

    async def run(self) -> Outcome:
        """Buy the answer, or fail.

        Raises:
            BudgetError: it could pass the cap.
            RecordError: the cache folder cannot be written; the cost is in the ledger.
        """
        try:
            async for attempt in retrying(self._entry.max_attempts):
                with attempt:
                    got, booking = await self._attempt()
        except AttemptError as error:
            waited = time.monotonic() - self._asked
            failure = Failure(kind=error.kind, detail=self._told(error))
            return Outcome(None, failure, waiting_s=waited, attempts=self._attempts)
        return await to_the_end(self._keep(got, booking))

    async def _attempt(self) -> tuple[Received, str]:
        """One request under a booking of its own, which an answer leaves open.

        A booking never outlives the slot it was made in: a call that waits for money waits for
        calls that go on.
        """
        async with self._lane.slots.slot():
            if self._first_slot is None:
                self._first_slot = time.monotonic()
            self._gate()
            request = self._request
            booking = await self._shop.purse.book(
                request.model.name, self._bound, purpose=request.purpose, key=request.key
            )
            try:
                return await self._send(), booking
            except AttemptError as error:
                await to_the_end(self._settle_failed(booking, error.kind, error.billed))
                raise
            except BaseException:
                await to_the_end(self._settle_failed(booking, "cancelled", "maybe"))
                raise

    async def _send(self) -> Received:
        slots, rates = self._lane
        grant = await rates.acquire(await self._tokens())
        sent = asyncio.get_running_loop().time()
        self._attempts += 1
        try:
            got = await self._shop.transport.send(self._request)
        except AttemptError as error:
            if error.kind == "rate_limited":
                slots.back_off(sent)
                if error.retry_after is not None and error.can_pass:
                    slots.pause(error.retry_after)
            if error.billed == "no":
                await rates.give_back(grant, 0)
            raise
        slots.succeeded()
        await rates.give_back(grant, _used(got))
        return got

    async def _tokens(self) -> int:
        """Tokens that the call is counted with against the model's limit."""
        if self._entry.tpm is None:
            return 0
        asked = self._request
        expected = await self._shop.files.run(
            prompt_tokens, asked.messages, asked.schema, asked.tools
        )
        return expected + self._entry.max_output_tokens

    async def _settle_failed(self, booking: str, outcome: str, billed: Billed) -> None:
        certain = billed == "no"
        usd = 0.0 if certain else self._bound
        await self._shop.purse.settle(booking, usd, outcome=outcome, certain=certain)

    async def _keep(self, got: Received, booking: str) -> Outcome:
        """Write the answer, then what it cost: in this order, see above."""
        answered = time.monotonic() - got.latency_s
        usage, certain = self._usage(got, answered - (self._first_slot or self._asked))
        call = self._call(got, usage)
        try:
            await self._shop.files.run(self._shop.store.put, call)
        finally:
            usd = self._bound if usage.usd is None else usage.usd
            await self._shop.purse.settle(booking, usd, outcome="answered", certain=certain)
        _compare_bill(call, self._request.model.name)
        return Outcome(call, waiting_s=max(0.0, answered - self._asked), attempts=self._attempts)

    def _usage(self, got: Received, waiting_s: float) -> tuple[Usage, bool]:
        """The usage, and whether its cost is known."""
        counted = usage_from_provider(got.raw_usage)
        try:
            usd = cost_usd(self._entry, counted)
        except ModelError as error:
            logger.warning("%s; %.4f USD is booked, the most it can be", error, self._bound)
            usd = None
        facts = {
            "calls": 1,
            "attempts": self._attempts,
            "usd": usd,
            "working_s": got.latency_s,
            "waiting_s": max(0.0, waiting_s),
        }
        return counted.model_copy(update=facts), usd is not None

    def _call(self, got: Received, usage: Usage) -> Call:
        return Call(
            key=self._request.key,
            request=self._request.identity,
            answer=got.answer,
            served_model=got.served_model,
            usage=usage,
            raw_usage=got.raw_usage,
            provider_usd=got.provider_usd,
            latency_s=got.latency_s,
            time=datetime.now(UTC),
            probe_version=__version__,
        )

    def _told(self, error: AttemptError) -> str:
        attempts = f" (after {self._attempts} attempts)" if self._attempts > 1 else ""
        patience = ""
        if error.retry_after is not None and not error.can_pass:
            patience = f"; it asks for a pause of {error.retry_after:.0f} s, which is too long"
        return f"{error.detail}{patience}{attempts}"


def _used(got: Received) -> int | None:
    """All tokens of a call, as limits count them; None where the provider does not say."""
    usage = usage_from_provider(got.raw_usage)
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    return (usage.prompt_tokens or 0) + usage.output_tokens


_warned: set[str] = set()


def _compare_bill(call: Call, model: str) -> None:
    """Warn once a model when the provider bills another sum than our prices give."""
    gap = price_gap(call)
    if gap is None or model in _warned:
        return
    _warned.add(model)
    logger.warning(
        "%s: the provider billed %.6f USD for a call that our prices put at %.6f; check its price",
        model,
        call.provider_usd,
        call.usage.usd,
    )
