"""Which files of the snapshot finders are asked about, and why not the others."""

import hashlib
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from probe.code.languages import generated_marks, language_of
from probe.code.paths import SourceScope
from probe.code.tokens import count_tokens
from probe.errors import RecordError
from probe.records import NotAudited, SnapshotFile, SnapshotInfo

_GENERATED_MARKS = generated_marks()
_ROLE_REASONS: dict[str, NotAudited] = {
    "test": "test",
    "vendored": "vendored",
    "generated": "generated",
}


@dataclass(frozen=True, slots=True)
class FileLimits:
    """Bounds on what is audited."""

    max_bytes: int = 1_000_000
    """A larger file is ``too_large``."""
    minified_mean_line: int = 300
    """A file whose lines are longer than this on average, in bytes, is ``minified``."""


def list_files(
    archive: Path,
    info: SnapshotInfo,
    scope: SourceScope,
    languages: frozenset[str],
    limits: FileLimits,
) -> list[SnapshotFile]:
    """All paths of the snapshot, sorted by path.

    Args:
        archive: the snapshot's ``source.tar``.
        info: what the archive left out.
        scope: the inventory's globs.
        languages: language keys to audit; ``tsx`` goes with ``typescript``.
        limits: bounds on size and line length.

    Raises:
        RecordError: the archive cannot be read.
    """
    try:
        with tarfile.open(archive, "r:") as tar:
            files = list(_members(tar, info, scope, languages, limits))
    except (OSError, tarfile.TarError) as error:
        raise RecordError(f"{archive}: cannot read: {error}; delete it and run again") from error
    return sorted(files, key=lambda file: file.path)


def unpack(archive: Path, folder: Path) -> None:
    """Unpack the snapshot into an empty folder; links and paths out of it are refused.

    Raises:
        RecordError: the archive cannot be read, or the disk is full.
    """
    try:
        with tarfile.open(archive, "r:") as tar:
            tar.extractall(folder, filter="data")
    except (OSError, tarfile.TarError) as error:
        raise RecordError(f"{archive}: cannot unpack into {folder}: {error}") from error


def _members(
    tar: tarfile.TarFile,
    info: SnapshotInfo,
    scope: SourceScope,
    languages: frozenset[str],
    limits: FileLimits,
) -> Iterator[SnapshotFile]:
    submodules = set(info.submodules)
    pointers = set(info.lfs_pointers)
    hash_name = "sha1" if len(info.sha) == 40 else "sha256"
    for member in tar:
        path = member.name.rstrip("/")
        if member.issym():
            blob = _blob_id(member.linkname.encode(errors="surrogateescape"), hash_name)
            yield _left_out(path, blob, len(member.linkname), "symlink")
        elif path in submodules:
            yield _left_out(path, "0" * len(info.sha), 0, "submodule")
        elif member.isreg():
            stream = tar.extractfile(member)
            data = stream.read() if stream is not None else b""
            blob = _blob_id(data, hash_name)
            if path in pointers:
                yield _left_out(path, blob, len(data), "lfs_pointer")
            else:
                yield _describe(path, blob, data, scope, languages, limits)


def _blob_id(data: bytes, hash_name: str) -> str:
    return hashlib.new(
        hash_name, b"blob %d\0" % len(data) + data, usedforsecurity=False
    ).hexdigest()


def _left_out(path: str, blob: str, size: int, reason: NotAudited) -> SnapshotFile:
    return SnapshotFile(
        path=path, blob=blob, size=size, language=language_of(path), lines=0, tokens=0,
        audited=False, reason=reason,
    )  # fmt: skip


def _describe(
    path: str,
    blob: str,
    data: bytes,
    scope: SourceScope,
    languages: frozenset[str],
    limits: FileLimits,
) -> SnapshotFile:
    language = language_of(path)
    reason = _why_not(path, data, language, scope, languages, limits)
    is_text = b"\0" not in data[:8000]
    lines = data.count(b"\n") + (1 if data and not data.endswith(b"\n") else 0) if is_text else 0
    tokens = count_tokens(data.decode("utf-8", errors="replace")) if reason is None else 0
    return SnapshotFile(
        path=path, blob=blob, size=len(data), language=language, lines=lines, tokens=tokens,
        audited=reason is None, reason=reason,
    )  # fmt: skip


def _why_not(
    path: str,
    data: bytes,
    language: str | None,
    scope: SourceScope,
    languages: frozenset[str],
    limits: FileLimits,
) -> NotAudited | None:
    if scope.is_excluded(path):
        return "excluded"
    if b"\0" in data[:8000]:
        return "binary"
    role = scope.role(path)
    if role in _ROLE_REASONS:
        return _ROLE_REASONS[role]
    if language is None or language.replace("tsx", "typescript") not in languages:
        return "unknown_language"
    if role != "source" or not scope.in_source(path):
        return "outside_source"
    return _why_not_by_content(data, limits)


def _why_not_by_content(data: bytes, limits: FileLimits) -> NotAudited | None:
    if not data.strip():
        return "empty"
    if len(data) > limits.max_bytes:
        return "too_large"
    if len(data) / (data.count(b"\n") + 1) > limits.minified_mean_line:
        return "minified"
    head = b"\n".join(data.split(b"\n", 6)[:6]).lower()
    if any(mark in head for mark in _GENERATED_MARKS):
        return "generated"
    return None
