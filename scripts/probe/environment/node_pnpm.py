"""pnpm's lock: every release once per set of peers, in a folder that holds what it needs as links."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

import yaml

from probe.environment.base import UnbuildableError
from probe.environment.node_lock import Link, Lock, Placement
from probe.errors import ProbeError

_STORE = "node_modules/.pnpm"
_LONGEST = 100
_KINDS = ("dependencies", "devDependencies", "optionalDependencies")


def read_pnpm_lock(path: str, content: bytes) -> Lock:
    """``pnpm-lock.yaml`` of version 6 or later.

    Raises:
        UnbuildableError: it is older.
        ProbeError: it is malformed.
    """
    told = _read(path, content)
    version = str(told.get("lockfileVersion", ""))
    if not re.match(r"[6-9]\b", version):
        raise UnbuildableError(f"{path}: version {version or 'unknown'} of pnpm's lock is not read")
    packages = {str(k).lstrip("/"): v for k, v in _dict(told.get("packages")).items()}
    shots = {str(k).lstrip("/"): v for k, v in _dict(told.get("snapshots")).items()} or packages
    placements, links = [], []
    for key, shot in sorted(shots.items()):
        about = _dict(packages.get(key, packages.get(_bare(key))))
        placements.append(_placement(path, key, about, _dict(shot)))
        links += _needs(key, _dict(shot), shots)
    importers = _dict(told.get("importers")) or {".": told}
    for folder, wanted in sorted(importers.items()):
        links += _importer(str(folder), _dict(wanted), shots)
    links += _hoisted(shots, {link.path for link in links})
    return Lock(path, tuple(placements), tuple(links))


def _read(path: str, content: bytes) -> dict[str, Any]:
    try:
        told = yaml.load(content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    except (yaml.YAMLError, ValueError) as error:
        raise ProbeError(f"{path}: no YAML: {' '.join(str(error).split())[:200]}") from None
    if not isinstance(told, dict):
        raise ProbeError(f"{path}: must hold an object")
    return told


def _placement(path: str, key: str, about: Mapping[str, Any], shot: Mapping[str, Any]) -> Placement:
    name, version = _release(key)
    resolution = _dict(about.get("resolution"))
    if not version:
        raise ProbeError(f"{path}: {key!r} names no version")
    foreign = next(
        (str(resolution[k]) for k in ("repo", "tarball", "directory") if k in resolution), None
    )
    integrity = resolution.get("integrity")
    lists = (_words(about.get("os")), _words(about.get("cpu")), _words(about.get("libc")))
    return Placement(
        _folder(key),
        name,
        str(about.get("version", version)),
        str(integrity) if integrity else None,
        bool(shot.get("optional") or about.get("optional")),
        *lists,
        foreign if integrity is None else None,
    )


def _needs(key: str, shot: Mapping[str, Any], shots: Mapping[str, Any]) -> list[Link]:
    """Links to what a release needs, beside it."""
    beside = f"{_STORE}/{_safe(key)}/node_modules"
    asked = {**_dict(shot.get("dependencies")), **_dict(shot.get("optionalDependencies"))}
    found = ((name, _target(name, str(text), shots)) for name, text in sorted(asked.items()))
    own = _release(key)[0]
    return [
        Link(f"{beside}/{name}", _folder(target))
        for name, target in found
        if target is not None and name != own
    ]


def _importer(folder: str, wanted: Mapping[str, Any], shots: Mapping[str, Any]) -> list[Link]:
    """Links of the project or one of its workspaces."""
    start = "" if folder == "." else f"{folder}/"
    links = []
    for kind in _KINDS:
        for name, told in _dict(wanted.get(kind)).items():
            text = str(told.get("version", "")) if isinstance(told, dict) else str(told)
            place = f"{start}node_modules/{name}"
            if text.startswith("link:"):
                target = _joined(start, text[5:])
                links += [Link(place, target)] if target is not None else []
            elif (key := _target(str(name), text, shots)) is not None:
                links.append(Link(place, _folder(key)))
    return links


def _hoisted(shots: Mapping[str, Any], taken: set[str]) -> list[Link]:
    """What pnpm lets every release see, declared or not, and the types that compilers look for."""
    links: dict[str, str] = {}
    for key in sorted(shots):
        name = _release(key)[0]
        links.setdefault(f"{_STORE}/node_modules/{name}", _folder(key))
        if name.startswith("@types/") and f"node_modules/{name}" not in taken:
            links.setdefault(f"node_modules/{name}", _folder(key))
    return [Link(*pair) for pair in links.items()]


def _target(name: str, text: str, shots: Mapping[str, Any]) -> str | None:
    """Key of a release: ``1.0.0``, ``1.0.0(peer@2.0.0)`` or, under an alias, ``real@1.0.0``."""
    for key in (f"{name}@{text}", text.lstrip("/")):
        if key in shots:
            return key
    return None


def _release(key: str) -> tuple[str, str]:
    bare = _bare(key)
    name, _, version = bare[1:].rpartition("@")
    return bare[:1] + name, version


def _bare(key: str) -> str:
    return key.partition("(")[0]


def _folder(key: str) -> str:
    return f"{_STORE}/{_safe(key)}/node_modules/{_release(key)[0]}"


def _safe(key: str) -> str:
    """A release as the name of a folder."""
    plain = re.sub(r"[^\w@.+-]", "_", key.replace("/", "+"))
    if len(plain) <= _LONGEST:
        return plain
    return f"{plain[:_LONGEST]}_{hashlib.sha256(key.encode()).hexdigest()[:12]}"


def _joined(start: str, relative: str) -> str | None:
    """A folder relative to the root; None for one outside."""
    parts: list[str] = [part for part in start.split("/") if part]
    for part in relative.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


def _words(told: object) -> tuple[str, ...]:
    return tuple(str(word) for word in told) if isinstance(told, list) else ()


def _dict(told: object) -> dict[str, Any]:
    return told if isinstance(told, dict) else {}
