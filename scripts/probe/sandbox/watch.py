"""A watch over the memory of a tree of processes, where no control group can be had.

It looks at every process of a command many times a second and calls for its end once they hold more
than the limit together. What this cannot see is said in docs/sandbox.md.
"""

from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")
_CALM_S, _TENSE_S = 0.05, 0.01
_HELD = ("RssAnon:", "RssShmem:")


class MemoryWatch:
    """Called again and again by the loop that moves a command's output."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._top = 0
        self.exceeded = False
        """Whether the command was stopped for it."""

    def start(self, top: int) -> None:
        """Watch a process of this number of the host, and all below it."""
        self._top = top

    def __call__(self) -> float | None:
        """Seconds until the next look, or None when the limit is passed."""
        pids = list(descendants(self._top))
        held = sum(_resident(pid) for pid in pids)
        if held > self._limit and sum(map(_proportional, pids)) > self._limit:
            self.exceeded = True
            return None
        return _TENSE_S if held > self._limit / 4 else _CALM_S


def descendants(top: int) -> Iterator[int]:
    """The process and all below it, as numbers of the host."""
    waiting = [top]
    while waiting:
        pid = waiting.pop()
        yield pid
        for thread in _threads(pid):
            waiting += map(int, _text(thread / "children").split())


def _threads(pid: int) -> list[Path]:
    """Its threads; none when the process has ended."""
    try:
        return list((_PROC / str(pid) / "task").iterdir())
    except OSError:
        return []


def _resident(pid: int) -> int:
    """Bytes of anonymous and shared memory that it has mapped; shared ones count in each."""
    lines = _text(_PROC / str(pid) / "status").splitlines()
    return sum(1_024 * int(line.split()[1]) for line in lines if line.startswith(_HELD))


def _proportional(pid: int) -> int:
    """The same with shared memory split among those that share it, where the kernel tells."""
    lines = _text(_PROC / str(pid) / "smaps_rollup").splitlines()
    wanted = [line for line in lines if line.startswith(("Pss_Anon:", "Pss_Shmem:"))]
    if not wanted:
        return _resident(pid)
    return sum(1_024 * int(line.split()[1]) for line in wanted)


def _text(path: Path) -> str:
    """Its text; empty when the process has ended."""
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
