"""Bought answers as plain files, named by what was asked.

A file an answer rather than a database: it is complete or absent after kill -9 and on a full disk,
many processes and nodes share it without a lock, and a person can read, count and delete it.
"""

import json
import logging
import os
import re
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from probe.errors import RecordError
from probe.records import Call, atomic_writer, content_sha256

logger = logging.getLogger(__name__)

_KEY = re.compile(r"[0-9a-f]{64}")
_ENTRY = re.compile(r"([0-9a-f]{64})\.json")


class CorruptEntryError(RecordError):
    """What should be an entry of the cache is none; ``reason`` is one hyphenated word."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class CallStore:
    """The answers below ``{folder}/calls``; corrupt entries move to ``{folder}/quarantine``.

    Two processes that buy the same answer at once write the same name, and the later one stays:
    rare, and harmless.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._calls = os.fspath(folder / "calls")

    def path(self, key: str) -> Path:
        """Where the answer of this key is or would be.

        Raises:
            RecordError: ``key`` is no SHA-256 in hexadecimal.
        """
        return Path(self._file(key))

    def get(self, key: str) -> Call | None:
        """The recorded answer, None where there is none.

        The whole entry is verified: its request must hash to ``key``. A corrupt one is moved to
        the quarantine, logged as a warning, and None is returned, so that it is asked again.

        Raises:
            RecordError: ``key`` is no key, or the file cannot be read at all.
        """
        file = self._file(key)
        data = _read(file)
        if data is None:
            return None
        try:
            return parse_entry(data, key)
        except CorruptEntryError as error:
            logger.warning("%s: %s; moved to quarantine, it will be asked again", file, error)
            return self._set_aside(key, error.reason)

    def put(self, call: Call) -> None:
        """Record an answer: complete and on disk when this returns, or absent.

        Raises:
            RecordError: the disk is full or the folder cannot be written, or the call's key is not
                the hash of its request.
        """
        data = entry_bytes(call)
        parse_entry(data, call.key)
        target = self.path(call.key)
        with atomic_writer(target) as stream:
            stream.write(data)
        _sync_folder(target.parent)

    def __iter__(self) -> Iterator[str]:
        """Keys of all entries, sorted; files of other names are left out."""
        for folder in sorted(Path(self._calls).glob("[0-9a-f][0-9a-f]")):
            for name in sorted(file.name for file in folder.iterdir()):
                match = _ENTRY.fullmatch(name)
                if match and name[:2] == folder.name:
                    yield match[1]

    def quarantine(self, key: str, reason: str) -> Path | None:
        """Move an entry out of the cache; None where another process was faster.

        Args:
            key: the entry.
            reason: becomes part of the new name, ``{key}.{reason}.{time}.json``.
        """
        target = self.folder / "quarantine" / f"{key}.{reason}.{time.time_ns()}.json"
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            Path(self._file(key)).rename(target)
        except FileNotFoundError:
            return None
        return target

    def _set_aside(self, key: str, reason: str) -> Call | None:
        """Quarantine a corrupt entry, unless another process has just replaced it by a good one."""
        moved = self.quarantine(key, reason)
        if moved is None:
            return None
        try:
            call = parse_entry(moved.read_bytes(), key)
        except CorruptEntryError:
            return None
        moved.rename(self._file(key))
        return call

    def _file(self, key: str) -> str:
        if not _KEY.fullmatch(key):
            raise RecordError(f"{self.folder}: {key!r} is no key of the cache (64 hex digits)")
        return f"{self._calls}/{key[:2]}/{key}.json"


def entry_bytes(call: Call) -> bytes:
    """The file of an entry: one object, one field a line at the top, always the same bytes."""
    values = call.model_dump()  # mode="json" refuses half of a surrogate pair
    try:
        return _lines(values, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:  # it has no UTF-8, but an escape in JSON
        return _lines(values, ensure_ascii=True).encode("ascii")


def parse_entry(data: bytes, key: str) -> Call:
    """The call in an entry's file, verified.

    Raises:
        CorruptEntryError: the bytes are cut or not JSON, are no call of this version, or hold
            another key or a request that does not hash to the key.
    """
    try:
        call = Call.model_validate_json(data)
    except ValidationError:
        call = _parse_slowly(data)
    if call.key != key:
        raise CorruptEntryError(f"holds the call {call.key[:12]}… instead", "other-key")
    if content_sha256(call.request) != key:
        raise CorruptEntryError("the request does not hash to the key", "other-request")
    return call


def _parse_slowly(data: bytes) -> Call:
    """As Pydantic's own parser, which refuses half of a surrogate pair; Python's does not."""
    try:
        values = json.loads(data)
    except ValueError as error:
        raise CorruptEntryError("not JSON, or cut", "not-json") from error
    try:
        return Call.model_validate(values)
    except ValidationError as error:
        raise CorruptEntryError("not a call of this version", "not-a-call") from error


def _lines(values: dict[str, object], *, ensure_ascii: bool) -> str:
    encoder = json.JSONEncoder(
        ensure_ascii=ensure_ascii, separators=(",", ":"), default=_encode_time
    )
    fields = (f'"{name}": {encoder.encode(value)}' for name, value in values.items())
    return "{\n" + ",\n".join(fields) + "\n}\n"


def _encode_time(value: object) -> str:
    if not isinstance(value, datetime):
        raise TypeError(f"{type(value).__name__} has no place in a call")
    return value.isoformat().replace("+00:00", "Z")


def _read(file: str) -> bytes | None:
    try:
        with open(file, "rb", buffering=0) as stream:  # noqa: PTH123 - Path takes twice as long
            return stream.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RecordError(f"{file}: cannot read: {error.strerror}") from error


def _sync_folder(folder: Path) -> None:
    """Make a rename in the folder survive a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
