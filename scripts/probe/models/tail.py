"""The ledger's file: read on from where one stopped, and appended to line by line.

Only the holder of ``ledger.lock`` appends, so whatever stands behind the last newline while the
lock is held was written by a process that was killed, or on a disk that was full.
"""

import logging
import os
from pathlib import Path

from pydantic import ValidationError

from probe.errors import RecordError
from probe.models.booking import Books
from probe.records import LedgerLine

logger = logging.getLogger(__name__)

_CHUNK = 1 << 20


class LedgerTail:
    """A reader that remembers its place, and the books of all lines so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.books = Books()
        self._offset = 0
        self._lines = 0
        self._inode = 0

    def read(self) -> None:
        """Take in all complete lines that are new; without the lock, a last line may be half written.

        Raises:
            RecordError: a line is no ledger line, or the file cannot be read.
        """
        try:
            descriptor = os.open(self.path, os.O_RDONLY)
        except FileNotFoundError:
            self._forget_another_file(0, 0)
            return
        except OSError as error:
            raise RecordError(f"{self.path}: cannot read: {error.strerror}") from error
        try:
            status = os.fstat(descriptor)
            self._forget_another_file(status.st_ino, status.st_size)
            while self._offset < status.st_size and self._read_chunk(descriptor):
                pass
        finally:
            os.close(descriptor)

    def mend(self) -> None:
        """Complete or remove a last line that was cut; only with the lock, after :meth:`read`.

        Raises:
            RecordError: the file cannot be written.
        """
        try:
            with self.path.open("r+b") as stream:
                stream.seek(self._offset)
                fragment = stream.read()
                if not fragment:
                    return
                stream.seek(self._offset)
                if _parse(fragment) is None:
                    stream.truncate()
                    logger.warning(
                        "%s:%d: the last line was cut while it was written; removed: %r",
                        self.path,
                        self._lines + 1,
                        fragment[:200],
                    )
                    return
                stream.write(fragment + b"\n")
        except FileNotFoundError:
            return
        except OSError as error:
            raise RecordError(f"{self.path}: cannot write: {error.strerror}") from error
        self.read()

    def append(self, line: LedgerLine) -> None:
        """Write a line whole or not at all; only with the lock, after :meth:`mend`.

        Raises:
            RecordError: the disk is full or the file cannot be written.
        """
        data = line.model_dump_json(exclude_none=True).encode("utf-8", errors="replace") + b"\n"
        try:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            try:
                self._inode = os.fstat(descriptor).st_ino
                if os.write(descriptor, data) != len(data):
                    os.ftruncate(descriptor, self._offset)
                    raise OSError(0, "the disk is full")
            finally:
                os.close(descriptor)
        except OSError as error:
            raise RecordError(
                f"{self.path}: cannot write: {error.strerror}; free space or fix permissions, then "
                "run the same command again"
            ) from error
        self._offset += len(data)
        self._lines += 1
        self.books.apply(line)

    def sync(self) -> None:
        """Make what was appended survive a loss of power; needs no lock."""
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            os.fdatasync(descriptor)
        finally:
            os.close(descriptor)

    def _forget_another_file(self, inode: int, size: int) -> None:
        """Start anew when a person replaced, cut or removed the file."""
        if self._offset and (inode != self._inode or size < self._offset):
            logger.warning("%s: was replaced while it was in use; read anew", self.path)
            self.books, self._offset, self._lines = Books(), 0, 0
        self._inode = inode

    def _read_chunk(self, descriptor: int) -> bool:
        """Take in the complete lines of the next chunk; False where there is none."""
        size = _CHUNK
        data = os.pread(descriptor, size, self._offset)
        end = data.rfind(b"\n") + 1
        while not end and len(data) == size:
            size *= 2
            data = os.pread(descriptor, size, self._offset)
            end = data.rfind(b"\n") + 1
        for text in data[:end].split(b"\n")[:-1]:
            line = _parse(text)
            if line is None:
                raise RecordError(
                    f"{self.path}:{self._lines + 1}: not a line of a ledger; correct it, or delete "
                    "it if its money should not count"
                )
            self.books.apply(line)
            self._lines += 1
            self._offset += len(text) + 1
        return end > 0


def _parse(text: bytes) -> LedgerLine | None:
    try:
        return LedgerLine.model_validate_json(text)
    except ValidationError:
        return None
