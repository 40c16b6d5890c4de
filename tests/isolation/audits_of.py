"""A small project with a past and a future, its snapshot, and ways to plant a leak into it."""

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

from builders import HistoryBuilder

from probe.environment.override import Override
from probe.git.archive import build_archive
from probe.isolation.audit import Snapshot, audit_snapshot
from probe.records import Environment, History, LeakReport, Provenance, SnapshotInfo, file_sha256

T0_TIME = "2024-12-20T10:00:00+00:00"
LATER = "2025-03-01T10:00:00+00:00"
FIX = "def mean(values):\n    if not len(values):\n        raise ValueError('the mean of no values is unknown')\n    return sum(values) / len(values)\n"
FILES = {
    "pyproject.toml": "[project]\nname = 'little-sums'\nversion = '1.0'\n",
    "sums/__init__.py": "from sums.core import mean\n",
    "sums/core.py": "def mean(values):\n    return sum(values) / len(values)\n",
    "sums/text.py": "# colours: #fff and #120\n\ndef shout(text):\n    return text.upper()\n",
    "CHANGELOG.md": "# Changes\n\n## 1.0 (2024-12-19)\n\n- First release, see #41\n",
}


class Case:
    """A history of three commits, the second being T0, and its snapshot."""

    def __init__(self, folder: Path, files: Mapping[str, str | bytes] | None = None) -> None:
        self.history = HistoryBuilder(folder / "mirror.git")
        self.history.commit({"sums/core.py": "def mean(values):\n    pass\n"}, "Begin (#40)",
                            date="2024-12-01T10:00:00+00:00")  # fmt: skip
        self.t0 = self.history.commit({**FILES, **(files or {})}, "Sums (#42)", date=T0_TIME)
        self.t1 = self.history.commit(
            {"sums/core.py": FIX}, "Refuse the mean of nothing (#57)", date=LATER
        )
        self.folder = folder / "results/little"
        self.archive = self.folder / "snapshot/source.tar"
        self.archive.parent.mkdir(parents=True)
        self.info = build_archive(self.history.path, self.t0, self.archive, repo="little")
        self.environment = Environment(
            repo="little",
            status="sources_only",
            reason="none was wanted",
            cutoff=self.info.committer_time,
            sha256="e" * 64,
            provenance=Provenance.of_heuristic("1"),
        )

    @property
    def pins(self) -> History:
        return History(
            repo="little", url="https://example.org/ada/little.git", default_branch="main",
            t0=self.t0, t1=self.t1,
        )  # fmt: skip

    def plant(self, files: Mapping[str, str | bytes], mtime: int | None = None) -> None:
        """Put files into the archive, over those that are there, and sign it anew."""
        kept: dict[str, tuple[tarfile.TarInfo, bytes]] = {}
        with tarfile.open(self.archive) as tar:
            for member in tar:
                stream = tar.extractfile(member)
                kept[member.name] = (member, stream.read() if stream else b"")
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            member = tarfile.TarInfo(name)
            member.mtime = int(self.info.committer_time.timestamp()) if mtime is None else mtime
            member.size = len(data)
            kept[name] = (member, data)
        with tarfile.open(self.archive, "w") as tar:
            for member, data in kept.values():
                tar.addfile(member, io.BytesIO(data))
        self.sign()

    def sign(self) -> None:
        told = self.info.model_dump() | {"archive_sha256": file_sha256(self.archive)}
        self.info = SnapshotInfo.model_validate(told)

    def audit(
        self,
        override: Mapping[str, object] | None = None,
        engine: str = "bubblewrap",
        **more: object,
    ) -> LeakReport:
        about = Snapshot(self.archive, self.info, self.history.path, self.environment, self.folder)
        given = Override.model_validate(override or {})
        return audit_snapshot(about, given, engine=engine, **more)  # type: ignore[arg-type]
