"""What the agent is told of a snapshot before it looks: how large its parts are, and who is used."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from probe.code.tokens import count_tokens
from probe.context.modules import PARTNER_LINES, used_by
from probe.context.sources import Sources
from probe.records import CallEdge

TOKENS = 2_500
"""Tokens of the listing, at most."""


def listing(sources: Sources, edges: Iterable[CallEdge]) -> str:
    """Audited files by folder, then the largest and most used files, within :data:`TOKENS`."""
    used = used_by(edges)
    held: dict[str, list[int]] = defaultdict(list)
    for file in sources.audited:
        held[str(PurePosixPath(file.path).parent)].append(file.lines)
    folders = [
        f"{folder}/: {_counted(len(lines), 'file')}, {sum(lines)} lines"
        for folder, lines in sorted(held.items(), key=lambda one: (-sum(one[1]), one[0]))
    ]
    ranked = sorted(
        sources.audited,
        key=lambda file: (-file.lines - PARTNER_LINES * len(used[file.path]), file.path),
    )
    files = [
        f"{file.path}: {file.lines} lines, called from {_counted(len(used[file.path]), 'other file')}"
        for file in ranked
    ]
    return "\n".join([*_within(folders, TOKENS // 2), "", *_within(files, TOKENS // 2)])


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _within(lines: Sequence[str], tokens: int) -> list[str]:
    kept: list[str] = []
    for line in lines:
        tokens -= count_tokens(line) + 1
        if tokens < 12:
            return [*kept, f"and {len(lines) - len(kept)} more"]
        kept.append(line)
    return kept
