"""No release later than T0: what of a lock is installed here, and how each release is dated.

Three grounds count. The registry's own date of publication; a mirror's date, which bounds it from above;
and, where a mirror's date is no help, the lock itself: what stands in a file that was committed by T0
was there by T0, and npm never lets a version have other bytes later. A registry's own date after T0
contradicts the lock, and stops the build.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from probe.environment.base import Machine
from probe.environment.node_lock import Lock, Placement
from probe.environment.node_registry import Packument, Published, platform_allows
from probe.errors import ProbeError
from probe.records.snapshot import Release

_SHOWN = 5


class Dated(NamedTuple):
    """What is known of the age of a lock's releases."""

    releases: tuple[Release, ...]
    """Each once, sorted; ``uploaded`` is None where only the lock speaks for it."""
    accepted: tuple[str, ...]
    """Releases after T0 that the override accepts, with its reasons."""
    notes: tuple[str, ...]
    """How many are dated by which ground, where it is not the registry alone."""


def for_machine(
    lock: Lock, machine: Machine, packuments: Mapping[str, Packument] | None = None
) -> Lock:
    """A lock without optional releases for other machines, by the lock's or the registry's word."""
    kept = []
    for one in lock.placements:
        known = packuments.get(one.name) if packuments else None
        release = known.releases.get(one.version) if known else None
        lists = [
            getattr(one, key) or (getattr(release, key) if release else ())
            for key in ("os", "cpu", "libc")
        ]
        fits = all(platform_allows(*pair) for pair in zip(lists, npm_names(machine), strict=True))
        if fits or not one.optional:
            kept.append(one)
    return replace(lock, placements=tuple(kept))


def npm_names(machine: Machine) -> tuple[str, str, str]:
    """Operating system, processor and C library as npm names them."""
    processors = {"x86_64": "x64", "aarch64": "arm64", "i686": "ia32", "armv7l": "arm"}
    return machine.system, processors.get(machine.processor, machine.processor), machine.libc


def published(lock: Lock, packuments: Mapping[str, Packument]) -> dict[Placement, Published]:
    """The registry's word on each placement.

    Raises:
        ProbeError: the registry has no such release.
    """
    found = {}
    for one in lock.placements:
        release = packuments[one.name].releases.get(one.version)
        if release is not None:
            found[one] = release
        elif not one.optional:
            raise ProbeError(
                f"{lock.source}: the npm registry has no {one.name}@{one.version}; "
                "it may have been taken back"
            )
    return found


def date_releases(
    source: str,
    placements: Iterable[Placement],
    packuments: Mapping[str, Packument],
    cutoff: datetime,
    *,
    uncommitted: Collection[str] = (),
    accept: Mapping[str, str],
) -> Dated:
    """Hold every release against T0.

    Args:
        source: the lock's name, for messages.
        placements: what is installed, from a lock that is a file of the snapshot.
        packuments: the registry's word, by name.
        cutoff: T0.
        uncommitted: names of packages that the lock does not name, but a person.
        accept: reasons by ``name@version`` for releases after T0 that are wanted all the same.

    Raises:
        ProbeError: a release is later than T0, or cannot be dated at all.
    """
    grounds: dict[str, tuple[Release, str]] = {}
    for one in placements:
        packument = packuments[one.name]
        bound = packument.bound(one.version)
        if bound is not None and bound <= cutoff:
            ground, told = "registry", bound
        elif bound is not None and packument.own_dates:
            ground, told = "later", bound
        elif one.name not in uncommitted:
            ground, told = "lock", None
        else:
            ground, told = ("undated" if bound is None else "later"), bound
        release = Release(ecosystem="node", name=one.name, version=one.version, uploaded=told)
        grounds[f"{one.name}@{one.version}"] = release, ground
    wrong = {key: each for key, each in grounds.items() if each[1] in {"later", "undated"}}
    _refuse(source, {key: wrong[key][0] for key in wrong if key not in accept}, cutoff)
    by_lock = sum(ground == "lock" for _, ground in grounds.values())
    notes = []
    if by_lock:
        notes.append(
            f"{by_lock} of {len(grounds)} npm releases have no date of their own: the registry is a mirror "
            f"that saw them after T0; they stand in {source} as of T0"
        )
    return Dated(
        tuple(grounds[key][0] for key in sorted(grounds)),
        tuple(f"{key}: {accept[key]}" for key in sorted(wrong)),
        tuple(notes),
    )


def _refuse(source: str, wrong: Mapping[str, Release], cutoff: datetime) -> None:
    if not wrong:
        return
    shown = ", ".join(
        f"{key} ({release.uploaded:%Y-%m-%d})" if release.uploaded else f"{key} (no date)"
        for key, release in sorted(wrong.items())[:_SHOWN]
    )
    more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
    raise ProbeError(
        f"{source}: later than T0 ({cutoff:%Y-%m-%d}): {shown}{more}; "
        "accept each as `late: {name@version: reason}` in envs/{repo}/environment.yaml"
    )
