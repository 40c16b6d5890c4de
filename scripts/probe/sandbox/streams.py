"""Output of commands, taken in while they run and cut at a limit, so that no writer fills the host."""

import os
import selectors
import subprocess
import time
from collections.abc import Callable, Mapping
from typing import IO, BinaryIO, NamedTuple

STDOUT, STDERR = 1, 2
_CHUNK = 65_536


class Raw(NamedTuple):
    """What a command left, undecoded."""

    exit: int | None
    """Status, 128 + n after signal n; None where the time ran out."""
    stdout: bytes
    stderr: bytes
    truncated: bool
    """Whether some of the output was dropped."""
    wall_s: float
    """Seconds."""


class Capture:
    """The first ``limit`` bytes of two streams together; what follows is counted as cut."""

    def __init__(self, limit: int) -> None:
        self._left = limit
        self._parts: dict[int, list[bytes]] = {STDOUT: [], STDERR: []}
        self.truncated = False

    def add(self, stream: int, data: bytes) -> None:
        """Take what still fits."""
        if len(data) > self._left:
            self.truncated = True
        kept = data[: self._left]
        if kept:
            self._left -= len(kept)
            self._parts[stream].append(kept)

    def raw(self, status: int | None, started: float) -> Raw:
        """The streams, with the status and the time since ``started`` (monotonic seconds)."""
        out, err = (b"".join(self._parts[stream]) for stream in (STDOUT, STDERR))
        return Raw(status, out, err, self.truncated, time.monotonic() - started)


class Feed:
    """What a command reads from its standard input, handed over without ever blocking."""

    def __init__(self, source: BinaryIO | None) -> None:
        self._source = source
        self._held = b""

    def next(self) -> bytes:
        """The bytes to hand over now; empty at the end."""
        if not self._held and self._source is not None:
            self._held = self._source.read(_CHUNK)
        return self._held

    def took(self, number: int) -> None:
        """The receiver took so many of them."""
        self._held = self._held[number:]


def output_pipes(process: subprocess.Popen[bytes]) -> dict[int, int]:
    """Stream of each descriptor from which a process's output is read."""
    pipes = ((process.stdout, STDOUT), (process.stderr, STDERR))
    return {pipe.fileno(): stream for pipe, stream in pipes if pipe is not None}


def pump(
    outputs: Mapping[int, int],
    capture: Capture,
    *,
    ended: int,
    stdin: tuple[IO[bytes], Feed] | None = None,
    deadline: float,
    tick: Callable[[], float | None] = lambda: 3600.0,
) -> bool:
    """Move bytes until the command has ended, its time is up, or ``tick`` says stop.

    Args:
        outputs: Stream of each file descriptor to read.
        capture: Where output goes.
        ended: A descriptor that becomes readable when the command has ended (a pidfd).
        stdin: The command's input, closed here at the end of what it is fed.
        deadline: Monotonic seconds.
        tick: Called every time round; seconds until the next call, or None to stop at once.

    Returns:
        Whether the command ended by itself.
    """
    with selectors.DefaultSelector() as selector:
        for descriptor in outputs:
            os.set_blocking(descriptor, False)
            selector.register(descriptor, selectors.EVENT_READ)
        selector.register(ended, selectors.EVENT_READ)
        if stdin is not None:
            os.set_blocking(stdin[0].fileno(), False)
            selector.register(stdin[0].fileno(), selectors.EVENT_WRITE)
        while (left := deadline - time.monotonic()) > 0:
            pause = tick()
            if pause is None:
                return False
            for key, _ in selector.select(min(left, pause)):
                if key.fd == ended:
                    return True
                if key.fd in outputs:
                    if _take(key.fd, outputs[key.fd], capture):
                        selector.unregister(key.fd)
                elif stdin is not None and not _give(key.fd, stdin[1]):
                    selector.unregister(key.fd)
                    stdin[0].close()
    return False


def drain(outputs: Mapping[int, int], capture: Capture) -> None:
    """Take what dead writers left in the pipes."""
    for descriptor, stream in outputs.items():
        while (data := _read(descriptor)) is not None and data:
            capture.add(stream, data)


def _take(descriptor: int, stream: int, capture: Capture) -> bool:
    """Read once; whether the stream is at its end."""
    data = _read(descriptor)
    if data:
        capture.add(stream, data)
    return data == b""


def _read(descriptor: int) -> bytes | None:
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return None


def _give(descriptor: int, feed: Feed) -> bool:
    """Write once; whether there is more to hand over."""
    data = feed.next()
    if not data:
        return False
    try:
        feed.took(os.write(descriptor, data))
    except BlockingIOError:
        return True
    except BrokenPipeError:
        return False
    return True
