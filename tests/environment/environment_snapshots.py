"""Facts of the snapshots that tests of environments share."""

import io
import tarfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from probe.environment.tree import Tree
from probe.records import SnapshotInfo

CUTOFF = datetime(2024, 12, 31, tzinfo=UTC)
INFO = SnapshotInfo(
    repo="mine", sha="1" * 40, tree="2" * 40, committer_time=CUTOFF, files=1, symlinks=(),
    escaping_symlinks=(), submodules=(), lfs_pointers=(), export_ignored=(), missing_blobs=(),
    archive_sha256="3" * 64,
)  # fmt: skip


def tree_of(files: Mapping[str, str], folder: Path) -> Tree:
    """A tree of these texts, written as ``folder/source.tar``."""
    path = folder / "source.tar"
    with tarfile.open(path, "w") as tar:
        for name, text in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    return Tree(path)
