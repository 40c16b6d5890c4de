"""Whether the process that wrote a line of the ledger still runs, on this host or another."""

import os
import socket
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path

LOST_AFTER = timedelta(hours=6)
"""Age from which a booking of another host counts as lost: attempts, waiting and repairs of one
call take less, and a process of another host cannot be asked."""


def this_process() -> str:
    """``host:pid:start`` of the calling process; ``start`` differs when the number is used again."""
    return _identity(os.getpid())


@lru_cache(maxsize=4)
def _identity(pid: int) -> str:
    return f"{_host()}:{pid}:{_start(pid) or 'unknown'}"


def is_gone(process: str, since: datetime) -> bool:
    """Whether the process can no longer end what it began at ``since``.

    A process of this host is gone when no process has its number and start; one of another host
    after :data:`LOST_AFTER`. A container that shares the host's name but not its processes looks
    gone too early, which changes no sum: lost and open bookings count alike.
    """
    host, _, rest = process.rpartition(":")[0].rpartition(":")
    if host != _host() or not rest.isdecimal():
        return datetime.now(UTC) - since > LOST_AFTER
    return not _runs(int(rest)) or _start(int(rest)) != _recorded_start(process)


def _recorded_start(process: str) -> str | None:
    start = process.rpartition(":")[2]
    return None if start == "unknown" else start


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _host() -> str:
    return socket.gethostname().replace(":", "_")


def _start(pid: int) -> str | None:
    """Boot and start of a process, None where the system has no ``/proc``; a zombie has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # the name before it may hold anything
    return "ended" if fields[0] in "ZX" else f"{boot[:8]}-{fields[19]}"
