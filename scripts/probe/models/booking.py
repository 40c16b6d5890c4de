"""The ledger's arithmetic: what its lines add up to, apart from files and locks.

Sums are whole numbers of 10⁻¹² US dollars: they do not depend on the order of the lines, and three
bookings of 0.1 fit under a cap of 0.3.
"""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from probe.records import LedgerLine

PICO = 10**12


def to_pico(usd: float) -> int:
    """US dollars as a whole number of 10⁻¹² of them."""
    return round(usd * PICO)


class Totals(NamedTuple):
    """US dollars by how sure they are; the parts are disjoint."""

    spent: float
    """Settled at what the provider's token counts cost."""
    uncertain: float
    """Settled at a bound, because no answer came that says what it cost."""
    open: float
    """Booked by calls that may still be under way."""
    lost: float
    """Booked by processes that are gone without having settled; counted at their bound."""
    written_off: float
    """Lost once, and settled by a person."""

    @property
    def committed(self) -> float:
        """All of it: what the cap is compared with."""
        return sum(map(to_pico, self)) / PICO


class Group(NamedTuple):
    """What bookings are summed by."""

    model: str
    """Key in ``models.yaml``."""
    stage: str
    """First word of the purpose."""


@dataclass(frozen=True, slots=True)
class Booking:
    """A booking that has not ended."""

    id: str
    pico: int
    """Its bound."""
    group: Group
    purpose: str
    process: str
    time: datetime


@dataclass(slots=True)
class Settled:
    """What ended, in 10⁻¹² US dollars; ``calls`` counts the settlements."""

    spent: int = 0
    uncertain: int = 0
    written_off: int = 0
    calls: int = 0


class Books:
    """The state that a sequence of ledger lines leads to."""

    def __init__(self) -> None:
        self.open: dict[str, Booking] = {}
        self.written_off: dict[str, tuple[Group, int]] = {}
        self.settled: defaultdict[Group, Settled] = defaultdict(Settled)
        self.committed = 0
        """10⁻¹² US dollars: everything that was settled, written off or is still booked."""

    def apply(self, line: LedgerLine) -> None:
        """Take in the next line.

        A settlement counts also when its booking is unknown or was written off before: money that
        was spent is never forgotten.
        """
        group, pico = Group(line.model, line.purpose.partition(" ")[0]), to_pico(line.usd)
        self.committed += pico
        if line.event == "book":
            self.open[line.booking] = Booking(
                line.booking, pico, group, line.purpose, line.process, line.time
            )
            return
        booking = self.open.pop(line.booking, None)
        if booking is not None:
            self.committed -= booking.pico
        if line.event == "write_off":
            self._write_off(line.booking, group, pico, known=booking is not None)
            return
        group, earlier = self.written_off.pop(line.booking, (group, 0))
        self.committed -= earlier
        settled = self.settled[group]
        settled.written_off -= earlier
        settled.calls += 1
        if line.certain:
            settled.spent += pico
        else:
            settled.uncertain += pico

    def _write_off(self, booking: str, group: Group, pico: int, *, known: bool) -> None:
        """Count a write-off; one of a booking that had ended already changes nothing."""
        if not known:
            self.committed -= pico
            return
        self.written_off[booking] = (group, pico)
        self.settled[group].written_off += pico
