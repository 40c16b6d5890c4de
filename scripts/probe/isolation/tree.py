"""Whether ``source.tar`` is T0's tree and nothing else, file by file, by git's own names of contents.

What T0's tree holds was there at T0: no other check can say that much. It also tells a fixture of the
project (a git repository in its tests) from something that was planted.
"""

import hashlib
import tarfile
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from probe.errors import IsolationError
from probe.git.objects import list_tree
from probe.git.process import run_git
from probe.records import Leak
from probe.sandbox import WORK


class TreeCheck(NamedTuple):
    """What the comparison gave."""

    known: frozenset[str]
    """Paths inside the sandbox whose content is T0's, by its hash."""
    leaks: list[Leak]
    """Members that T0's tree does not have, or has with another content."""


class Past:
    """Everything that the history up to T0 holds."""

    def __init__(self, mirror: Path, t0: str) -> None:
        """Nothing is read before somebody asks.

        Args:
            mirror: a git directory that has T0.
            t0: the snapshot commit.
        """
        self._mirror, self._t0 = mirror, t0

    def knows(self, content: bytes) -> bool:
        """Whether a file with this content was ever in the history of T0.

        Raises:
            GitError: the history cannot be read.
        """
        return _blob(content, len(self._t0)) in self._objects

    @cached_property
    def _objects(self) -> frozenset[str]:
        listed = run_git(
            self._mirror,
            "rev-list",
            "--objects",
            "--no-object-names",
            "--missing=allow-any",
            self._t0,
        )
        return frozenset(listed.decode().split())


def compare_tree(archive: Path, mirror: Path, t0: str) -> TreeCheck:
    """Compare every file and link of the archive with T0's tree.

    Args:
        archive: ``source.tar``.
        mirror: a git directory that has T0.
        t0: the snapshot commit.

    Raises:
        IsolationError: the archive cannot be read.
        GitError: the mirror does not have T0.
    """
    expected = {entry.path: entry.sha for entry in list_tree(mirror, t0)}
    known, leaks = set(), []
    try:
        with tarfile.open(archive, "r:") as tar:
            for member in tar:
                if member.isdir():
                    continue
                where = f"{WORK}/{member.name}"
                content = _content(tar, member)
                if content is not None and _blob(content, len(t0)) == expected.get(member.name):
                    known.add(where)
                    continue
                said = (
                    "another content than in T0's tree"
                    if member.name in expected
                    else "not in T0's tree"
                )
                leaks.append(Leak(kind="foreign_file", where=where, detail=said))
    except (OSError, tarfile.TarError) as error:
        raise IsolationError(f"{archive}: not a readable tar archive: {error}") from error
    return TreeCheck(frozenset(known), leaks)


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes | None:
    """A file's bytes, a link's target; None for what git has no blob of."""
    if member.issym():
        return member.linkname.encode("utf-8", "surrogateescape")
    stream = tar.extractfile(member) if member.isreg() else None
    return stream.read() if stream else None


def _blob(content: bytes, name_length: int) -> str:
    """Git's name of a content, in the repository's kind of hash."""
    data = b"blob %d\0" % len(content) + content
    if name_length == 64:
        return hashlib.sha256(data).hexdigest()
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()
