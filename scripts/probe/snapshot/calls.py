"""The call graph of a snapshot: which of its files are read for it, and how they are streamed.

Callers in tests are left out, as are files outside the sources: who calls a unit there tells a
finder nothing of the program. Generated, vendored and excluded files are read all the same, since
sources call them and re-export through them.
"""

import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from probe.code.graph import CallGraph, Source, build_callgraph
from probe.code.languages import LANGUAGES
from probe.errors import RecordError
from probe.records import NotAudited, SnapshotFile

_CALLED: frozenset[NotAudited] = frozenset({"generated", "vendored", "excluded"})
"""Not audited, but called."""
_CARRIED: dict[NotAudited, str] = {
    "minified": "minified",
    "too_large": "larger than snapshot.max_bytes",
}
"""Not audited and not parsed either."""


def snapshot_callgraph(archive: Path, files: Iterable[SnapshotFile]) -> CallGraph:
    """The calls between the units of a snapshot's sources.

    Args:
        archive: the snapshot's ``source.tar``; one file of it is in memory at a time.
        files: its files, in any order.

    Raises:
        RecordError: the archive cannot be read.
    """
    described = list(files)
    families = {_family(file) for file in described if file.audited}
    wanted = {
        file.path: file
        for file in described
        if file.audited
        or (file.reason in _CALLED and file.language and _family(file) in families)
        or file.reason in _CARRIED
    }
    return build_callgraph(_sources(archive, wanted))


def _family(file: SnapshotFile) -> str | None:
    return LANGUAGES[file.language].family if file.language else None


def _sources(archive: Path, wanted: dict[str, SnapshotFile]) -> Iterator[Source]:
    try:
        with tarfile.open(archive, "r:") as tar:
            for member in tar:
                file = wanted.get(member.name)
                stream = tar.extractfile(member) if file is not None and member.isreg() else None
                if file is not None and stream is not None:
                    why = _CARRIED.get(file.reason) if file.reason is not None else None
                    yield Source(file.path, stream.read(), file.language, why)
    except (OSError, tarfile.TarError) as error:
        raise RecordError(f"{archive}: cannot read: {error}; delete it and run again") from error
