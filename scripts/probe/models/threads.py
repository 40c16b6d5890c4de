"""Work on files off the event loop: an fsync or a lock that another process holds stops no call."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Threads:
    """A few threads that an event loop hands blocking work to."""

    def __init__(self, number: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(number, thread_name_prefix=name)

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call ``function`` in a thread; once begun it ends, whatever becomes of the caller."""
        loop = asyncio.get_running_loop()
        return await to_the_end(
            _awaited(loop.run_in_executor(self._pool, lambda: function(*args, **kwargs)))
        )

    def close(self) -> None:
        """Wait for what was begun."""
        self._pool.shutdown(wait=True)


async def to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """Await ``work`` even when the caller is cancelled meanwhile; the cancellation follows it."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            try:
                await asyncio.shield(task)
            except asyncio.CancelledError:
                continue
        raise


async def _awaited(future: asyncio.Future[T]) -> T:
    return await future
