"""Patches as sets of lines: equal, overlapping, and undoing one another."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePosixPath

from probe.reference.extract import CUT
from probe.reference.lineage import squeeze

_HUNK = re.compile(r"@@ -\d+,(\d+) \+\d+,(\d+) @@")
MIN_SAYING = 6
"""Characters without whitespace, one a letter or digit, of a line that can be compared."""


@dataclass(frozen=True, slots=True)
class Patch:
    """What a fix removes and adds, without whitespace, order and context."""

    names: frozenset[str]
    """Names of the changed files, without folders: a move does not make another fix of it."""
    removed: Counter[str]
    added: Counter[str]
    identity: str
    """Hash over all lines in order, like ``git patch-id`` without the paths."""

    @property
    def saying(self) -> int:
        """How many lines say something."""
        return self.removed.total() + self.added.total()


def read_patch(text: str) -> Patch:
    """A patch from a rendered suggested fix; see :func:`probe.reference.extract.render_fix`.

    The hunk headers' counts say how many lines follow: a removed line may look like a file header.
    """
    names: list[str] = []
    removed: list[str] = []
    added: list[str] = []
    lines = iter(text.split("\n"))
    for line in lines:
        hunk = _HUNK.match(line)
        if hunk:
            old_count, new_count = int(hunk[1]), int(hunk[2])
            removed.extend(part[1:] for part in islice(lines, old_count) if part != CUT)
            added.extend(part[1:] for part in islice(lines, new_count) if part != CUT)
        elif line.startswith(("--- ", "+++ ")):
            names.append(line[4:])
    return patch_of_lines(names, removed, added)


def patch_of_lines(paths: Iterable[str], removed: Iterable[str], added: Iterable[str]) -> Patch:
    """A patch from the paths that it changes and its lines in order."""
    old = [squeeze(line) for line in removed]
    new = [squeeze(line) for line in added]
    lines = [f"-{line}" for line in old if line] + [f"+{line}" for line in new if line]
    return Patch(
        frozenset(PurePosixPath(path).name for path in paths),
        Counter(line for line in old if says(line)),
        Counter(line for line in new if says(line)),
        hashlib.sha256("\n".join(lines).encode("utf-8", errors="replace")).hexdigest(),
    )


def added_overlap(left: Patch, right: Patch) -> float:
    """Jaccard of the multisets of added lines, 0 where both are empty."""
    union = (left.added | right.added).total()
    return (left.added & right.added).total() / union if union else 0.0


def undoes(later: Patch, earlier: Patch, share: float) -> bool:
    """Whether a patch takes back another: its removed lines are the other's added ones, and back.

    Args:
        later: the patch that may undo.
        earlier: the patch that may be undone.
        share: of either side of ``earlier`` that must be taken back.
    """
    if not earlier.added:
        return False
    back = (earlier.added & later.removed).total() >= share * earlier.added.total()
    again = (earlier.removed & later.added).total() >= share * earlier.removed.total()
    return back and again


def says(content: str) -> bool:
    """Whether a line without whitespace can be compared: brackets and ``else:`` are everywhere."""
    return len(content) >= MIN_SAYING and any(character.isalnum() for character in content)
