"""What comes over Docker's hijacked connections: frames of two streams, behind one header each."""

import select
import time
from collections.abc import Callable, Iterator
from typing import Any, Self

from probe.sandbox.keeper import Orders
from probe.sandbox.streams import STDERR, STDOUT, Capture, Feed

_HEADER = 8
_CHUNK = 65_536
_ASK_S = 0.25
"""How often the daemon is asked whether a silent command has ended."""
_SOON_S = 0.01
"""The same once its output is at its end."""


class Frames:
    """Takes a connection apart; a frame may come in pieces, which are passed on as they come."""

    def __init__(self) -> None:
        self._header = b""
        self._stream = STDOUT
        self._left = 0

    def take(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Stream and payload of each piece."""
        while data:
            if self._left:
                piece, data = data[: self._left], data[self._left :]
                self._left -= len(piece)
                yield self._stream, piece
                continue
            missing = _HEADER - len(self._header)
            self._header, data = self._header + data[:missing], data[missing:]
            if len(self._header) == _HEADER:
                self._stream = STDERR if self._header[0] == STDERR else STDOUT
                self._left = int.from_bytes(self._header[4:], "big")
                self._header = b""


def _read_ahead(handle: Any) -> bytes:
    """What came in one piece with the answer's header: the SDK's buffered reader has kept it.

    A quick command on a busy machine says all it has to say there.
    """
    reader = handle._response.raw._fp.fp
    return bytes(reader.read1()) if reader.peek() else b""


class Connection:
    """A hijacked connection, without blocking."""

    def __init__(self, handle: Any) -> None:
        """``handle`` is what the SDK returns for ``socket=True``."""
        self._handle = handle
        self._socket = getattr(handle, "_sock", handle)
        self._socket.setblocking(False)
        self._frames = Frames()
        self._early = _read_ahead(handle)
        self.closed = False
        """Whether the other side has closed it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fileno(self) -> int:
        """Its descriptor, for select."""
        return int(self._socket.fileno())

    def receive(self) -> list[tuple[int, bytes]]:
        """What has come; empty when nothing has, or the connection is closed."""
        if self._early:
            early, self._early = self._early, b""
            return list(self._frames.take(early))
        try:
            data = self._socket.recv(_CHUNK)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        self.closed = not data
        return list(self._frames.take(data))

    @property
    def has_early(self) -> bool:
        """Whether something has come that no poll will announce."""
        return bool(self._early)

    def pass_on(self, capture: Capture) -> None:
        """Hand what has come to a capture."""
        for stream, piece in self.receive():
            capture.add(stream, piece)

    def send(self, data: bytes) -> int:
        """Send what can be sent at once; the number of bytes."""
        try:
            return int(self._socket.send(data))
        except BlockingIOError:
            return 0
        except OSError:
            return len(data)

    def end_input(self) -> None:
        """Close our direction only."""
        try:
            self._socket.shutdown(1)
        except OSError:
            self.closed = True

    def close(self) -> None:
        """Close it."""
        self._handle.close()
        self._socket.close()


class KeeperStream(Connection, Orders):
    """The line to :mod:`probe.sandbox.keeper`."""

    def take(self) -> bytes:
        """What the keeper said."""
        return b"".join(piece for _, piece in self.receive())


def follow(
    connection: Connection,
    keeper: Connection,
    capture: Capture,
    feed: Feed | None,
    deadline: float,
    running: Callable[[], bool],
) -> bool:
    """Move a command's bytes until it has ended or its time is up.

    Args:
        connection: The command's.
        keeper: The container's own; when it ends, the container has.
        capture: Where output goes.
        feed: Input; None for none.
        deadline: Monotonic seconds.
        running: Asks the daemon whether the command still runs: what it started may hold its
            output open.

    Returns:
        Whether the command ended by itself.
    """
    poller = select.poll()
    poller.register(keeper, select.POLLIN)
    poller.register(connection, select.POLLIN | (select.POLLOUT if feed else 0))
    asked = time.monotonic()
    if connection.has_early:
        connection.pass_on(capture)
    while (now := time.monotonic()) < deadline:
        if now >= asked + (_SOON_S if connection.closed else _ASK_S):
            asked = now
            if not running():
                return True
        pause = _SOON_S if connection.closed else min(deadline, asked + _ASK_S) - now
        for descriptor, event in poller.poll(max(0.0, pause) * 1_000):
            if descriptor == keeper.fileno():
                return True
            if event & ~select.POLLOUT:
                connection.pass_on(capture)
            if connection.closed:
                poller.unregister(connection)
                asked = 0.0
            elif event & select.POLLOUT and feed is not None and not _give(connection, feed):
                poller.modify(connection, select.POLLIN)
    return False


def drain(connection: Connection, capture: Capture, timeout_s: float) -> bool:
    """Take what is left; whether the end was reached in time."""
    deadline = time.monotonic() + timeout_s
    while not connection.closed:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([connection], [], [], left)[0]:
            return False
        connection.pass_on(capture)
    return True


def _give(connection: Connection, feed: Feed) -> bool:
    """Send once; whether there is more."""
    data = feed.next()
    if data:
        feed.took(connection.send(data))
        return True
    connection.end_input()
    return False
