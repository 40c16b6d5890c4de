"""What the npm registry tells of releases, and their tarballs, each checked against its hash.

A registry's ``time`` is the day of publication on registry.npmjs.org, which also says when the
package was ``created``. Mirrors leave that out and give the day on which they fetched a release:
such a date only bounds the publication from above.
"""

import base64
import hashlib
import json
import os
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from probe.environment.downloads import Download, MissingError, cache_path, get, get_artifact
from probe.environment.node_semver import parse_version
from probe.environment.recipe import Artifact
from probe.errors import ProbeError
from probe.records.store import atomic_writer

REGISTRY = "https://registry.npmjs.org"
"""Asked unless the variable ``NPM_CONFIG_REGISTRY``, npm's own, names another."""
_VARIABLE = "NPM_CONFIG_REGISTRY"

_WORKERS = 16
_STRENGTHS = ("sha512", "sha384", "sha256", "sha1")


@dataclass(frozen=True)
class Published:
    """One release as the registry knows it."""

    version: str
    """Exact."""
    integrity: str | None
    """Hash of the tarball as subresource integrity."""
    seen: datetime | None
    """The registry's date, in UTC."""
    os: tuple[str, ...] = ()
    """Operating systems that it is for (``!win32``: all but); empty for all."""
    cpu: tuple[str, ...] = ()
    """Processors, likewise."""
    libc: tuple[str, ...] = ()
    """C libraries, likewise."""
    bins: Mapping[str, str] = field(default_factory=dict)
    """Commands, by name the file inside the package."""
    node: str = ""
    """Range of Node releases that it runs on; empty where it does not say."""
    scripts: bool = False
    """Whether it wants to run commands of its own when it is installed."""


@dataclass(frozen=True)
class Packument:
    """All releases of a package."""

    name: str
    """As the registry writes it."""
    own_dates: bool
    """Whether dates are those of publication, and not a mirror's."""
    releases: Mapping[str, Published]
    """By version."""

    def bound(self, version: str) -> datetime | None:
        """When the release was surely out: its own date or, from a mirror, the earliest of it and of
        later releases of the same minor line, since these are published in order.
        """
        release = self.releases.get(version)
        if release is None or release.seen is None:
            return None
        this = parse_version(version)
        if self.own_dates or this is None or not this.final:
            return release.seen
        dates = [release.seen]
        for other in self.releases.values():
            that = parse_version(other.version)
            if that is None or other.seen is None or not that.final:
                continue
            if that[:2] == this[:2] and that >= this:
                dates.append(other.seen)
        return min(dates)


class Registry:
    """A client of one npm registry."""

    def __init__(self, base: str | None = None) -> None:
        self.base = (base or os.environ.get(_VARIABLE) or REGISTRY).rstrip("/")

    def packument(self, name: str) -> Packument:
        """What the registry knows of a package.

        Raises:
            ProbeError: it has no such package, or does not answer.
        """
        url = f"{self.base}/{urllib.parse.quote(name, safe='@')}"
        try:
            told = json.loads(get(url))
        except MissingError:
            raise ProbeError(f"npm package {name}: the registry does not have it") from None
        except ValueError:
            raise ProbeError(f"{url}: the answer is no JSON; is this an npm registry?") from None
        return _read_packument(name, told)

    def packuments(self, names: Iterable[str]) -> dict[str, Packument]:
        """Several at a time.

        Raises:
            ProbeError: as :meth:`packument`.
        """
        wanted = sorted(set(names))
        with ThreadPoolExecutor(_WORKERS) as pool:
            return dict(zip(wanted, pool.map(self.packument, wanted), strict=True))

    def tarball_url(self, name: str, version: str) -> str:
        """Where the registry keeps a release, whatever host a lock names."""
        return f"{self.base}/{urllib.parse.quote(name, safe='@/')}/-/{name.split('/')[-1]}-{version}.tgz"

    def tarballs(self, wanted: Iterable["Tarball"], folder: Path, cache: Path) -> list[Artifact]:
        """Have these releases as artifacts, several at a time, each with the hash that is asked for.

        Raises:
            ProbeError: one is not to be had, or its hash differs.
        """
        # the same release may stand in a lock with hashes of different strength
        ordered = {one.file: one for one in sorted(wanted, key=lambda one: len(one.integrity))}
        with ThreadPoolExecutor(_WORKERS) as pool:
            jobs = [pool.submit(self._tarball, one, folder, cache) for one in ordered.values()]
            try:
                return [job.result() for job in jobs]
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def _tarball(self, wanted: "Tarball", folder: Path, cache: Path) -> Artifact:
        """One release; npm's hashes are not those of the cache, so a small file translates."""
        known = cache / "npm" / hashlib.sha256(wanted.integrity.encode()).hexdigest()
        if known.is_file():
            sha256 = known.read_text(encoding="ascii").strip()
            kept = cache_path(cache, sha256)
            if kept.is_file() and check_integrity(kept.read_bytes(), wanted.integrity):
                return get_artifact(Download(wanted.file, "", sha256), folder, cache)
        url = self.tarball_url(wanted.name, wanted.version)
        content = get(url)
        if not check_integrity(content, wanted.integrity):
            raise ProbeError(
                f"{url}: its hash is not {wanted.integrity[:22]}… as the lock says; "
                "the registry serves other bytes ({_VARIABLE})"
            )
        artifact = keep_artifact(wanted.file, content, folder, cache)
        with atomic_writer(known) as stream:
            stream.write(artifact.sha256.encode())
        return artifact


