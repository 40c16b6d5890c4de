"""The money of all builds that share a cache folder: booked before a call, settled after it.

An append-only file under a lock rather than a number in a file: after kill -9 it still says which
calls were under way and what they may have cost. The check against the cap and the booking are one
step under ``ledger.lock``, so that no number of processes passes the cap together.
"""

import logging
import math
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from probe.errors import BudgetError, RecordError
from probe.models.alive import is_gone, this_process
from probe.models.booking import PICO, Booking, Group, Totals, to_pico
from probe.models.locks import file_lock
from probe.models.tail import LedgerTail
from probe.records import LedgerLine

logger = logging.getLogger(__name__)

_THREAD_LOCKS: dict[str, threading.RLock] = {}
"""One a lock file, see :func:`file_lock`."""


class Ledger:
    """The ledger of a state folder; for any number of threads, processes and nodes.

    Bookings of paid calls are on disk before :meth:`book` returns. A settlement may be lost with
    the machine's power; its booking then counts as lost, at its bound.
    """

    def __init__(self, folder: Path, cap_usd: float) -> None:
        """Nothing is read or made before it is needed.

        Args:
            folder: the state folder.
            cap_usd: US dollars that all lines of the ledger may come to.
        """
        self.folder = folder
        self.cap_usd = cap_usd
        self._lock_file = folder / "ledger.lock"
        self._thread_lock = _THREAD_LOCKS.setdefault(
            os.path.realpath(self._lock_file), threading.RLock()
        )
        self._tail = LedgerTail(folder / "ledger.jsonl")

    def book(self, model: str, usd: float, *, purpose: str, key: str | None = None) -> str:
        """Reserve the most that a call can cost, before it is made.

        Args:
            model: key in ``models.yaml``.
            usd: upper bound in US dollars; 0 is never refused.
            purpose: what it is for; its first word is the stage.
            key: the call's key in the cache, None where there is none.

        Returns:
            The booking, for :meth:`settle`.

        Raises:
            BudgetError: with this call, all lines could come to more than the cap.
            RecordError: the ledger cannot be read or written.
        """
        line = LedgerLine(
            event="book",
            booking=uuid4().hex,
            time=datetime.now(UTC),
            usd=usd,
            key=key,
            model=model,
            purpose=purpose,
            process=this_process(),
        )
        with self._locked():
            if usd > 0 and self._tail.books.committed + to_pico(usd) > to_pico(self.cap_usd):
                raise BudgetError(self._refusal(line))
            self._tail.append(line)
        if usd > 0:
            self._tail.sync()
        return line.booking

    def settle(self, booking: str, usd: float, *, outcome: str, certain: bool = True) -> None:
        """End a booking.

        Args:
            booking: what :meth:`book` returned.
            usd: what the call cost, or its bound when nobody says.
            outcome: ``answered`` or the failure's kind.
            certain: False where ``usd`` is a bound.

        Raises:
            RecordError: there is no such open booking, or the ledger cannot be written.
        """
        with self._locked():
            found = self._find(booking)
            if to_pico(usd) > found.pico:
                logger.warning(
                    "%s: cost %s, more than the bound %s it was booked at; correct the price or "
                    "max_output_tokens of %s",
                    found.purpose,
                    dollars(usd),
                    dollars(found.pico / PICO),
                    found.group.model,
                )
            self._tail.append(_ending("settle", found, usd, outcome=outcome, certain=certain))

    def totals(self) -> Totals:
        """What all lines come to; needs no lock, and no folder."""
        columns = zip(*self.groups().values(), strict=True)
        sums = [sum(map(to_pico, column)) / PICO for column in columns]
        return Totals(*sums) if sums else Totals(0, 0, 0, 0, 0)

    def groups(self) -> dict[Group, Totals]:
        """:meth:`totals` by model and stage, sorted."""
        with self._thread_lock:
            self._tail.read()
            sums = {
                group: [ended.spent, ended.uncertain, 0, 0, ended.written_off]
                for group, ended in self._tail.books.settled.items()
            }
            open_ = list(self._tail.books.open.values())
        for booking in open_:
            parts = sums.setdefault(booking.group, [0, 0, 0, 0, 0])
            parts[3 if is_gone(booking.process, booking.time) else 2] += booking.pico
        return {group: Totals(*(part / PICO for part in sums[group])) for group in sorted(sums)}

    def counts(self) -> dict[Group, int]:
        """Settled calls by model and stage."""
        with self._thread_lock:
            self._tail.read()
            return {group: settled.calls for group, settled in self._tail.books.settled.items()}

    def lost(self) -> list[Booking]:
        """Bookings whose process is gone, in the ledger's order."""
        with self._thread_lock:
            self._tail.read()
            open_ = list(self._tail.books.open.values())
        return [booking for booking in open_ if is_gone(booking.process, booking.time)]

    def write_off(self, usd: float = 0.0) -> list[Booking]:
        """End all lost bookings by a person's decision.

        Should a process turn out to live after all, its settlement replaces the decision.

        Args:
            usd: what they cost together, in US dollars; shared out in proportion to their bounds.

        Returns:
            The bookings that were ended.

        Raises:
            BudgetError: ``usd`` is no amount of money, or there is nothing that could have cost it.
            RecordError: the ledger cannot be read or written.
        """
        if not math.isfinite(usd) or usd < 0:
            raise BudgetError(f"--usd {usd:g}: expected US dollars, 0 or more")
        with self._locked():
            lost = self.lost()
            if usd > 0 and not lost:
                raise BudgetError(f"--usd {usd:g}: no booking is lost, so none can have cost it")
            for booking, share in zip(lost, _shares(lost, to_pico(usd)), strict=True):
                self._tail.append(_ending("write_off", booking, share / PICO))
        return lost

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Alone among all threads and processes, with everything read that others wrote."""
        with self._thread_lock, file_lock(self._lock_file):
            self._tail.read()
            self._tail.mend()
            yield

    def _find(self, booking: str) -> Booking:
        books = self._tail.books
        if booking in books.open:
            return books.open[booking]
        if booking in books.written_off:
            group, pico = books.written_off[booking]
            return Booking(booking, pico, group, group.stage, this_process(), datetime.now(UTC))
        raise RecordError(
            f"{self._tail.path}: booking {booking} is not open; it was settled before"
        )

    def _refusal(self, line: LedgerLine) -> str:
        totals = self.totals()
        wanted = (self._tail.books.committed + to_pico(line.usd)) / PICO
        lost = (
            f", of it {dollars(totals.lost)} by processes that are gone (`probe budget`)"
            if totals.lost
            else ""
        )
        return (
            f"{line.purpose}: the next call to {line.model} could cost {dollars(line.usd)}, but of "
            f"budget.usd {self.cap_usd:g} already "
            f"{dollars(totals.spent + totals.uncertain + totals.written_off)} is spent and "
            f"{dollars(totals.open + totals.lost)} booked{lost}; what was bought is kept: raise "
            f"budget.usd to {math.ceil(wanted * 100 - 1e-9) / 100:g} or more and run the same "
            "command again"
        )


def dollars(usd: float) -> str:
    """``$12.34``, with four digits below a dollar and more where all of them would be 0."""
    if usd == 0 or usd >= 1:
        return f"${usd:.2f}"
    return f"${usd:.4f}" if usd >= 0.0001 else f"${usd:.1g}"


def _ending(
    event: str, booking: Booking, usd: float, *, outcome: str | None = None, certain: bool = True
) -> LedgerLine:
    return LedgerLine.model_validate(
        {
            "event": event,
            "booking": booking.id,
            "time": datetime.now(UTC),
            "usd": usd,
            "model": booking.group.model,
            "purpose": booking.purpose,
            "process": this_process(),
            "certain": certain,
            "outcome": outcome,
        }
    )


def _shares(lost: list[Booking], pico: int) -> list[int]:
    """``pico`` in proportion to the bounds; whole numbers that sum to it."""
    whole = sum(booking.pico for booking in lost)
    shares, given, before = [], 0, 0
    for place, booking in enumerate(lost, 1):
        before += booking.pico
        upto = pico * before // whole if whole else pico * place // len(lost)
        shares.append(upto - given)
        given = upto
    return shares
