"""The snapshot as the document's engines see it: texts on demand, and what names occur in them.

Nothing is unpacked and nothing is run. What the document may say must be found here, so that it
cannot know the time after T0.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath

from probe.code.paths import is_code
from probe.records import SnapshotFile
from probe.snapshot.archive import Archive

LARGEST = 1_000_000
"""Bytes; of a longer file only the beginning is read."""

_WORD = re.compile(r"[\w$]+(?:-[\w$]+)*")
_METADATA = {"package.json", "pyproject.toml", "setup.cfg", "setup.py"}
_OWN = frozenset({None, "excluded", "generated", "outside_source", "too_large", "minified"})
"""Reasons of code that a name of the project can come from."""


class Sources:
    """The files of a snapshot.

    Args:
        archive: the snapshot's ``source.tar``.
        files: its files, in any order.

    Raises:
        RecordError: the archive cannot be read.
    """

    def __init__(self, archive: Path, files: Iterable[SnapshotFile]) -> None:
        self.archive = archive
        self._archive = Archive(archive)
        self.files = sorted(files, key=lambda file: file.path)
        """As described in ``files.jsonl``, sorted by path."""
        self.text = lru_cache(maxsize=256)(self._read)

    @property
    def paths(self) -> Sequence[str]:
        """Paths of all regular files, sorted."""
        return self._archive.paths

    @cached_property
    def audited(self) -> Sequence[SnapshotFile]:
        """The files that finders are asked about, sorted by path."""
        return [file for file in self.files if file.audited]

    @cached_property
    def folders(self) -> frozenset[str]:
        """Paths of all folders that hold a file at any depth; the root is ``.``."""
        return frozenset(str(above) for path in self.paths for above in PurePosixPath(path).parents)

    def __contains__(self, path: object) -> bool:
        return path in self._archive

    def exists(self, path: str) -> bool:
        """Whether a file or folder has this path; ``./`` before and ``/`` after it are allowed."""
        plain = path.removeprefix("./").rstrip("/")
        return plain in self._archive or plain in self.folders

    def _read(self, path: str) -> str:
        """A file's text, undecodable bytes replaced; empty for what is no file or is binary."""
        if path not in self._archive:
            return ""
        data = self._archive.read(path, LARGEST)
        if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
            return data.decode("utf-16", errors="replace")
        if b"\0" in data[:8000]:
            return ""
        return data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")

    @cached_property
    def own(self) -> frozenset[str]:
        """Paths of the project's own code, audited or not: tests and vendored copies are none."""
        return frozenset(f.path for f in self.files if f.reason in _OWN and is_code(f.path))

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of the project's own code and package metadata, tests left out."""
        found: set[str] = set()
        for path in self.paths:
            if path in self.own or PurePosixPath(path).name in _METADATA:
                found.update(words(self._read(path)))
        return frozenset(found)


def words(text: str) -> set[str]:
    """Identifiers, and words joined by hyphens both whole and in parts."""
    found = set(_WORD.findall(text))
    return found | {part for word in found if "-" in word for part in word.split("-")}


def name_parts(name: str) -> list[str]:
    """The words of a name as people write it: ``Parser.parse()``, ``--no-color``, ``a::b``."""
    return [
        part for part in re.split(r"[^\w$-]+", name.split("(", 1)[0].strip()) if part.strip("-")
    ]
