"""Which process made something, so that a later one can tell whether it is still wanted."""

import os
import socket
from pathlib import Path


def run_id() -> str:
    """This process: host, number and time of start."""
    return _identity(os.getpid())


def is_gone(run: str) -> bool:
    """Whether the process of a :func:`run_id` of this host has ended; of another host, False."""
    host, _, rest = run.partition("/")
    number = rest.partition("/")[0]
    return host == socket.gethostname() and number.isdigit() and run != _identity(int(number))


def _identity(pid: int) -> str:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        started = fields[19]
    except OSError:
        started = "unknown"
    return f"{socket.gethostname()}/{pid}/{started}"
