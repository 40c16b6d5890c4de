"""Git's data, known by what it is and not by its name.

A folder called ``data`` that holds HEAD, objects and refs is a repository, a file called ``blob.bin``
may be a pack. What each kind begins with is set down in git's own documentation (gitformat-pack,
gitformat-bundle, gitformat-index, gitrepository-layout, reftable).
"""

import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Literal, NamedTuple

from probe.isolation.gitcontent import describe_objects
from probe.isolation.listing import Listing
from probe.records import Leak

GitKind = Literal["git_objects", "git_refs", "git_reflog"]

_MAGIC: tuple[tuple[bytes, GitKind, str], ...] = (
    (rb"PACK\0\0\0[\2\3]", "git_objects", "a pack"),
    (rb"\xfftOc\0\0\0\x02", "git_objects", "the index of a pack"),
    (rb"# v[23] git bundle\n", "git_objects", "a bundle"),
    (rb"CGPH[\1\2][\1\2]", "git_objects", "a commit graph"),
    (rb"MIDX[\1\2][\1\2]", "git_objects", "the index of several packs"),
    (rb"RIDX\0\0\0\x01", "git_objects", "the reverse index of a pack"),
    (rb"BITM\0\x01\0", "git_objects", "the bitmaps of a pack"),
    (rb"DIRC\0\0\0[\2-\4]", "git_objects", "an index of a work tree"),
    (rb"REFT[\1\2]", "git_refs", "a table of refs"),
    (rb"# pack-refs with:", "git_refs", "packed refs"),
    (rb"[0-9a-f]{40}(?:[0-9a-f]{24})? refs/", "git_refs", "packed refs"),
    (rb"ref: refs/[^\n]+\n?\Z", "git_refs", "a HEAD"),
    (rb"gitdir: [^\n]+\n?\Z", "git_refs", "a pointer to a git folder"),
    (rb"[0-9a-f]{40,64}\t(?:not-for-merge)?\t", "git_refs", "fetched refs"),
    (
        rb"[0-9a-f]{40,64} [0-9a-f]{40,64} [^\n]*> \d{9,} [+-]\d{4}[\t\n]",
        "git_reflog",
        "a reflog",
    ),
)  # fmt: skip
_PATTERNS = [(re.compile(pattern), kind, what) for pattern, kind, what in _MAGIC]
_LOOSE = re.compile(rb"(blob|tree|commit|tag) \d+\0")
_LAYOUT = {"HEAD", "objects", "refs"}
_OBJECT_BYTES = 1 << 28
_DOT_GIT = {".git", "git~1"}


class GitMark(NamedTuple):
    """What a file of git's is."""

    kind: GitKind
    """The leak's kind."""
    what: str
    """In words."""


class GitFind(NamedTuple):
    """Git data at one place."""

    leak: Leak
    """What it is."""
    late: bool
    """Whether it holds a commit that is younger than T0."""


def recognise(head: bytes) -> GitMark | None:
    """What of git's a file is by its first bytes; None for everything else."""
    for pattern, kind, what in _PATTERNS:
        if pattern.match(head):
            return GitMark(kind, what)
    if len(head) > 2 and head[0] == 0x78 and int.from_bytes(head[:2], "big") % 31 == 0:
        try:
            start = zlib.decompressobj().decompress(head, 64)
        except zlib.error:
            return None
        found = _LOOSE.match(start)
        if found:
            return GitMark("git_objects", f"a loose {found[1].decode()}")
    return None


def git_folders(paths: Iterable[str]) -> set[str]:
    """Folders that are git repositories by their layout or their name, whatever they hold.

    Args:
        paths: absolute paths; the folders above each need not be listed.
    """
    found: set[str] = set()
    layouts: defaultdict[str, set[str]] = defaultdict(set)
    seen: set[str] = set()
    for path in paths:
        while path and path not in seen:
            seen.add(path)
            above, _, name = path.rpartition("/")
            if name.lower() in _DOT_GIT:
                found.add(path)
            if name in _LAYOUT:
                layouts[above].add(name)
            path = above
    return found | {folder for folder, inside in layouts.items() if inside >= _LAYOUT}


def find_git(listing: Listing, cutoff: datetime) -> list[GitFind]:
    """All git data of a listing, one find for each kind and folder (or file outside of one).

    Args:
        listing: what to look at; contents are read where something is found, to say what it holds.
        cutoff: T0's time.
    """
    folders = git_folders(entry.path for entry in listing.entries)
    groups: dict[tuple[str, GitKind], dict[str, GitMark | None]] = defaultdict(dict)
    for entry in listing.entries:
        root = _topmost(entry.path, folders) if folders else None
        mark = recognise(listing.heads.get(entry.path, b""))
        if root is None and mark is None:
            continue
        kind = mark.kind if mark else _kind_by_place(entry.path, root or entry.path)
        groups[root or entry.path, kind][entry.path] = mark
    return [_told(root, kind, groups[root, kind], listing, cutoff) for root, kind in sorted(groups)]


def _told(
    root: str,
    kind: GitKind,
    files: Mapping[str, GitMark | None],
    listing: Listing,
    cutoff: datetime,
) -> GitFind:
    marks = {path: mark for path, mark in files.items() if mark is not None}
    whats = sorted({mark.what for mark in marks.values()}) or ["a folder of git's"]
    objects = [path for path, mark in marks.items() if mark.kind == "git_objects"]
    held = describe_objects(listing.read_all(objects, _OBJECT_BYTES).values(), cutoff)
    paths = f"{len(files)} path{'s' if len(files) > 1 else ''}"
    detail = f"{', '.join(whats)} ({paths}){f': {held.words}' if held.words else ''}"
    return GitFind(Leak(kind=kind, where=root, detail=detail), held.late)


def _kind_by_place(path: str, root: str) -> GitKind:
    inside = path.removeprefix(root).strip("/").partition("/")[0]
    if inside == "logs":
        return "git_reflog"
    if inside in {"refs", "packed-refs", "HEAD", "FETCH_HEAD", "ORIG_HEAD"}:
        return "git_refs"
    return "git_objects"


def _topmost(path: str, folders: set[str]) -> str | None:
    """The outermost of the folders that a path lies in, itself included."""
    parts = path.split("/")
    tops = ("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))
    return next((top for top in tops if top in folders), None)