class Tarball(NamedTuple):
    """A release that is wanted as a file."""

    name: str
    """In the registry."""
    version: str
    """Exact."""
    integrity: str
    """What its bytes must have."""

    @property
    def file(self) -> str:
        """Its name among the artifacts."""
        return f"npm-{self.name.replace('/', '+')}-{self.version}.tgz"


def keep_artifact(file: str, content: bytes, folder: Path, cache: Path) -> Artifact:
    """Put bytes into the cache and among the artifacts."""
    sha256 = hashlib.sha256(content).hexdigest()
    with atomic_writer(cache_path(cache, sha256)) as stream:
        stream.write(content)
    return get_artifact(Download(file, "", sha256), folder, cache)


def check_integrity(content: bytes, integrity: str) -> bool:
    """Whether bytes have the strongest of the hashes that a lock names (``sha512-…`` in base64)."""
    named: dict[str, list[str]] = {}
    for word in integrity.split():
        algorithm, _, digest = word.partition("-")
        named.setdefault(algorithm, []).append(digest.split("?")[0])
    for algorithm in _STRENGTHS:
        if algorithm in named:
            real = base64.b64encode(hashlib.new(algorithm, content).digest()).decode()
            return real in named[algorithm]
    return False


def platform_allows(listed: Iterable[str], this: str) -> bool:
    """Whether an ``os``, ``cpu`` or ``libc`` list admits this machine."""
    entries = [entry for entry in listed if entry != "any"]
    refused = {entry[1:] for entry in entries if entry.startswith("!")}
    named = {entry for entry in entries if not entry.startswith("!")}
    return this not in refused and (not named or this in named)


def _read_packument(name: str, told: Any) -> Packument:
    if not isinstance(told, dict) or not isinstance(told.get("versions"), dict):
        raise ProbeError(f"npm package {name}: the registry's answer lists no versions")
    times = told.get("time") or {}
    releases = {
        version: _read_release(version, one, times.get(version))
        for version, one in told["versions"].items()
        if isinstance(one, dict)
    }
    return Packument(name, "created" in times, releases)


def _read_release(version: str, told: dict[str, Any], seen: object) -> Published:
    dist = told.get("dist") or {}
    integrity = dist.get("integrity")
    if integrity is None and dist.get("shasum"):
        integrity = integrity_of_hex("sha1", dist["shasum"])
    return Published(
        version,
        integrity,
        _read_time(seen),
        tuple(_words(told.get("os"))),
        tuple(_words(told.get("cpu"))),
        tuple(_words(told.get("libc"))),
        bins=read_bins(str(told.get("name", "")), told.get("bin")),
        node=_engine(told.get("engines")),
        scripts=bool({"preinstall", "install", "postinstall"} & set(told.get("scripts") or ())),
    )


def integrity_of_hex(algorithm: str, digest: str) -> str:
    """A hexadecimal hash as subresource integrity."""
    return f"{algorithm}-{base64.b64encode(bytes.fromhex(digest)).decode()}"


def read_bins(name: str, told: object) -> dict[str, str]:
    """A manifest's ``bin``: one file named as the package, or files by name."""
    if isinstance(told, str):
        return {name.split("/")[-1]: told}
    if isinstance(told, dict):
        return {
            str(key).split("/")[-1]: value for key, value in told.items() if isinstance(value, str)
        }
    return {}


def _engine(told: object) -> str:
    node = told.get("node") if isinstance(told, dict) else None
    return node if isinstance(node, str) else ""


def _words(told: object) -> Iterator[str]:
    if isinstance(told, str):
        yield told
    elif isinstance(told, list):
        yield from (str(word) for word in told)


def _read_time(told: object) -> datetime | None:
    if not isinstance(told, str):
        return None
    try:
        moment = datetime.fromisoformat(told)
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
