"""Blocks: runs of the window, the units that are judged and paid for."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from probe.paths import block_name
from probe.records import Classification, Commit, content_sha256

BLOCK_VERSION = 1
"""Part of every block's hash: a change of what the stages see makes the blocks rerun."""


def blocks_table(commits: Sequence[Commit], size: int) -> str:
    """The window's blocks as TSV: name, content hash, number of commits.

    A block's hash covers its commits only, so a window that grew keeps the hashes of all full
    blocks. An empty window has no blocks.
    """
    rows = ["block\tcontent_sha256\tcommits"]
    for number, start in enumerate(range(0, len(commits), size)):
        block = commits[start : start + size]
        sha = content_sha256([BLOCK_VERSION, [commit.sha for commit in block]])
        rows.append(f"{block_name(number)}\t{sha}\t{len(block)}")
    return "\n".join(rows) + "\n"


def commits_of_block(commits: Iterator[Commit], name: str, size: int) -> list[Commit]:
    """The commits of one block, in window order; reads no further than it must."""
    first = int(name) * size
    block: list[Commit] = []
    for commit in commits:
        if commit.position >= first + size:
            break
        if commit.position >= first:
            block.append(commit)
    return block


def select_fixes(
    commits: Iterable[Commit], classifications: Iterable[Classification]
) -> list[Commit]:
    """The commits that were classified as fixes, in window order; reads no further than it must."""
    wanted = {item.commit for item in classifications if item.is_fix}
    found = (commit for commit in commits if commit.sha in wanted)
    return list(islice(found, len(wanted)))
