"""The snapshot's regular files in ``source.tar``, read where they lie: nothing is unpacked."""

import tarfile
from functools import cached_property
from pathlib import Path

from probe.errors import RecordError


class Archive:
    """Regular files by path; contents are read when asked for."""

    def __init__(self, path: Path) -> None:
        """List the archive.

        Raises:
            RecordError: it cannot be read.
        """
        self.path = path
        """The tar file."""
        try:
            with tarfile.open(path, "r:") as tar:
                self._members = {one.name: one for one in tar if one.isreg()}
        except (OSError, tarfile.TarError) as error:
            raise RecordError(f"{path}: cannot read: {error}; delete it and run again") from error

    @cached_property
    def paths(self) -> list[str]:
        """All paths, sorted."""
        return sorted(self._members)

    def __contains__(self, path: object) -> bool:
        return path in self._members

    def size(self, path: str) -> int:
        """Bytes of a file.

        Raises:
            KeyError: there is no such regular file.
        """
        return self._members[path].size

    def read(self, path: str, most: int) -> bytes:
        """The first bytes of a file.

        Args:
            path: inside the snapshot.
            most: bytes, at most.

        Raises:
            KeyError: there is no such regular file.
            RecordError: the archive cannot be read any more.
        """
        member = self._members[path]
        try:
            with self.path.open("rb") as stream:
                stream.seek(member.offset_data)
                return stream.read(min(member.size, most))
        except OSError as error:
            raise RecordError(f"{self.path}: cannot read: {error.strerror}") from error
