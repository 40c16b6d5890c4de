"""Opening a SARIF file: size, encoding, JSON, version, each with its own clear refusal."""

import json
import re
from pathlib import Path

from probe.errors import FinderError

VERSION = "2.1.0"

DEFAULT_MAX_MB = 512.0
"""Reading takes about ten times a file's size in memory."""

SMALL_MB = 20.0
"""Up to this size a dry run reads the whole file, in well under a second."""

_HEAD = 65536
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_VERSION = re.compile(rb'"version"\s*:\s*"([^"]{1,40})"')


def check_sarif(path: Path, max_mb: float = DEFAULT_MAX_MB) -> None:
    """What a dry run can say of a SARIF file: of a small one everything, else what its head shows.

    Raises:
        FinderError: it is missing, no file, empty, too large, no JSON object, or of another version.
    """
    _check_head(path, max_mb)
    if path.stat().st_size <= SMALL_MB * 1e6:
        load_sarif(path, max_mb)


def _check_head(path: Path, max_mb: float) -> None:
    head = _head(path, max_mb)
    if head.startswith(_UTF16):
        return
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start:
        raise FinderError(f"{path}: is empty; a SARIF file with no results has an empty array")
    if not start.startswith(b"{"):
        raise FinderError(f"{path}: is no SARIF file: expected a JSON object, found {start[:20]!r}")
    version = _VERSION.match(start[1:].lstrip())
    if version and version.group(1) != VERSION.encode():
        _wrong_version(path, version.group(1).decode("ascii", errors="replace"))


def load_sarif(path: Path, max_mb: float) -> dict[str, object]:
    """The log of a SARIF file in UTF-8, UTF-16 or UTF-32, with or without byte-order mark.

    Raises:
        FinderError: as :func:`check_sarif`, or it is no JSON, or nested too deeply.
    """
    _check_head(path, max_mb)
    try:
        log = json.loads(path.read_bytes())
    except RecursionError as error:
        raise FinderError(f"{path}: is nested too deeply for a SARIF file") from error
    except (ValueError, OSError) as error:
        reason = " ".join(str(error).split())
        raise FinderError(f"{path}: is not valid JSON: {reason}; export it again") from error
    if not isinstance(log, dict):
        raise FinderError(f"{path}: is no SARIF file: expected a JSON object at the top")
    if log.get("version") != VERSION:
        _wrong_version(path, log.get("version"))
    return log


def _head(path: Path, max_mb: float) -> bytes:
    if not path.exists():
        raise FinderError(f"{path}: no such SARIF file; correct 'path' of the run")
    if not path.is_file():
        raise FinderError(f"{path}: is no regular file; 'path' of the run must name a SARIF file")
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            head = stream.read(_HEAD)
    except OSError as error:
        raise FinderError(f"{path}: cannot read: {error.strerror}") from error
    if size > max_mb * 1e6:
        raise FinderError(
            f"{path}: has {size / 1e6:.1f} MB, more than the {max_mb:g} MB of 'max_mb'; raise it, "
            "or export without code flows"
        )
    return head


def _wrong_version(path: Path, found: object) -> None:
    raise FinderError(
        f"{path}: says version {found!r:.60}; only SARIF {VERSION} is read; export it as such"
    )
