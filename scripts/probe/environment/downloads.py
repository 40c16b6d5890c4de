"""Downloaded files, shared by all environments of a machine: kept by the hash of their bytes.

A file enters the cache only under its own SHA-256, by renaming, so that a killed download leaves no
half of one and two processes that fetch the same file do no harm. What is there is never asked for
again, so that a second repository, and a rebuilt environment, need no network for it.
"""

import base64
import http.client
import io
import os
import shutil
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from probe.environment.recipe import Artifact
from probe.errors import ProbeError
from probe.records.store import atomic_writer, file_sha256

_ATTEMPTS = 4
_TIMEOUT_S = 60
_WORKERS = 8
_CHUNK = 1 << 20
_TRANSIENT = {408, 425, 429}


@dataclass(frozen=True)
class Download:
    """A file that is wanted, by its hash."""

    file: str
    """Its name among the artifacts."""
    url: str
    """Where it is."""
    sha256: str
    """What its bytes must have."""


class MissingError(ProbeError):
    """A server says that there is no such file; the next index may have it."""


def get(url: str, *, headers: Mapping[str, str] | None = None) -> bytes:
    """The body of an answer; faults that may pass are tried again.

    Raises:
        MissingError: there is no such file (404, 410).
        ProbeError: it cannot be had.
    """
    sink = io.BytesIO()
    _stream(url, sink, headers or {})
    return sink.getvalue()


def get_artifacts(wanted: Iterable[Download], folder: Path, cache: Path) -> list[Artifact]:
    """Have all these files in ``folder``, several at a time, each with the right hash.

    Raises:
        ProbeError: one cannot be had, or its bytes are others.
    """
    ordered = sorted(wanted, key=lambda one: one.file)
    with ThreadPoolExecutor(_WORKERS) as pool:
        jobs = [pool.submit(get_artifact, one, folder, cache) for one in ordered]
        try:
            return [job.result() for job in jobs]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def get_artifact(wanted: Download, folder: Path, cache: Path) -> Artifact:
    """Have one file in ``folder``.

    Raises:
        ProbeError: it cannot be had, or its bytes are others.
    """
    place = folder / wanted.file
    if not _has(place, wanted.sha256):
        kept = cache_path(cache, wanted.sha256)
        if not _has(kept, wanted.sha256):
            _fetch(wanted, kept)
        _lay(kept, place)
    return Artifact(file=wanted.file, sha256=wanted.sha256, size=place.stat().st_size)


def missing_artifacts(artifacts: Iterable[Artifact], folder: Path, cache: Path) -> list[Artifact]:
    """Those neither in ``folder`` nor in the cache; what the cache has is laid out in ``folder``."""
    lacking = []
    for one in artifacts:
        place, kept = folder / one.file, cache_path(cache, one.sha256)
        if _has(place, one.sha256):
            continue
        if _has(kept, one.sha256):
            _lay(kept, place)
        else:
            lacking.append(one)
    return lacking


def cache_path(cache: Path, sha256: str) -> Path:
    """Where the cache keeps a file."""
    return cache / sha256[:2] / sha256


def without_secrets(url: str) -> str:
    """A URL as it may be shown: without user and password."""
    parts = urllib.parse.urlsplit(url)
    return urllib.parse.urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _has(place: Path, sha256: str) -> bool:
    return place.is_file() and file_sha256(place) == sha256


def _fetch(wanted: Download, kept: Path) -> None:
    try:
        with atomic_writer(kept) as stream:
            _stream(wanted.url, stream, {})
            stream.flush()
            found = file_sha256(stream.name)
            if found != wanted.sha256:
                raise ProbeError(
                    f"{without_secrets(wanted.url)}: its sha256 is {found[:16]}…, the lock says "
                    f"{wanted.sha256[:16]}…; something alters downloads: name another index "
                    "(UV_DEFAULT_INDEX, NPM_CONFIG_REGISTRY)"
                )
    except MissingError:
        raise ProbeError(
            f"{without_secrets(wanted.url)}: the index lists this file but does not have it"
        ) from None


def _lay(kept: Path, place: Path) -> None:
    """Link a file of the cache, or copy it where links are not to be had."""
    temporary = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.hardlink_to(kept)
        except OSError:
            shutil.copyfile(kept, temporary)
        temporary.replace(place)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise ProbeError(
            f"{place}: cannot write: {error.strerror or error}; free space or fix permissions, "
            "then run the same command again"
        ) from error


def _stream(url: str, sink: IO[bytes], headers: Mapping[str, str]) -> None:
    """Write the body of an answer into ``sink``, from its start, trying again where it may help."""
    problem = ""
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(0.5 * 2**attempt)
        sink.seek(0)
        sink.truncate()
        try:
            with urllib.request.urlopen(_request(url, headers), timeout=_TIMEOUT_S) as answer:  # noqa: S310
                _copy(answer, sink)
            return
        except urllib.error.HTTPError as error:
            problem = f"HTTP {error.code}"
            error.close()
            if error.code in {404, 410}:
                raise MissingError(f"{without_secrets(url)}: {problem}") from None
            if error.code < 500 and error.code not in _TRANSIENT:
                break
        except (OSError, http.client.HTTPException, ValueError) as error:
            problem = str(getattr(error, "reason", error)) or type(error).__name__
            if isinstance(getattr(error, "reason", error), ConnectionRefusedError):
                break
    raise ProbeError(
        f"{without_secrets(url)}: {problem}; check the network, or name an index that can be reached "
        "(UV_DEFAULT_INDEX, NPM_CONFIG_REGISTRY)"
    )


def _copy(answer: IO[bytes], sink: IO[bytes]) -> None:
    while True:
        chunk = answer.read(_CHUNK)
        if not chunk:
            return
        try:
            sink.write(chunk)
        except OSError as error:
            raise ProbeError(
                f"a download cannot be kept: {error.strerror or error}; free space, then run the same "
                "command again"
            ) from error


def _request(url: str, headers: Mapping[str, str]) -> urllib.request.Request:
    """The request; user and password of the URL become a header."""
    parts = urllib.parse.urlsplit(url)
    secret = parts.netloc.rpartition("@")[0]
    told = {"User-Agent": "probe", **headers}
    if secret:
        plain = urllib.parse.unquote(secret).encode()
        told["Authorization"] = f"Basic {base64.b64encode(plain).decode()}"
    return urllib.request.Request(without_secrets(url), headers=told)  # noqa: S310
