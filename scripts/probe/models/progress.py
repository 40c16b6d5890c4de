"""How far a batch is, for whoever waits for it: a bar on a terminal, a log line now and then else."""

import logging
import sys
import time
from types import TracebackType
from typing import Any, Self

from tqdm import tqdm

from probe.models.base import Reply

logger = logging.getLogger(__name__)

LOG_EVERY_S = 30.0
"""Seconds between two lines in a log."""


class Progress:
    """Counts of one batch; shown only when asked for and when there is more than one item."""

    def __init__(self, purpose: str, items: int, cached: int, *, shown: bool) -> None:
        """Begin with what the cache answered.

        Args:
            purpose: what the batch is for.
            items: all questions, cached ones included.
            cached: those that the cache has answered already; no part of the speed.
            shown: whether to show anything.
        """
        self.usd = 0.0
        """US dollars spent so far on the batch."""
        self._purpose = purpose
        self._items = items
        self._cached = cached
        self._first = cached
        self._done = cached
        self._failed = 0
        self._shown = shown and items > 1
        self._bar: tqdm[Any] | None = None
        self._began = self._logged = time.monotonic()

    def __enter__(self) -> Self:
        if self._shown and sys.stderr.isatty():
            self._bar = tqdm(
                total=self._items,
                initial=self._cached,
                desc=self._purpose,
                unit="item",
                dynamic_ncols=True,
                file=sys.stderr,
            )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._shown and self._done > self._first:
            self._log()

    def count(self, reply: Reply[Any], usd: float) -> None:
        """Count a reply.

        Args:
            reply: the reply.
            usd: US dollars that it has cost just now.
        """
        self._done += 1
        self._cached += reply.cached
        self._failed += reply.failure is not None
        self.usd += usd
        if self._bar is not None:
            self._bar.set_postfix_str(self._state(), refresh=False)
            self._bar.update()
        elif self._shown and time.monotonic() - self._logged >= LOG_EVERY_S:
            self._log()

    def line(self) -> str:
        """Everything in one line."""
        left = self._left_s()
        time_left = "" if left is None else f", about {_duration(left)} left"
        return f"{self._purpose}: {self._done} of {self._items} done, {self._state()}{time_left}"

    def _state(self) -> str:
        return f"{self._cached} cached, {self._failed} failed, {self.usd:.4f} USD"

    def _left_s(self) -> float | None:
        bought = self._done - self._first
        if bought == 0 or self._done == self._items:
            return None
        return (time.monotonic() - self._began) / bought * (self._items - self._done)

    def _log(self) -> None:
        self._logged = time.monotonic()
        logger.info("%s", self.line())


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
