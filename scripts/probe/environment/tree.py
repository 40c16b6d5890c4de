"""The snapshot's files as an environment is made from them: texts and globs, without unpacking anything."""

from pathlib import Path, PurePosixPath

from probe.snapshot.archive import Archive

_LARGEST = 20_000_000
"""Bytes; no file that says something about an environment is larger."""


class Tree:
    """Regular files by path; contents are read when asked for."""

    def __init__(self, archive: Path) -> None:
        """List the archive.

        Raises:
            RecordError: it cannot be read.
        """
        self._archive = Archive(archive)

    @property
    def archive(self) -> Path:
        """The tar file."""
        return self._archive.path

    @property
    def paths(self) -> list[str]:
        """All paths, sorted."""
        return self._archive.paths

    def __contains__(self, path: str) -> bool:
        return path in self._archive

    def matching(self, pattern: str) -> list[str]:
        """Paths that match a glob from the right (``requirements/*.txt``), sorted."""
        return [path for path in self.paths if PurePosixPath(path).match(pattern)]

    def read(self, path: str) -> bytes | None:
        """A file's bytes; None where there is no such regular file, or an enormous one."""
        if path not in self._archive or self._archive.size(path) > _LARGEST:
            return None
        return self._archive.read(path, _LARGEST)

    def text(self, path: str) -> str | None:
        """A file as UTF-8, without a byte-order mark, other bytes replaced; None as :meth:`read`."""
        content = self.read(path)
        return None if content is None else content.decode("utf-8-sig", "replace")
