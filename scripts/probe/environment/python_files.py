"""Which file of each pinned release is installed, and the proof that none is younger than T0."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from packaging.tags import Tag
from packaging.utils import parse_wheel_filename
from packaging.version import Version

from probe.environment.downloads import Download
from probe.environment.python_index import IndexFile
from probe.environment.python_locks import Pin
from probe.errors import ProbeError
from probe.records.snapshot import Release


@dataclass(frozen=True)
class Chosen:
    """A release and the file that it is installed from."""

    pin: Pin
    """As locked."""
    file: IndexFile
    """Of the index."""

    @property
    def release(self) -> Release:
        """For the list of packages."""
        return Release(
            ecosystem="python",
            name=self.pin.name,
            version=self.pin.version,
            uploaded=self.file.uploaded,
        )

    @property
    def download(self) -> Download:
        """What to fetch."""
        return Download(self.file.filename, self.file.url, self.file.sha256)


def choose_files(
    pins: Iterable[Pin],
    listed: Mapping[str, Sequence[IndexFile]],
    tags: Sequence[Tag],
    cutoff: datetime,
    late: Mapping[str, str],
) -> list[Chosen]:
    """The best file of each release: a wheel for the machine, or else the source.

    A file that was uploaded after the cut-off, or at an unknown time, is never taken where an older
    one of the same release serves.

    Args:
        pins: what the lock names.
        listed: the index' files, by normalised name.
        tags: tags of the wheels that run on the machine, the best first.
        cutoff: T0's time.
        late: releases after the cut-off that a person accepted, by ``name==version``.

    Raises:
        ProbeError: a release has no such file on the index, or is younger than the cut-off; all
            offenders are named.
    """
    order = {tag: place for place, tag in enumerate(tags)}
    chosen = [_choose(pin, listed[pin.name], order, cutoff) for pin in sorted(pins)]
    offenders = [
        f"{_said(one)}"
        for one in chosen
        if not _old(one.file, cutoff) and f"{one.pin.name}=={one.pin.version}" not in late
    ]
    if offenders:
        raise ProbeError(
            f"younger than the snapshot ({cutoff:%Y-%m-%d %H:%M} UTC): {', '.join(offenders)}; a lock "
            "from after T0 gives the future away: accept each under `late` in "
            "envs/{repo}/environment.yaml with its reason, or set `python: {lock: false}` there"
        )
    return chosen


def _said(one: Chosen) -> str:
    when = (
        "at an unknown time" if one.file.uploaded is None else f"{one.file.uploaded:%Y-%m-%d %H:%M}"
    )
    return f"{one.pin.name}=={one.pin.version} (uploaded {when})"


def _old(file: IndexFile, cutoff: datetime) -> bool:
    return file.uploaded is not None and file.uploaded <= cutoff


def _choose(
    pin: Pin, listed: Sequence[IndexFile], order: Mapping[Tag, int], cutoff: datetime
) -> Chosen:
    version = Version(pin.version)
    named = [one for one in listed if one.version == version and one.sha256 in pin.hashes]
    if not named:
        known = any(one.version == version for one in listed)
        raise ProbeError(
            f"{pin.name}=={pin.version}: the index has "
            f"{'other files of it than the lock names' if known else 'no such release (any more)'}; "
            "name another index (UV_DEFAULT_INDEX), or set `python: {lock: false}` in "
            "envs/{repo}/environment.yaml"
        )
    ranked = [(rank, one.filename, one) for one in named if (rank := _rank(one, order)) is not None]
    if not ranked:
        raise ProbeError(
            f"{pin.name}=={pin.version}: no file for this machine and interpreter, and no source; "
            "exclude it under `python: {exclude: …}` in envs/{repo}/environment.yaml"
        )
    return Chosen(pin, min(ranked, key=lambda one: (not _old(one[2], cutoff), one[:2]))[2])


def _rank(file: IndexFile, order: Mapping[Tag, int]) -> int | None:
    """How well a file fits; None for a wheel that does not run there."""
    if not file.is_wheel:
        return len(order)
    places = [order[tag] for tag in parse_wheel_filename(file.filename)[3] if tag in order]
    return min(places, default=None)
