"""A lock that processes and nodes share, as a file on the file system that they share."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from probe.errors import RecordError


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Alone among all processes that use ``path``; among threads the caller has to see to it.

    POSIX locks belong to a process: they do not part its threads, and closing any descriptor of the
    file releases them.

    Raises:
        RecordError: the file cannot be opened.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise RecordError(f"{path}: cannot open: {error.strerror}") from error
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
