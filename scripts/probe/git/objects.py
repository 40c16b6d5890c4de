"""Reads trees and files out of a mirror, one git process for any number of them."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, cast

from probe.errors import GitError
from probe.git.names import decode_path, encode_candidates
from probe.git.process import EMPTY_TREE, git_command, git_environment, run_git

_FOUND = re.compile(rb"[0-9a-f]{40,64} (blob|tree|commit|tag) ([0-9]+)\n")
EntryType = Literal["blob", "commit"]


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One path of a tree.

    ``type`` is ``commit`` for submodules; ``size`` is in bytes, None for submodules and for blobs
    that the mirror does not have.
    """

    mode: str
    type: EntryType
    sha: str
    size: int | None
    path: str


def list_tree(mirror: Path, rev: str) -> list[TreeEntry]:
    """List every path of a commit's tree, in git's order, folders themselves left out.

    Raises:
        GitError: the commit is unknown, or a tree of it is missing.
    """
    printed = run_git(mirror, "ls-tree", "-r", "-z", "-l", "--full-tree", rev)
    entries = []
    for line in printed.split(b"\0")[:-1]:
        facts, name = line.split(b"\t", 1)
        mode, kind, sha, size = facts.decode().split()
        if kind not in ("blob", "commit"):
            raise GitError(f"git ls-tree in {mirror}: {rev} holds an entry of type {kind!r}")
        bytes_or_unknown = int(size) if size.isdigit() else None
        entries.append(
            TreeEntry(mode, cast(EntryType, kind), sha, bytes_or_unknown, decode_path(name))
        )
    return entries


class ObjectReader:
    """Reads blobs by name or by path; a context manager over one ``git cat-file --batch``.

    Where git dies over an object it is started again, and the object counts as unreadable.
    """

    def __init__(self, mirror: Path) -> None:
        self._mirror = mirror
        self._process: subprocess.Popen[bytes] | None = None
        self.failures: list[str] = []
        """Objects over which git died."""

    def __enter__(self) -> Self:
        self._process = self._start()
        return self

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            git_command(self._mirror, "cat-file", "--batch"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=git_environment(),
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.communicate()

    def read(self, rev: str, path: str) -> bytes | None:
        """Content of the file ``path`` in the commit ``rev``.

        None where there is no such file, where it is a folder or a submodule, where the mirror
        lacks the blob, and where git dies over it. For a symbolic link the content is its target.
        """
        if "\n" in path:  # the protocol has a name a line
            found = [entry.sha for entry in list_tree(self._mirror, rev) if entry.path == path]
            return self.blob(found[0]) if found else None
        for name in encode_candidates(path):
            content = self._ask(rev.encode() + b":" + name)
            if content is not None:
                return content
        return None

    def blob(self, sha: str) -> bytes | None:
        """Content of a blob; None where the mirror lacks it or ``sha`` names something else."""
        return self._ask(sha.encode())

    def _ask(self, name: bytes) -> bytes | None:
        try:
            return self._answer(name)
        except GitError as error:
            if self._process is None:
                raise
            self._process.kill()
            self._process.communicate()
            self._process = self._start()
            self._answer(EMPTY_TREE.encode())  # known everywhere: what fails here is no object
            self.failures.append(str(error))
            return None

    def _answer(self, name: bytes) -> bytes | None:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise GitError("ObjectReader: use it in a with statement")
        try:
            process.stdin.write(name + b"\n")
            process.stdin.flush()
            header = process.stdout.readline()
        except BrokenPipeError:
            header = b""
        if not header:
            raise GitError(f"git cat-file in {self._mirror}: ended while asked for {name!r}")
        answer = _FOUND.fullmatch(header)
        if answer is None:  # missing, ambiguous or a submodule
            return None
        size = int(answer[2])
        content = process.stdout.read(size + 1)
        if len(content) != size + 1:
            raise GitError(f"git cat-file in {self._mirror}: {name!r} was cut off")
        return content[:-1] if answer[1] == b"blob" else None
