"""What there is to look at: the paths of an archive or of a sandbox, with the start of each file.

The audit asks the same questions of both, so that they are given in one form.
"""

import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Literal

from probe.errors import IsolationError
from probe.sandbox import WORK

HEAD_BYTES = 512
"""How much of the start of a file tells what it is."""

EntryKind = Literal["file", "folder", "link", "socket", "other"]

NESTED = "!/"
"""Between the path of an archive and the name of a member of it."""

_NESTED_BYTES = 64_000_000
"""An archive inside the snapshot is looked through up to this size, unpacked."""
_BROKEN = (
    EOFError,
    OSError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    zlib.error,
    lzma.LZMAError,
)
"""What readers of damaged archives raise, beside their own errors: nobody can unpack those either."""
_NESTED_NAMES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz", ".whl", ".jar")


@dataclass(frozen=True, slots=True)
class Entry:
    """A path of the sandbox."""

    path: str
    """Absolute inside."""
    kind: EntryKind
    """In a word."""
    size: int
    """Bytes."""
    mtime: float
    """Seconds since the epoch."""


@dataclass(frozen=True)
class Listing:
    """Paths and what is known of their content."""

    entries: Sequence[Entry]
    """Everything that was found."""
    heads: Mapping[str, bytes]
    """The first bytes of regular files, by path: of those whose content is looked at."""
    read_all: Callable[[Sequence[str], int], Mapping[str, bytes]] = field(repr=False)
    """The first bytes of files, as many of each as asked for, by path."""

    def read(self, path: str, most: int) -> bytes:
        """The first bytes of one file."""
        return self.read_all([path], most)[path]

    def files(self) -> Iterator[Entry]:
        """The regular files."""
        return (entry for entry in self.entries if entry.kind == "file")


def list_archive(path: Path) -> Listing:
    """The members of ``source.tar`` as they will lie in the sandbox, archives among them opened.

    A member of an archive inside is listed as ``/work/data.zip!/name``: a finder can unpack it.

    Raises:
        IsolationError: it cannot be read.
    """
    entries: list[Entry] = []
    heads: dict[str, bytes] = {}
    places: dict[str, tuple[int, int]] = {}
    try:
        with tarfile.open(path, "r:") as tar, path.open("rb") as raw:
            for member in tar:
                where = str(PurePosixPath(WORK) / member.name)
                entries.append(Entry(where, _kind(member), member.size, float(member.mtime)))
                if not member.isreg():
                    continue
                places[where] = (member.offset_data, member.size)
                raw.seek(member.offset_data)
                heads[where] = raw.read(min(member.size, HEAD_BYTES))
                if where.lower().endswith(_NESTED_NAMES) and member.size <= _NESTED_BYTES:
                    raw.seek(member.offset_data)
                    _list_nested(where, raw.read(member.size), entries, heads)
    except (OSError, tarfile.TarError) as error:
        raise IsolationError(f"{path}: not a readable tar archive: {error}") from error

    def read(where: str, most: int) -> bytes:
        outer, nested, inner = where.partition(NESTED)
        start, size = places[outer]
        with path.open("rb") as stream:
            stream.seek(start)
            content = stream.read(size if nested else min(size, most))
        return _read_nested(content, inner, most) if nested else content

    return Listing(entries, heads, lambda paths, most: {one: read(one, most) for one in paths})


def _list_nested(where: str, content: bytes, entries: list[Entry], heads: dict[str, bytes]) -> None:
    """Add the members of an archive inside; what is none by its content is a file like others."""
    opened = _open_zip(content) or _open_tar(content)
    for name, size, stream in opened or ():
        inner = f"{where}{NESTED}{name}"
        entries.append(Entry(inner, "file", size, 0.0))
        heads[inner] = _read_some(stream, HEAD_BYTES)


def _read_nested(content: bytes, name: str, most: int) -> bytes:
    for found, _, stream in _open_zip(content) or _open_tar(content) or ():
        if found == name:
            return _read_some(stream, most)
    return b""


def _read_some(stream: IO[bytes], most: int) -> bytes:
    try:
        return stream.read(most)
    except (*_BROKEN, zipfile.BadZipFile, tarfile.TarError):
        return b""


def _open_zip(content: bytes) -> Iterator[tuple[str, int, IO[bytes]]] | None:
    try:
        zipfile.ZipFile(io.BytesIO(content)).close()
    except (*_BROKEN, zipfile.BadZipFile):
        return None

    def members() -> Iterator[tuple[str, int, IO[bytes]]]:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for info in archive.infolist():
                if info.is_dir() or info.flag_bits & 1:  # encrypted: nobody can read it
                    continue
                try:
                    stream = archive.open(info)
                except (*_BROKEN, zipfile.BadZipFile):
                    continue
                with stream:
                    yield info.filename, info.file_size, stream

    return members()


def _open_tar(content: bytes) -> Iterator[tuple[str, int, IO[bytes]]] | None:
    try:
        archive = tarfile.open(fileobj=io.BytesIO(content), mode="r:*")  # noqa: SIM115
    except (*_BROKEN, tarfile.TarError):
        return None

    def members() -> Iterator[tuple[str, int, IO[bytes]]]:
        left = _NESTED_BYTES
        with archive:
            try:
                for info in archive:
                    left -= info.size
                    stream = archive.extractfile(info) if info.isreg() else None
                    if left < 0:
                        return
                    if stream is not None:
                        yield info.name, info.size, stream
            except (*_BROKEN, tarfile.TarError):
                return

    return members()


def _kind(member: tarfile.TarInfo) -> EntryKind:
    if member.isreg():
        return "file"
    if member.isdir():
        return "folder"
    return "link" if member.issym() or member.islnk() else "other"
