"""What a Python package index tells of a project's files: hashes, and when each was uploaded.

Only the JSON form of the simple API has dates (PEP 691, PEP 700). An index that has none cannot tell
the past from the future, and is refused.
"""

import json
import os
import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urljoin

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from probe.environment.downloads import MissingError, get, without_secrets
from probe.environment.python_project import normal_name
from probe.errors import ProbeError

PYPI = "https://pypi.org/simple"
"""Asked unless a variable of :data:`_VARIABLES` names another."""
_VARIABLES = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")
_JSON = "application/vnd.pypi.simple.v1+json"
_WORKERS = 8
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class IndexFile:
    """A file of a release."""

    name: str
    """The project, normalised."""
    version: Version
    """Its version."""
    filename: str
    """As the index writes it."""
    url: str
    """Where it is."""
    sha256: str
    """Hash of its bytes."""
    uploaded: datetime | None
    """In UTC; None where the index does not say."""

    @property
    def is_wheel(self) -> bool:
        """Whether it can be installed without being built."""
        return self.filename.endswith(".whl")


def index_url() -> str:
    """The index that uv and pip are told of in the environment, else PyPI; without the last slash."""
    named = next((os.environ[name] for name in _VARIABLES if os.environ.get(name)), PYPI)
    return named.rstrip("/")


def list_projects(names: Iterable[str], index: str) -> dict[str, list[IndexFile]]:
    """The files of several projects, asked for side by side; by normalised name.

    Raises:
        ProbeError: as :func:`list_files`.
    """
    wanted = sorted({normal_name(name) for name in names})
    with ThreadPoolExecutor(_WORKERS) as pool:
        listed = pool.map(lambda name: list_files(name, index), wanted)
        return dict(zip(wanted, listed, strict=True))


def list_files(name: str, index: str) -> list[IndexFile]:
    """The files of one project that have a SHA-256 and a readable name.

    Raises:
        ProbeError: the index cannot be reached, has no such project, or gives no dates.
    """
    url = f"{index}/{normal_name(name)}/"
    shown = without_secrets(index)
    try:
        body = get(url, headers={"Accept": _JSON})
    except MissingError:
        raise ProbeError(
            f"{name}: the index {shown} does not have it; name one that does (UV_DEFAULT_INDEX)"
        ) from None
    try:
        told = json.loads(body)
        found = [_read(normal_name(name), url, one) for one in told["files"]]
    except (ValueError, KeyError, TypeError):
        raise _undated(shown) from None
    files = [one for one in found if one is not None]
    if files and not any(one.uploaded for one in files):
        raise _undated(shown)
    return files


def _undated(shown: str) -> ProbeError:
    return ProbeError(
        f"{shown}: gives no upload dates (JSON of PEP 691 with those of PEP 700), so that the snapshot's "
        "dependencies cannot be told from later ones; name another index (UV_DEFAULT_INDEX)"
    )


def _read(name: str, base: str, told: Any) -> IndexFile | None:
    try:
        filename, sha256 = str(told["filename"]), str(told["hashes"]["sha256"])
        version = _version(filename)
        url = urljoin(base, str(told["url"]))
    except (KeyError, TypeError):
        return None
    if version is None or not _SHA256.fullmatch(sha256):
        return None
    return IndexFile(name, version, filename, url, sha256, _time(told.get("upload-time")))


def _version(filename: str) -> Version | None:
    try:
        if filename.endswith(".whl"):
            return parse_wheel_filename(filename)[1]
        return parse_sdist_filename(filename)[1]
    except (InvalidSdistFilename, InvalidWheelFilename, InvalidVersion):
        return None


def _time(told: object) -> datetime | None:
    if not isinstance(told, str):
        return None
    try:
        return datetime.fromisoformat(told).astimezone(UTC)
    except ValueError:
        return None
