"""Exactly the calls behind a results folder as one file, so that others can replay what it says.

A plain tar whose members are the cache's own files: its bytes depend on the calls and on nothing
else, and whoever gets it can look inside with any tool.
"""

import json
import re
import tarfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import IO, NamedTuple

from probe.errors import RecordError
from probe.models.cache import CallStore, entry_bytes, parse_entry
from probe.models.secrets import secret_values
from probe.records import Call, atomic_writer

MAX_ENTRY = 256 * 2**20
"""Bytes of one entry that is taken in, at most."""

_MEMBER = re.compile(r"calls/([0-9a-f]{2})/(\1[0-9a-f]{62})\.json")
_KEY = re.compile(r"[0-9a-f]{64}")
_CELL = ".metrics.csv"

_PATTERNS = {
    "OpenAI or Anthropic": re.compile(r"(?<![\w-])sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}"),
    "Google": re.compile(r"(?<![\w-])AIza[A-Za-z0-9_-]{35}"),
    "GitHub": re.compile(r"(?<!\w)(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{50,})"),
    "Hugging Face": re.compile(r"(?<!\w)hf_[A-Za-z0-9]{30,}"),
    "Amazon": re.compile(r"(?<!\w)AKIA[A-Z0-9]{16}(?!\w)"),
    "xAI or Groq": re.compile(r"(?<!\w)(?:xai-|gsk_)[A-Za-z0-9]{30,}"),
    "Slack": re.compile(r"(?<!\w)xox[abprs]-[A-Za-z0-9-]{20,}"),
}
"""Keys by their look. A name in source code has letters only, or digits only at the end of a word;
a key mixes them, see :func:`_looks_random`."""


class Imported(NamedTuple):
    """What an import took in."""

    added: int
    known: int
    """Entries that were there already, and stay as they are."""


