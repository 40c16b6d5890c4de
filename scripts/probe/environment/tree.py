"""The snapshot's files, read from ``source.tar`` without unpacking anything."""

import tarfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Self

from probe.errors import RecordError

_LARGEST = 20_000_000
"""Bytes; no file that says something about an environment is larger."""


class Tree:
    """Regular files by path; contents are read when asked for."""

    def __init__(self, archive: Path) -> None:
        """List the archive.

        Raises:
            RecordError: it cannot be read.
        """
        self._archive = archive
        try:
            with tarfile.open(archive, "r:") as tar:
                self._members = {one.name: one for one in tar if one.isreg()}
        except (OSError, tarfile.TarError) as error:
            raise RecordError(f"{archive}: not a readable tar archive: {error}") from error

    @classmethod
    def of(cls, files: Mapping[str, str], folder: Path) -> Self:
        """A tree of these texts, written as ``folder/source.tar``."""
        import io

        path = folder / "source.tar"
        with tarfile.open(path, "w") as tar:
            for name, text in sorted(files.items()):
                member = tarfile.TarInfo(name)
                member.size = len(text.encode())
                tar.addfile(member, io.BytesIO(text.encode()))
        return cls(path)

    @property
    def archive(self) -> Path:
        """The tar file."""
        return self._archive

    @property
    def paths(self) -> list[str]:
        """All paths, sorted."""
        return sorted(self._members)

    def __contains__(self, path: str) -> bool:
        return path in self._members

    def matching(self, pattern: str) -> list[str]:
        """Paths that match a glob from the right (``requirements/*.txt``), sorted."""
        return [path for path in self.paths if PurePosixPath(path).match(pattern)]

    def read(self, path: str) -> bytes | None:
        """A file's bytes; None where there is no such regular file, or an enormous one."""
        member = self._members.get(path)
        if member is None or member.size > _LARGEST:
            return None
        with tarfile.open(self._archive, "r:") as tar:
            stream = tar.extractfile(member)
            return stream.read() if stream else None

    def text(self, path: str) -> str | None:
        """A file as UTF-8, without a byte-order mark, other bytes replaced; None as :meth:`read`."""
        content = self.read(path)
        return None if content is None else content.decode("utf-8-sig", "replace")
