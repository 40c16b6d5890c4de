"""Small snapshots for the finders' tests."""

from collections.abc import Callable, Mapping

import pytest

from probe.code.languages import language_of
from probe.finders.base import FinderContext
from probe.records import Pass, SnapshotFile

MakeContext = Callable[..., FinderContext]


@pytest.fixture
def make_context(tmp_path) -> MakeContext:
    """Write files and describe them as a snapshot whose audited files are those of a language.

    ``links`` maps a path to the target of a symbolic link; ``unaudited`` names further files.
    """

    def make(
        files: Mapping[str, str | bytes],
        settings: Mapping[str, object] | None = None,
        *,
        links: Mapping[str, str] | None = None,
        unaudited: tuple[str, ...] = (),
        name: str = "snapshot",
    ) -> FinderContext:
        root = tmp_path / name
        root.mkdir()
        rows = []
        for path, content in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            data = content.encode() if isinstance(content, str) else content
            target.write_bytes(data)
            audited = language_of(path) is not None and path not in unaudited
            rows.append(_row(path, None if audited else "test"))
        for path, destination in (links or {}).items():
            (root / path).symlink_to(destination)
            rows.append(_row(path, "symlink"))
        rows.sort(key=lambda row: row.path)
        the_pass = Pass(
            id="all",
            kind="batch",
            files=tuple(row.path for row in rows if row.audited),
            tokens=0,
            content_sha256="0" * 64,
        )
        return FinderContext("demo", "tool", root, rows, the_pass, settings or {})

    return make


def _row(path: str, reason) -> SnapshotFile:
    return SnapshotFile(
        path=path,
        blob="0" * 40,
        size=0,
        language=language_of(path),
        lines=0,
        tokens=0,
        audited=reason is None,
        reason=reason,
    )
