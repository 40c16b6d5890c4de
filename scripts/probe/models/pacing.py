"""How many calls of a model are in flight: a limit that follows the server and a person.

Halved when the server says that it is too much, never below one; one more for every round of
answers after that, up to the ceiling (``concurrency`` in the models file, or ``probe tune``).
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

logger = logging.getLogger(__name__)


class Slots:
    """Places for calls in flight, given out in the order of asking; for one event loop only."""

    def __init__(self, model: str, ceiling: int) -> None:
        """All places are free.

        Args:
            model: its name, for the log.
            ceiling: calls in flight, at most.
        """
        self.ceiling = ceiling
        """Calls in flight, at most, when the server is content."""
        self.limit = float(ceiling)
        """Calls in flight, at most, now; its whole part counts."""
        self.in_use = 0
        """Calls in flight."""
        self._model = model
        self._queue: deque[asyncio.Future[None]] = deque()
        self._cut_at = float("-inf")
        self._closed_until = float("-inf")

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for a place and hold it."""
        await self._acquire()
        try:
            yield
        finally:
            self._release()

    @property
    def waiting(self) -> int:
        """Calls that wait for a place."""
        return len(self._queue)

    def set_ceiling(self, ceiling: int) -> None:
        """Change the ceiling; a person's word also ends a back-off."""
        if ceiling != self.ceiling:
            self.ceiling = ceiling
            self.limit = float(ceiling)
            self._admit()

    def succeeded(self) -> None:
        """Count an answer: after as many as fit at once, there is one more place."""
        self.limit = min(float(self.ceiling), self.limit + 1 / self.limit)
        self._admit()

    def back_off(self, sent_at: float) -> None:
        """Halve the limit after a rate limit.

        A burst of refusals is one message: a call that was sent before the last halving says
        nothing about the limit since.

        Args:
            sent_at: when the refused call was sent, on the event loop's clock.
        """
        if sent_at < self._cut_at:
            return
        self._cut_at = asyncio.get_running_loop().time()
        self.limit = max(1.0, self.limit / 2)
        logger.info("%s: rate limit, now %d calls in flight at most", self._model, int(self.limit))

    def pause(self, seconds: float) -> None:
        """Give out no places for this long: the server named the time."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        if until > self._closed_until:
            self._closed_until = until
            loop.call_at(until, self._admit)

    async def _acquire(self) -> None:
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(place)
        self._admit()
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._release()
            elif place in self._queue:
                self._queue.remove(place)
            raise

    def _release(self) -> None:
        self.in_use -= 1
        self._admit()

    def _admit(self) -> None:
        if asyncio.get_running_loop().time() < self._closed_until:
            return
        while self._queue and self.in_use < int(self.limit):
            place = self._queue.popleft()
            if not place.done():
                self.in_use += 1
                place.set_result(None)
