"""The first process of a container: it holds the sandbox open and kills on demand.

It is root inside, without a capability but the one to kill, while all foreign code runs as another
user that cannot touch it. Its standard input comes from us: each line is an order to kill everything
else, answered when nothing is left; its end (PROBE closed it, or was killed) ends the container.
``kill`` and ``read`` are built into bash, so that an order works also when no process can be made.
"""

import select
import time
from abc import ABC, abstractmethod
from collections.abc import Callable

from probe.errors import SandboxError

SCRIPT = """
echo ready
while read -r order; do
    while kill -9 -1 2>/dev/null; do read -r -t 0.005 nothing; done
    echo "$order"
done
"""

COMMAND = ("/bin/bash", "-c", SCRIPT)
LIMITED = 'ulimit -H -S -d "$1" && shift && exec "$@"'
"""Runs a command with a limit on each process's own memory, which is set inside: the engine's own
starter would not fit."""
USER = "1000:1000"
"""User and group that commands run as."""
_PAUSE_S = 0.01
WORK_SHARE = 0.75
"""Part of the disk limit that the work folder gets; /tmp gets the rest."""
SPARE_PROCESSES = 1
"""The keeper itself."""
FEWEST_PROCESSES = 24
"""An engine's own threads need room for a moment when a command starts."""


def sizes(disk_mb: int) -> tuple[int, int]:
    """Bytes of the work folder and of /tmp."""
    total = disk_mb * 1_000_000
    work = int(total * WORK_SHARE)
    return work, total - work


class Orders(ABC):
    """Our end of the line to a keeper; an engine says how bytes are moved."""

    closed: bool
    """Whether the keeper has closed its end."""
    _heard = b""
    _orders = 0

    @abstractmethod
    def fileno(self) -> int:
        """Descriptor that becomes readable when the keeper speaks."""

    @abstractmethod
    def take(self) -> bytes:
        """What it said, without waiting."""

    @abstractmethod
    def send(self, data: bytes) -> int:
        """Tell it something short."""

    def expect(
        self, word: str, timeout_s: float, meanwhile: Callable[[], None] | None = None
    ) -> None:
        """Wait for a line, and do something else meanwhile where that is given.

        Raises:
            SandboxError: something else came, or nothing in time: the container is gone.
        """
        deadline = time.monotonic() + timeout_s
        while b"\n" not in self._heard and not self.closed:
            left = deadline - time.monotonic()
            if left <= 0:
                raise SandboxError(
                    f"the sandbox died: no answer from its first process in {timeout_s:.0f} s"
                )
            if select.select([self], [], [], min(left, _PAUSE_S) if meanwhile else left)[0]:
                self._heard += self.take()
            if meanwhile:
                meanwhile()
        line, _, self._heard = self._heard.partition(b"\n")
        if line.decode("utf-8", "replace") != word:
            raise SandboxError(f"the sandbox died: its first process is gone {line[:200]!r}")

    def kill_all(self, timeout_s: float, meanwhile: Callable[[], None] | None = None) -> None:
        """Kill everything inside but the keeper, and wait until it is dead.

        Raises:
            SandboxError: the container is gone.
        """
        self._orders += 1
        self.send(f"{self._orders}\n".encode())
        self.expect(str(self._orders), timeout_s, meanwhile)
