"""What git objects hold: they are put into a repository of our own, which git then lists.

The found repository itself is never opened: its configuration could name programs.
"""

import hashlib
import re
import zlib
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from probe.errors import GitError
from probe.git.process import run_git
from probe.git.times import commit_time

_BUNDLE = re.compile(rb"# v[23] git bundle\n(?:[^\n]+\n)*\n")
_COMMITTED = re.compile(rb"^committer .*> (\d+) [+-]\d{4}$", re.MULTILINE)


class Held(NamedTuple):
    """What git finds in files."""

    words: str
    """Objects by kind and the date of the newest commit; empty where git finds nothing."""
    late: bool
    """Whether a commit is younger than T0."""


def describe_objects(contents: Iterable[bytes], cutoff: datetime) -> Held:
    """How many objects of which kind there are, and whether commits are younger than T0.

    Args:
        contents: files that may be packs, bundles or loose objects; all others are passed over.
        cutoff: T0's time.

    Returns:
        For example ``3 blob, 1 commit, the newest of 2025-02-01 (after T0)``.
    """
    with TemporaryDirectory(prefix="probe-found-") as folder:
        store = Path(folder, "found.git")
        run_git(None, "init", "--quiet", "--bare", str(store))
        for content in contents:
            _keep(store, content)
        listed = run_git(
            store, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)"
        )
        objects = [line.split(" ") for line in listed.decode().splitlines()]
        newest = _newest(store, [name for kind, name in objects if kind == "commit"])
    counts = Counter(kind for kind, _ in objects)
    told = [f"{number} {kind}" for kind, number in sorted(counts.items())]
    late = newest is not None and newest > cutoff
    if newest is not None:
        told.append(f"the newest of {newest:%Y-%m-%d}{' (after T0)' if late else ''}")
    return Held(", ".join(told), late)


def _keep(store: Path, content: bytes) -> None:
    """Put a pack or an object into the store; what git cannot read is left out."""
    bundle = _BUNDLE.match(content)
    pack = content[bundle.end() :] if bundle else content
    if pack.startswith(b"PACK"):
        try:
            run_git(store, "index-pack", "--stdin", "--fix-thin", stdin=pack)
        except GitError:  # cut, or it needs objects that are not there: the mark itself is told
            return
    elif content[:1] == b"\x78":
        try:
            name = hashlib.sha1(zlib.decompress(content), usedforsecurity=False).hexdigest()
        except zlib.error:
            return
        target = store / "objects" / name[:2] / name[2:]
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(content)


def _newest(store: Path, commits: list[str]) -> datetime | None:
    if not commits:
        return None
    asked = "".join(f"{commit}\n" for commit in commits).encode()
    printed = run_git(store, "cat-file", "--batch", stdin=asked)
    return max((commit_time(found) for found in _COMMITTED.findall(printed)), default=None)
