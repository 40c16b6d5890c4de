"""Facts of the snapshots that tests of environments share."""

from datetime import UTC, datetime

from probe.records import SnapshotInfo

CUTOFF = datetime(2024, 12, 31, tzinfo=UTC)
INFO = SnapshotInfo(
    repo="mine", sha="1" * 40, tree="2" * 40, committer_time=CUTOFF, files=1, symlinks=(),
    escaping_symlinks=(), submodules=(), lfs_pointers=(), export_ignored=(), missing_blobs=(),
    archive_sha256="3" * 64,
)  # fmt: skip
