"""The ledger as one process uses it: its own calls under way are waited for before money runs out.

A booking holds the most that a call can cost, often many times what it does cost. A call that does
not fit beside the bookings of this process may fit when they have settled, so only a call that
does not fit with none of them is refused.
"""

import asyncio

from probe.errors import BudgetError, ProbeError
from probe.models.ledger import Ledger
from probe.models.threads import Threads, to_the_end


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
            while True:
                self._settled.clear()
                try:
                    return await self._book_or_undo(model, usd, purpose, key)
                except BudgetError:
                    if not self._paid and not self._settled.is_set():
                        raise
                await self._settled.wait()

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
