"""Requests and tokens a minute, counted over all processes that share the cache folder.

What each second was granted is kept for a minute in ``pace/{model}.json``, and every change is made
under a lock: a limit is kept by any number of processes together, and by one that starts anew.
"""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from probe.config import ModelEntry
from probe.errors import RecordError
from probe.models.locks import file_lock
from probe.models.threads import Threads
from probe.records import Record, read_json, write_json

WINDOW_S = 60
"""Seconds that ``rpm`` and ``tpm`` speak of."""

_LONGEST_NAP_S = 1.0
_THREADS_LOCK = threading.Lock()


class Grant(NamedTuple):
    """Leave to send one call."""

    second: int
    """The second of the epoch that it is counted in."""
    tokens: int
    """Tokens that it is counted with."""


class Pace(Record):
    """What was granted lately (``pace/{model}.json``)."""

    granted: dict[int, tuple[int, int]] = Field(default_factory=dict)
    """Requests and tokens by the second of the epoch, for the last minute."""

    def at(self, now: float) -> "Pace":
        """Without what is too old to matter; a second counts until a minute after its end."""
        oldest = int(now) - WINDOW_S
        return Pace(granted={s: n for s, n in self.granted.items() if s >= oldest})

    def fits(self, tokens: int, rpm: int | None, tpm: int | None) -> bool:
        """Whether one more call is within the limits; one of more than ``tpm`` goes alone."""
        requests = sum(count for count, _ in self.granted.values())
        used = sum(count for _, count in self.granted.values())
        if rpm is not None and requests + 1 > rpm:
            return False
        return tpm is None or used == 0 or used + tokens <= tpm

    def plus(self, second: int, requests: int, tokens: int) -> "Pace":
        """With so many more requests and tokens in a second; fewer, where negative."""
        before = self.granted.get(second, (0, 0))
        after = (max(0, before[0] + requests), max(0, before[1] + tokens))
        return Pace(granted={**self.granted, second: after})

    def wait_s(self, now: float) -> float:
        """Seconds until the oldest grant is forgotten."""
        return max(0.0, min(self.granted, default=int(now)) + WINDOW_S + 1 - now)


class Rates:
    """The limits of one model; without any, no file is touched."""

    def __init__(self, folder: Path, model: str, entry: ModelEntry, threads: Threads) -> None:
        """Nothing is read before the first call.

        Args:
            folder: the cache folder.
            model: the model's name.
            entry: its limits.
            threads: where files are read and written.
        """
        self.limited = entry.rpm is not None or entry.tpm is not None
        """Whether there is any limit."""
        self._rpm, self._tpm = entry.rpm, entry.tpm
        self._path = folder / "pace" / f"{model}.json"
        self._threads = threads
        self._turn = asyncio.Lock()

    async def acquire(self, tokens: int) -> Grant | None:
        """Wait until a call of at most so many tokens fits; None without limits.

        Calls of one process are let through in the order of asking.

        Raises:
            RecordError: the folder cannot be written.
        """
        if not self.limited:
            return None
        async with self._turn:
            while True:
                answer = await self._threads.run(self._try, tokens)
                if isinstance(answer, Grant):
                    return answer
                await asyncio.sleep(min(_LONGEST_NAP_S, answer))

    async def give_back(self, grant: Grant | None, used: int | None) -> None:
        """Return what a call did not use of its tokens; None is nothing known, and keeps all."""
        if grant is not None and used is not None and self._tpm is not None:
            await self._threads.run(self._return, grant, grant.tokens - used)

    def _try(self, tokens: int) -> Grant | float:
        """A grant, or the seconds until another try makes sense."""
        now = time.time()
        with self._locked():
            pace = self._read().at(now)
            if not pace.fits(tokens, self._rpm, self._tpm):
                return max(0.02, pace.wait_s(now))
            write_json(self._path, pace.plus(int(now), 1, tokens))
        return Grant(int(now), tokens)

    def _return(self, grant: Grant, tokens: int) -> None:
        with self._locked():
            pace = self._read()
            if grant.second in pace.granted:
                write_json(self._path, pace.plus(grant.second, 0, -tokens))

    def _read(self) -> Pace:
        try:
            return read_json(self._path, Pace) if self._path.exists() else Pace()
        except RecordError:
            return Pace()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with _THREADS_LOCK, file_lock(self._path.with_suffix(".lock")):
            yield
