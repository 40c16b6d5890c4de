"""Where in the snapshot a path that a finder wrote points to, if anywhere.

Finders write absolute paths, ``file:`` URIs, backslashes, percent-encoding and ``..``; a report
made elsewhere names folders of another machine. A path counts only when it ends at a file of the
snapshot's own list: following a link out of the tree never makes a finding.
"""

import posixpath
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Literal

from probe.errors import FinderError
from probe.finders.quote import Squeezed, squeeze
from probe.records import SnapshotFile

Misplaced = Literal["outside_snapshot", "no_such_file", "no_such_line", "no_location", "malformed"]

MAX_SNIPPET_LINES = 40
"""Longer ranges are shown by their first lines."""

MAX_SNIPPET_CHARS = 4000
"""Bound for files with very long lines."""

_DRIVE = re.compile(r"^[A-Za-z]:")


class NotInSnapshotError(FinderError):
    """A location that is none of the snapshot's; the message is the offending value."""

    def __init__(self, reason: Misplaced, value: object) -> None:
        super().__init__(str(value))
        self.reason: Misplaced = reason


class SnapshotTree:
    """The unpacked snapshot: resolves paths, counts and quotes lines.

    Args:
        root: the unpacked tree.
        files: all paths of the snapshot.
    """

    def __init__(self, root: Path, files: Iterable[SnapshotFile]) -> None:
        self.root = root.resolve()
        self._roots = tuple({str(root.absolute()), str(self.root)})
        listed = list(files)
        self._links = {file.path for file in listed if file.reason == "symlink"}
        self._files = {file.path for file in listed} - self._links
        self._lines = lru_cache(maxsize=64)(self._read_lines)
        self._squeezed = lru_cache(maxsize=16)(lambda path: squeeze(self._lines(path)))

    def locate(self, written: str) -> str:
        """Path inside the snapshot of what a finder wrote as a plain path (no URI).

        Raises:
            NotInSnapshotError: it is empty, leads out of the snapshot, or is no file of it.
        """
        if written in self._files:
            return written
        if not written or "\0" in written:
            raise NotInSnapshotError("no_location", repr(written))
        path = self._relative(written)
        if path in self._files:
            return path
        return self._follow(path, written)

    def line_count(self, path: str) -> int:
        """Lines of a file; at least 1, since editors show an empty file as one empty line."""
        return max(len(self._lines(path)), 1)

    def snippet(self, path: str, first: int, last: int) -> str:
        """The lines ``first`` to ``last`` (1-based, inclusive), bounded."""
        lines = self._lines(path)[first - 1 : min(last, first + MAX_SNIPPET_LINES - 1)]
        return "\n".join(lines)[:MAX_SNIPPET_CHARS]

    def text(self, path: str) -> str:
        """The whole file, undecodable bytes replaced."""
        return "\n".join(self._lines(path))

    def squeezed(self, path: str) -> Squeezed:
        """The whole file without whitespace, to look for quotes in."""
        return self._squeezed(path)

    def _relative(self, written: str) -> str:
        path = written.replace("\\", "/")
        if _DRIVE.match(path):
            raise NotInSnapshotError("outside_snapshot", written)
        path = posixpath.normpath(path)
        if path.startswith("/"):
            path = self._strip_root(path.replace("//", "/", 1), written)
        if path == ".." or path.startswith("../"):
            raise NotInSnapshotError("outside_snapshot", written)
        return path

    def _strip_root(self, path: str, written: str) -> str:
        for root in self._roots:
            if path.startswith(root.rstrip("/") + "/"):
                return path[len(root.rstrip("/")) + 1 :]
        raise NotInSnapshotError("outside_snapshot", written)

    def _follow(self, path: str, written: str) -> str:
        """The file behind links inside the tree."""
        try:
            real = (self.root / path).resolve()
            inside = real.relative_to(self.root).as_posix()
        except ValueError:
            raise NotInSnapshotError("outside_snapshot", written) from None
        except (OSError, RuntimeError):  # a loop of links, or a name that is too long
            raise NotInSnapshotError("no_such_file", written) from None
        if inside not in self._files:
            raise NotInSnapshotError("no_such_file", written)
        return inside

    def _read_lines(self, path: str) -> list[str]:
        try:
            data = (self.root / path).read_bytes()
        except OSError as error:
            raise FinderError(
                f"{path}: listed in the snapshot but not in {self.root}: {error.strerror}; "
                "delete snapshot/files.jsonl and run again"
            ) from error
        text = data.decode("utf-8", errors="replace").replace("\r\n", "\n")
        lines = text.split("\n")
        return lines[:-1] if lines[-1] == "" else lines
