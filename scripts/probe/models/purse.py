"""The ledger as one process uses it: calls under way are waited for before money runs out.

A booking holds the most that a call can cost, often many times what it does cost. A call that does
not fit beside the bookings of calls under way, of this process or another, may fit when they have
settled; only a call that does not fit with none of them is refused. Nobody waits for ever: what is
booked has been sent, or is about to be, and ends by its deadline, unless its node died.
"""

import asyncio
import time

from probe.errors import BudgetError, ProbeError
from probe.models.ledger import Ledger
from probe.models.threads import Threads, to_the_end

_POLL_S = 0.5  # other processes do not say when they settle
_PATIENCE_S = 900.0  # a node that died looks alive from here


class _Others:
    """What other processes have booked, while this one waits for them."""

    def __init__(self) -> None:
        self._seen: float | None = None
        self._since = 0.0

    def may_settle(self, open_usd: float, now: float) -> bool:
        """Whether to wait on: something is booked, and that has changed within living memory."""
        if open_usd != self._seen:
            self._seen, self._since = open_usd, now
        return open_usd > 0 and now - self._since < _PATIENCE_S


class Purse:
    """Bookings of one process, from one event loop."""

    def __init__(self, ledger: Ledger, threads: Threads) -> None:
        """Nothing is booked.

        Args:
            ledger: where it is written.
            threads: where the ledger's lock is waited for.
        """
        self._ledger = ledger
        self._threads = threads
        self._paid: set[str] = set()
        self._turn = asyncio.Lock()
        self._settled = asyncio.Event()

    async def book(self, model: str, usd: float, *, purpose: str, key: str) -> str:
        """Reserve the most that a call can cost, in US dollars; wait while that may help.

        Paid calls wait in the order of asking, each until there is room for it.

        Raises:
            BudgetError: it does not fit, and no call of this process can make room.
        """
        if usd == 0:
            return await self._book_or_undo(model, usd, purpose, key)
        async with self._turn:
            others = _Others()
            while True:
                self._settled.clear()
                try:
                    return await self._book_or_undo(model, usd, purpose, key)
                except BudgetError:
                    if not await self._may_get_room(others):
                        raise

    async def _may_get_room(self, others: "_Others") -> bool:
        """Wait until a call under way may have ended; False where there is none to wait for."""
        if self._paid or self._settled.is_set():
            await self._settled.wait()
            return True
        totals = await self._threads.run(self._ledger.totals)
        if not others.may_settle(totals.open, time.monotonic()):
            return False
        await asyncio.sleep(_POLL_S)
        return True

    async def settle(self, booking: str, usd: float, *, outcome: str, certain: bool = True) -> None:
        """End a booking with its cost in US dollars, or with a bound that is not certain."""
        try:
            await self._threads.run(
                self._ledger.settle, booking, usd, outcome=outcome, certain=certain
            )
        finally:
            self._paid.discard(booking)
            self._settled.set()

    async def _book_or_undo(self, model: str, usd: float, purpose: str, key: str) -> str:
        """Book; a caller that is cancelled meanwhile leaves nothing booked behind."""
        work = asyncio.ensure_future(self._book(model, usd, purpose, key))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            await to_the_end(self._undo(work))
            raise

    async def _undo(self, work: asyncio.Future[str]) -> None:
        try:
            booking = await work
        except ProbeError:
            return
        await self.settle(booking, 0.0, outcome="cancelled")

    async def _book(self, model: str, usd: float, purpose: str, key: str) -> str:
        booking = await self._threads.run(self._ledger.book, model, usd, purpose=purpose, key=key)
        if usd > 0:
            self._paid.add(booking)
        return booking