def export_calls(store: CallStore, results: Path, target: Path, *, patterns: bool = True) -> int:
    """Write the calls that the records below ``results`` name into a tar, atomically.

    Args:
        store: where they are.
        results: a results folder, any folder in it, or a cell (``results/REPO/RUN.metrics.csv``),
            which stands for its passes and the reference set and snapshot behind it.
        target: the tar.
        patterns: also look for what has the form of a provider's key. Without it, only for values
            of the environment's own secrets: for audited code that holds sample keys.

    Returns:
        How many calls there are.

    Raises:
        RecordError: a call is not in the cache, an entry holds what is or looks like a key, a
            record cannot be read, or there are no calls.
    """
    named = named_calls(results)
    if not named:
        raise RecordError(f"{results}: its records name no calls, so there is nothing to export")
    with (
        atomic_writer(target) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for key in sorted(named):
            call = _recorded(store, key, named[key])
            _refuse_secrets(call, store.path(key), patterns=patterns)
            _add(tar, f"calls/{key[:2]}/{key}.json", entry_bytes(call))
    return len(named)


def import_calls(store: CallStore, source: Path) -> Imported:
    """Take in the calls of a tar that :func:`export_calls` wrote: all of them, or none.

    Every entry is verified before the first one is added. An entry that is there already stays.

    Raises:
        RecordError: the file is no tar, or holds anything but whole entries under their own names.
    """
    for _ in _entries(source):
        pass
    added = known = 0
    for call in _entries(source):
        if store.get(call.key) is not None:
            known += 1
            continue
        store.put(call)
        added += 1
    return Imported(added, known)


def named_calls(results: Path) -> dict[str, Path]:
    """Keys of all calls that the records below a folder or cell name, with a file that names each.

    Raises:
        RecordError: there is no such folder or cell, or a record cannot be read.
    """
    named: dict[str, Path] = {}
    for folder in _folders(results):
        for file in sorted(folder.rglob("*.json*")):
            if file.suffix in {".json", ".jsonl"} and file.is_file():
                for key in _keys_in(file):
                    named.setdefault(key, file)
    return named


def _folders(results: Path) -> list[Path]:
    if results.is_dir():
        return [results]
    if not results.is_file() or not results.name.endswith(_CELL):
        raise RecordError(
            f"{results}: expected a results folder or a cell, results/REPO/RUN{_CELL}; build it first"
        )
    parts = (results.name.removesuffix(_CELL), "reference", "snapshot")
    return [results.parent / part for part in parts]


def _keys_in(file: Path) -> Iterator[str]:
    """Keys in a JSON or JSON Lines file; lines that hold none are not parsed."""
    try:
        data = file.read_bytes()
        if b'"calls"' not in data:
            return
        texts = data.splitlines() if file.suffix == ".jsonl" else [data]
        for text in texts:
            if b'"calls"' in text:
                yield from _keys(json.loads(text))
    except (OSError, ValueError, RecursionError) as error:
        raise RecordError(
            f"{file}: cannot be read, so its calls are unknown: {error}; build it again"
        ) from error


def _keys(value: object) -> Iterator[str]:
    """Keys that ``calls`` lists anywhere in a record."""
    if isinstance(value, list):
        for part in value:
            yield from _keys(part)
    elif isinstance(value, dict):
        for name, part in value.items():
            if name == "calls" and isinstance(part, list):
                yield from (key for key in part if isinstance(key, str) and _KEY.fullmatch(key))
            else:
                yield from _keys(part)


def _recorded(store: CallStore, key: str, named_in: Path) -> Call:
    call = store.get(key)
    if call is None:
        raise RecordError(
            f"{named_in}: names the call {key[:12]}…, which is not in {store.folder}; nothing was "
            "exported: run the build again, which buys what is missing"
        )
    return call


def _refuse_secrets(call: Call, file: Path, *, patterns: bool) -> None:
    secrets = secret_values()
    for text in _texts(call.model_dump()):
        if any(value in text for value in secrets):
            raise RecordError(
                f"{file}: holds the value of a secret of this environment; nothing was exported: "
                "change that key, then remove the entry"
            )
        owner = _key_like(text) if patterns else None
        if owner is not None:
            raise RecordError(
                f"{file}: holds what looks like a key of {owner}; nothing was exported: look at it, "
                "and if it is a sample in the audited code, export with --no-patterns"
            )


def _texts(value: object) -> Iterator[str]:
    """All texts in a call, decoded: in JSON, the n of a line's end would hide a key's first letter."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, part in value.items():
            yield str(name)
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)


def _key_like(text: str) -> str | None:
    """Whose key a text seems to hold; None for none."""
    for owner, pattern in _PATTERNS.items():
        if any(_looks_random(match[0]) for match in pattern.finditer(text)):
            return owner
    return None


def _looks_random(text: str) -> bool:
    """Whether letters and digits alternate as in a key rather than as in a name."""
    changes = re.findall(r"[A-Za-z][0-9]|[0-9][A-Za-z]", text)
    return len(changes) >= 3


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    member.mode = 0o644
    tar.addfile(member, BytesIO(data))


def _entries(source: Path) -> Iterator[Call]:
    try:
        with tarfile.open(source, mode="r:*") as tar:
            for member in tar:
                yield _entry(source, member, tar.extractfile(member) if member.isreg() else None)
    except (tarfile.TarError, EOFError, OSError) as error:
        raise RecordError(f"{source}: cannot be read as a tar: {error}") from error


def _entry(source: Path, member: tarfile.TarInfo, stream: IO[bytes] | None) -> Call:
    match = _MEMBER.fullmatch(member.name)
    if match is None or stream is None:
        raise RecordError(
            f"{source}: member {member.name[:100]!r} is no entry of a cache (calls/ab/ab….json, a "
            "plain file); nothing was imported"
        )
    if member.size > MAX_ENTRY:
        raise RecordError(f"{source}: member {member.name} has {member.size} bytes; refused")
    try:
        return parse_entry(stream.read(), match[2])
    except RecordError as error:
        raise RecordError(
            f"{source}: member {member.name}: {error}; nothing was imported"
        ) from error
