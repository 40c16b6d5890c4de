"""The snapshot as one tar file: the tree at T0, and nothing that could tell what came after.

`git archive` is not used: a tree's own attributes make it leave files out (``export-ignore``) or
rewrite them (``export-subst``, line ends), it dies where a blob is missing, and it keeps links
that lead out of the tree. Here each blob is written as it is, every name, mode, owner and time is
fixed, and whatever is left out is listed.
"""

import io
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO

from probe.errors import GitError
from probe.git.names import decode_path
from probe.git.objects import ObjectReader, TreeEntry, list_tree
from probe.git.process import run_git
from probe.git.times import commit_time
from probe.records import SnapshotInfo, atomic_writer, file_sha256

_LFS = b"version https://git-lfs.github.com/spec/v1\n"
_LFS_SIZE = 1024
_LINK = "120000"
_EXECUTABLE = 0o100
_MAX_LINKS = 40


@dataclass
class _Contents:
    files: int = 0
    lfs_pointers: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def build_archive(mirror: Path, rev: str, target: Path, *, repo: str) -> SnapshotInfo:
    """Write the tree of ``rev`` to the tar file ``target`` and say what it holds.

    The bytes depend on the commit alone. Submodules are empty folders, Git LFS pointers stay
    pointers, links that lead out of the tree and files without a blob are left out, paths marked
    ``export-ignore`` are kept. Names that are not UTF-8 are written as records show them.

    Args:
        mirror: a git directory.
        rev: the commit.
        target: the tar file to write, atomically.
        repo: the repository's key in the inventory.

    Raises:
        GitError: the commit is unknown, or its tree holds a path that must not be unpacked.
        RecordError: ``target`` cannot be written.
    """
    facts = run_git(mirror, "log", "-1", "--format=%H%n%T%n%ct", rev, "--").decode().split("\n")
    committed = commit_time(facts[2])
    entries = sorted(list_tree(mirror, rev), key=lambda entry: entry.path)
    _refuse_unsafe(entries, repo)
    with ObjectReader(mirror) as reader:
        links = _read_links(entries, reader)
        escaping = {path for path in links if _escapes(path, links)}
        with atomic_writer(target) as stream:
            contents = _write_tar(
                stream, entries, reader, links, escaping, int(committed.timestamp())
            )
    return SnapshotInfo(
        repo=repo,
        sha=facts[0],
        tree=facts[1],
        committer_time=committed,
        files=contents.files,
        symlinks=tuple(sorted(links)),
        escaping_symlinks=tuple(sorted(escaping)),
        submodules=tuple(entry.path for entry in entries if entry.type == "commit"),
        lfs_pointers=tuple(contents.lfs_pointers),
        export_ignored=tuple(export_ignored(mirror, rev)),
        missing_blobs=tuple(contents.missing),
        archive_sha256=file_sha256(target),
    )


def export_ignored(mirror: Path, rev: str) -> list[str]:
    """Paths of ``rev`` that its attributes mark ``export-ignore``, sorted.

    A marked folder stands for all below it and ends with a slash.
    """
    printed = run_git(mirror, "ls-tree", "-r", "-t", "-d", "-z", "--name-only", rev)
    folders = [name + b"/" for name in printed.split(b"\0")[:-1]]
    files = run_git(mirror, "ls-tree", "-r", "-z", "--name-only", rev).split(b"\0")[:-1]
    # Attributes are read from an index of our own: reading them from a commit needs git 2.40.
    with TemporaryDirectory(prefix="probe-index-") as folder:
        index = Path(folder) / "index"
        run_git(mirror, "read-tree", rev, index=index)
        told = run_git(
            mirror,
            "check-attr",
            "--cached",
            "-z",
            "--stdin",
            "export-ignore",
            stdin=b"\0".join([*folders, *files]),
            index=index,
        ).split(b"\0")
    marked = {path for path, value in zip(told[0::3], told[2::3], strict=False) if value == b"set"}
    topmost = (path for path in marked if not any(above in marked for above in _above(path)))
    return sorted(decode_path(path) for path in topmost)


