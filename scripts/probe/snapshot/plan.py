"""The plan: which audited files go into which pass.

Directories are kept together as far as the token budget allows: a folder whose whole subtree fits
is one batch, otherwise its own files are batched and its subfolders planned in turn. Same files,
same plan, byte for byte, whatever their order.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from probe.paths import WHOLE
from probe.records import Pass, SnapshotFile, content_sha256

PLAN_VERSION = 1
"""Part of every pass's content hash: a change of the pass's form makes paid passes rerun."""


def build_plan(files: Iterable[SnapshotFile], token_budget: int) -> list[Pass]:
    """Partition the audited files into passes, sorted by id.

    Args:
        files: the snapshot's files in any order; only audited ones are planned.
        token_budget: upper bound of a batch, in tokens; a file above it is a pass of its own.

    Returns:
        Passes that together hold every audited file exactly once.
    """
    audited = sorted((file for file in files if file.audited), key=lambda file: file.path)
    large = [file for file in audited if file.tokens > token_budget]
    small = [file for file in audited if file.tokens <= token_budget]
    groups = [("individual", [file]) for file in large]
    groups += [("batch", group) for group in _batches(small, token_budget)]
    names = _names([group for _, group in groups])
    passes = [
        _make_pass(name, kind, group) for name, (kind, group) in zip(names, groups, strict=True)
    ]
    return sorted(passes, key=lambda one: one.id)


def whole_pass(files: Iterable[SnapshotFile]) -> Pass:
    """The single pass over all audited files that analysers and imported reports get."""
    return _make_pass(WHOLE, "batch", sorted((f for f in files if f.audited), key=lambda f: f.path))


def _batches(
    files: Sequence[SnapshotFile], budget: int, folder: tuple[str, ...] = ()
) -> Iterator[list[SnapshotFile]]:
    if not files:
        return
    if sum(file.tokens for file in files) <= budget:
        yield list(files)
        return
    depth = len(folder)
    own: list[SnapshotFile] = []
    below: dict[str, list[SnapshotFile]] = defaultdict(list)
    for file in files:
        parts = PurePosixPath(file.path).parts
        if len(parts) == depth + 1:
            own.append(file)
        else:
            below[parts[depth]].append(file)
    yield from _split(own, budget)
    for name in sorted(below):
        yield from _batches(below[name], budget, (*folder, name))


def _split(files: Sequence[SnapshotFile], budget: int) -> Iterator[list[SnapshotFile]]:
    group: list[SnapshotFile] = []
    total = 0
    for file in files:
        if group and total + file.tokens > budget:
            yield group
            group, total = [], 0
        group.append(file)
        total += file.tokens
    if group:
        yield group


def _names(groups: Sequence[Sequence[SnapshotFile]]) -> list[str]:
    stems = [_stem(group) for group in groups]
    seen: dict[str, int] = defaultdict(int)
    names = []
    for stem in stems:
        seen[stem] += 1
        names.append(f"{stem}-{seen[stem]}")
    return names


def _stem(group: Sequence[SnapshotFile]) -> str:
    """The folder (or single file) that a group stands for, as letters, digits and dashes."""
    parts = [PurePosixPath(file.path).parts for file in group]
    if len(parts) == 1:
        common: tuple[str, ...] = parts[0]
    else:
        shared = 0
        while all(len(p) > shared + 1 and p[shared] == parts[0][shared] for p in parts):
            shared += 1
        common = parts[0][:shared]
    slug = re.sub(r"[^a-z0-9]+", "-", "-".join(common).lower()).strip("-")
    return slug[-80:].strip("-") or "root"


def _make_pass(name: str, kind: str, files: Sequence[SnapshotFile]) -> Pass:
    return Pass(
        id=name,
        kind="individual" if kind == "individual" else "batch",
        files=tuple(file.path for file in files),
        tokens=sum(file.tokens for file in files),
        score=float(max((file.lines for file in files), default=0)),
        content_sha256=content_sha256([PLAN_VERSION, [[file.path, file.blob] for file in files]]),
    )
