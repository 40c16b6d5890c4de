"""The one way in which PROBE reads and writes its files.

Every file is written to a temporary name beside its target, synced and renamed: a reader never
sees half a file, and a full disk leaves the previous one in place.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, TypeVar

from pydantic import BaseModel, ValidationError

from probe.errors import RecordError

R = TypeVar("R", bound=BaseModel)


def _read_umask() -> int:
    umask = os.umask(0o077)
    os.umask(umask)
    return umask


_UMASK = _read_umask()  # once: reading it changes it for a moment, and other threads make files


@contextmanager
def atomic_writer(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a temporary neighbour of ``path`` for binary writing; rename it over ``path`` at the end.

    On any exception, ``KeyboardInterrupt`` included, the temporary file is removed and ``path``
    stays as it was.

    Raises:
        RecordError: the disk is full or the folder cannot be written.
    """
    target = Path(path)
    temporary: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(
            dir=target.parent, prefix=f".{target.name}.", suffix=".tmp", delete=False
        ) as stream:
            temporary = Path(stream.name)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(0o666 & ~_UMASK)
        temporary.replace(target)
    except BaseException as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise RecordError(
                f"{target}: cannot write: {error.strerror or error}; "
                "free space or fix permissions, then run the same command again"
            ) from error
        raise


def write_text(path: str | Path, text: str) -> None:
    """Write ``text`` as UTF-8, atomically."""
    with atomic_writer(path) as stream:
        stream.write(text.encode("utf-8", errors="replace"))


def write_json(path: str | Path, record: BaseModel) -> None:
    """Write one record as indented JSON with a final newline, atomically."""
    write_text(path, record.model_dump_json(indent=2) + "\n")


def read_json(path: str | Path, model: type[R]) -> R:
    """Read one record.

    Raises:
        RecordError: the file is missing, not JSON, or not such a record.
    """
    try:
        return model.model_validate_json(Path(path).read_bytes())
    except OSError as error:
        raise RecordError(f"{path}: cannot read: {error.strerror}") from error
    except ValidationError as error:
        raise RecordError(f"{path}: {_first_problem(error, model)}") from error


def write_jsonl(path: str | Path, records: Iterable[BaseModel]) -> int:
    """Write records as JSON Lines in UTF-8, atomically; return how many there were."""
    count = 0
    with atomic_writer(path) as stream:
        for record in records:
            stream.write(record.model_dump_json().encode("utf-8", errors="replace") + b"\n")
            count += 1
    return count


def iter_jsonl(path: str | Path, model: type[R]) -> Iterator[R]:
    """Yield the records of a JSON Lines file in order, one at a time.

    Raises:
        RecordError: the file is missing, its last line was cut, or a line is not such a record;
            the message names the line.
    """
    try:
        with Path(path).open("rb") as stream:
            for number, line in enumerate(stream, 1):
                yield _parse_line(path, number, line, model)
    except OSError as error:
        raise RecordError(f"{path}: cannot read: {error.strerror}") from error


def _parse_line(path: str | Path, number: int, line: bytes, model: type[R]) -> R:
    if not line.endswith(b"\n"):
        raise RecordError(f"{path}:{number}: the last line is cut; delete the file and run again")
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        raise RecordError(f"{path}:{number}: {_first_problem(error, model)}") from error


def read_jsonl(path: str | Path, model: type[R]) -> list[R]:
    """Read all records of a JSON Lines file; see :func:`iter_jsonl`."""
    return list(iter_jsonl(path, model))


def read_all(paths: Iterable[str | Path], model: type[R]) -> list[R]:
    """Read the records of several JSON Lines files, in order; see :func:`iter_jsonl`."""
    return [record for path in paths for record in iter_jsonl(path, model)]


def file_sha256(path: str | Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def content_sha256(value: object) -> str:
    """SHA-256 of the canonical JSON of ``value``: sorted keys, no spaces, UTF-8."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()


def _first_problem(error: ValidationError, model: type[BaseModel]) -> str:
    problem = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in problem["loc"]) or "the record"
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return (
        f"not a {model.__name__} record of this version: {where}: {problem['msg']}{more}; "
        "if another version of PROBE wrote it, delete it and run again"
    )
