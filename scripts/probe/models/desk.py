"""Where the calls of a process meet: one lane a model, one call for equal requests."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from probe.models.base import Model, Outcome, Request
from probe.models.batch import Stop
from probe.models.cache import CallStore
from probe.models.ledger import Ledger
from probe.models.pacing import Slots
from probe.models.purchase import Lane, Purchase, Shop
from probe.models.purse import Purse
from probe.models.rates import Rates
from probe.models.threads import Threads
from probe.models.transport import Transport
from probe.models.tuning import POLL_S, TunedCeiling


@dataclass
class _Flight:
    """A call that several may wait for."""

    task: asyncio.Task[Outcome]
    waiting: int = 0


class Desk:
    """Everything behind a client that lives on its event loop."""

    def __init__(self, folder: Path, store: CallStore, ledger: Ledger) -> None:
        """Nothing is opened yet.

        Args:
            folder: the cache folder.
            store: its answers.
            ledger: its money.
        """
        self._folder = folder
        self._ledger = ledger
        self._files = Threads(4, "probe-files")
        self._money = Threads(1, "probe-ledger")
        self._store = store
        self._shop: Shop | None = None
        self._lanes: dict[tuple[str, int | None, int | None], Lane] = {}
        self._ceilings: list[tuple[Slots, TunedCeiling]] = []
        self._watch: asyncio.Task[None] | None = None
        self._flights: dict[str, _Flight] = {}

    async def answer(self, request: Request, stop: Stop) -> Outcome:
        """From the cache, from an equal call in flight, or bought.

        Raises:
            BudgetError: it could pass the cap, or its batch has been stopped.
        """
        flight = self._flights.get(request.key)
        if flight is not None:
            outcome = await self._wait(flight)
            return replace(outcome, cached=outcome.call is not None, waiting_s=0.0, attempts=0)
        flight = _Flight(asyncio.create_task(self._remember_or_buy(request, stop)))
        self._flights[request.key] = flight
        flight.task.add_done_callback(lambda _: self._flights.pop(request.key))
        return await self._wait(flight)

    async def _remember_or_buy(self, request: Request, stop: Stop) -> Outcome:
        """The cache once more: an equal call may have ended since the caller looked."""
        known = await self._files.run(self._store.get, request.key)
        if known is not None:
            return Outcome(known, cached=True)
        lane, shop = self._lane(request.model), self._open_shop()
        await shop.transport.open()
        return await Purchase(shop, lane, request, stop.check).run()

    async def disconnect(self) -> None:
        """Close the connections; on the event loop."""
        if self._shop is not None:
            await self._shop.transport.close()

    def close(self) -> None:
        """End the threads; after the event loop has ended."""
        self._files.close()
        self._money.close()

    async def _wait(self, flight: _Flight) -> Outcome:
        """The outcome of a call; when nobody waits for it any more, it is cancelled."""
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.task.done():
                flight.task.cancel()
                with suppress(asyncio.CancelledError):
                    await flight.task

    def _open_shop(self) -> Shop:
        if self._shop is None:
            purse = Purse(self._ledger, self._money)
            self._shop = Shop(self._store, self._files, purse, Transport())
        return self._shop

    def _lane(self, model: Model) -> Lane:
        entry = model.entry
        place = (model.name, entry.rpm, entry.tpm)
        if place not in self._lanes:
            ceiling = TunedCeiling(self._folder, model.name, entry.concurrency)
            slots = Slots(model.name, ceiling.current())
            rates = Rates(self._folder, model.name, entry, self._files)
            self._lanes[place] = Lane(slots, rates)
            self._ceilings.append((slots, ceiling))
        if self._watch is None:
            self._watch = asyncio.create_task(self._follow())
        return self._lanes[place]

    async def _follow(self) -> None:
        """Carry changes of ``probe tune`` to the slots while calls run."""
        while True:
            await asyncio.sleep(POLL_S)
            for slots, ceiling in self._ceilings:
                slots.set_ceiling(await self._files.run(ceiling.current))
