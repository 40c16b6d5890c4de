"""Yarn's locks: those of version 1 in a format of its own, later ones in YAML."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from probe.environment.node_layout import Importer, Node, lay_out
from probe.environment.node_lock import Lock, foreign_source, read_object
from probe.environment.node_registry import integrity_of_hex
from probe.environment.tree import Tree
from probe.errors import ProbeError

_Entry = dict[str, Any]
_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"|([^\s,:"][^\s,"]*?)(?=[\s,:]|$)')


def read_yarn_lock(path: str, content: bytes, tree: Tree, manifest: Mapping[str, Any]) -> Lock:
    """``yarn.lock`` of any version.

    Raises:
        ProbeError: it is malformed, or does not know a dependency of ``package.json``.
    """
    text = content.decode("utf-8", "replace")
    berry = "__metadata:" in text
    entries = _berry_entries(path, text) if berry else dict(_classic_entries(path, text))
    nodes, by_descriptor = _nodes(path, entries, berry)
    importers = [
        _importer(path, folder, told, by_descriptor)
        for folder, told in _workspaces(tree, manifest).items()
    ]
    placements, links = lay_out(importers, nodes)
    notes = tuple(
        f"Yarn's patch is left out: {name}"
        for name in sorted(entries)
        if "@patch:" in name and "builtin<" not in name
    )
    return Lock(path, tuple(placements), tuple(links), notes, hashed=not berry)


def _classic_entries(path: str, text: str) -> Iterator[tuple[str, _Entry]]:
    """Blocks of a lock of version 1: descriptors, then values and lists indented below."""
    head: str | None = None
    entry: _Entry = {}
    section: dict[str, str] = entry
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        words = [quoted or plain for quoted, plain in _WORD.findall(line)]
        depth = len(line) - len(line.lstrip())
        if depth == 0:
            if head is not None:
                yield head, entry
            head, entry = ", ".join(words), {}
        elif depth == 2 and len(words) == 1 and line.endswith(":"):
            section = entry.setdefault(words[0], {})
        elif len(words) == 2 and depth in {2, 4} and head is not None:
            (entry if depth == 2 else section)[words[0]] = words[1]
        else:
            raise ProbeError(f"{path}: line {number} cannot be read: {line.strip()[:80]}")
    if head is not None:
        yield head, entry


def _berry_entries(path: str, text: str) -> dict[str, _Entry]:
    try:
        told = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    except yaml.YAMLError as error:
        raise ProbeError(f"{path}: no YAML: {' '.join(str(error).split())[:200]}") from None
    if not isinstance(told, dict):
        raise ProbeError(f"{path}: must hold an object")
    return {str(k): v for k, v in told.items() if k != "__metadata" and isinstance(v, dict)}


def _nodes(
    path: str, entries: Mapping[str, _Entry], berry: bool
) -> tuple[dict[str, Node], dict[str, str]]:
    """Releases by key, and the key of every descriptor (``name@range``)."""
    by_descriptor: dict[str, str] = {}
    for head, entry in entries.items():
        for descriptor in head.split(", "):
            if "@workspace:" not in str(entry.get("resolution", "")):
                by_descriptor[_plain(descriptor)] = head
    nodes = {}
    for head, entry in entries.items():
        if "@workspace:" in str(entry.get("resolution", "")):
            continue
        name, version, foreign = _release(path, head, entry, berry)
        optional = {
            key
            for key, meta in _dict(entry.get("dependenciesMeta")).items()
            if _dict(meta).get("optional")
        }
        asked = _dict(entry.get("dependencies"))
        wants = {
            **{key: asked[key] for key in asked if key in optional},
            **_dict(entry.get("optionalDependencies")),
        }
        conditions = _conditions(str(entry.get("conditions", "")))
        nodes[head] = Node(
            name,
            version,
            None if berry else _integrity(entry),
            _keys({k: v for k, v in asked.items() if k not in wants}, by_descriptor),
            _keys(wants, by_descriptor),
            foreign,
            *(conditions.get(key, ()) for key in ("os", "cpu", "libc")),
        )
    return nodes, by_descriptor


def _release(path: str, head: str, entry: _Entry, berry: bool) -> tuple[str, str, str | None]:
    """Name and version in the registry, and another source where it is not from there."""
    version = str(entry.get("version", ""))
    if not version:
        raise ProbeError(f"{path}: {head} has no version")
    if not berry:
        name, asked = _split(head.split(", ")[0])
        if asked.startswith("npm:"):
            name = _split(asked[4:])[0]
        return (
            name,
            version,
            foreign_source(str(entry["resolved"])) if "resolved" in entry else None,
        )
    resolution = str(entry.get("resolution", ""))
    name, source = _split(resolution)
    if source.startswith("patch:"):
        name, source = _split(source[6:].split("#")[0].replace("%3A", ":"))
    return name, version, None if source.startswith("npm:") else resolution


def _integrity(entry: _Entry) -> str | None:
    """The hash, of locks before Yarn 1.10 the SHA-1 behind the address."""
    if "integrity" in entry:
        return str(entry["integrity"])
    digest = str(entry.get("resolved", "")).partition("#")[2]
    return integrity_of_hex("sha1", digest) if re.fullmatch(r"[0-9a-f]{40}", digest) else None


def _importer(
    path: str, folder: str, manifest: Mapping[str, Any], by_descriptor: Mapping[str, str]
) -> Importer:
    optional = _dict(manifest.get("optionalDependencies"))
    needed = {**_dict(manifest.get("devDependencies")), **_dict(manifest.get("dependencies"))}
    for name, asked in needed.items():
        local = str(asked).startswith(("workspace:", "link:", "file:", "portal:"))
        if _plain(f"{name}@{asked}") not in by_descriptor and not local and not folder:
            raise ProbeError(
                f"{path}: does not know {name}@{asked} of package.json; is it out of date?"
            )
    return Importer(
        folder,
        str(manifest.get("name", "")),
        _keys({k: v for k, v in needed.items() if k not in optional}, by_descriptor),
        _keys(optional, by_descriptor),
    )


def _workspaces(tree: Tree, manifest: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Manifests of the root and of the workspaces, by folder."""
    found: dict[str, Mapping[str, Any]] = {"": manifest}
    told = manifest.get("workspaces")
    patterns = told.get("packages", []) if isinstance(told, dict) else told or []
    for path in tree.matching("package.json"):
        folder = path.rpartition("/")[0]
        if folder and any(_matches(folder, str(pattern)) for pattern in patterns):
            found[folder] = read_object(path, tree.read(path) or b"{}")
    return found


def _matches(folder: str, pattern: str) -> bool:
    plain = re.escape(pattern.strip("./")).replace(r"\*\*", ".+").replace(r"\*", "[^/]+")
    return re.fullmatch(plain, folder) is not None


def _keys(asked: Mapping[str, Any], by_descriptor: Mapping[str, str]) -> dict[str, str]:
    named = ((name, by_descriptor.get(_plain(f"{name}@{text}"))) for name, text in asked.items())
    return {name: key for name, key in named if key is not None}


def _plain(descriptor: str) -> str:
    """A descriptor without the protocol that is taken for granted."""
    name, asked = _split(descriptor)
    return f"{name}@{asked.removeprefix('npm:') if '@' not in asked else asked}"


def _split(descriptor: str) -> tuple[str, str]:
    name, _, asked = descriptor[1:].partition("@")
    return descriptor[:1] + name, asked


def _conditions(text: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for key, value in re.findall(r"(os|cpu|libc)=([\w!-]+)", text):
        found[key] = (*found.get(key, ()), value)
    return found


def _dict(told: object) -> dict[str, Any]:
    return told if isinstance(told, dict) else {}