def _above(path: bytes) -> Iterator[bytes]:
    parts = path.rstrip(b"/").split(b"/")
    return (b"/".join(parts[:depth]) + b"/" for depth in range(1, len(parts)))


def _refuse_unsafe(entries: list[TreeEntry], repo: str) -> None:
    paths = {entry.path for entry in entries}
    if len(paths) != len(entries):
        raise GitError(f"{repo}: the tree lists a path twice; it cannot be unpacked safely")
    for path in sorted(paths):
        parts = path.split("/")
        above = {"/".join(parts[:depth]) for depth in range(1, len(parts))}
        if above & paths or any(_is_unsafe(part) for part in parts):
            raise GitError(
                f"{repo}: the tree holds the path {path!r}; it cannot be unpacked safely"
            )


def _is_unsafe(part: str) -> bool:
    return part in ("", ".", "..") or part.lower() in (".git", "git~1") or "\0" in part


def _read_links(entries: list[TreeEntry], reader: ObjectReader) -> dict[str, str]:
    """Targets of all links whose blob is there."""
    links = {}
    for entry in entries:
        content = reader.blob(entry.sha) if entry.mode == _LINK else None
        if content is not None:
            links[entry.path] = decode_path(content)
    return links


def _escapes(link: str, links: dict[str, str]) -> bool:
    """Whether following ``link``, through further links, leaves the tree or never ends."""
    waiting = list(reversed(link.split("/")))
    at: list[str] = []
    followed = 0
    while waiting:
        part = waiting.pop()
        if part == "..":
            if not at:
                return True
            at.pop()
        elif part not in ("", "."):
            at.append(part)
        onward = links.get("/".join(at)) if part not in ("", ".", "..") else None
        if onward is not None:
            followed += 1
            if onward.startswith("/") or followed > _MAX_LINKS:
                return True
            at.pop()
            waiting.extend(reversed(onward.split("/")))
    return False


def _write_tar(
    stream: IO[bytes],
    entries: list[TreeEntry],
    reader: ObjectReader,
    links: dict[str, str],
    escaping: set[str],
    seconds: int,
) -> _Contents:
    contents = _Contents()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for folder in _folders(entries):
            tar.addfile(_header(folder, tarfile.DIRTYPE, 0o755, seconds))
        for entry in entries:
            if entry.type == "commit" or entry.path in escaping:
                continue
            content = reader.blob(entry.sha)
            if content is None:
                contents.missing.append(entry.path)
            elif entry.mode == _LINK:
                header = _header(entry.path, tarfile.SYMTYPE, 0o777, seconds)
                header.linkname = links[entry.path]
                tar.addfile(header)
            else:
                _add_file(tar, entry, content, seconds, contents)
    return contents


def _add_file(
    tar: tarfile.TarFile, entry: TreeEntry, content: bytes, seconds: int, contents: _Contents
) -> None:
    executable = int(entry.mode, 8) & _EXECUTABLE
    header = _header(entry.path, tarfile.REGTYPE, 0o755 if executable else 0o644, seconds)
    header.size = len(content)
    tar.addfile(header, io.BytesIO(content))
    contents.files += 1
    if len(content) < _LFS_SIZE and content.startswith(_LFS):
        contents.lfs_pointers.append(entry.path)


def _folders(entries: Iterable[TreeEntry]) -> list[str]:
    """Every folder of the tree, parents first; submodules are folders too."""
    folders = {str(above) for entry in entries for above in PurePosixPath(entry.path).parents}
    folders |= {entry.path for entry in entries if entry.type == "commit"}
    return sorted(folders - {"."})


def _header(path: str, kind: bytes, mode: int, seconds: int) -> tarfile.TarInfo:
    header = tarfile.TarInfo(path)
    header.type = kind
    header.mode = mode
    header.mtime = seconds
    return header
