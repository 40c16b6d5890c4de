"""How the lines of a merge map to those of its other parents."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

from probe.git.diff import CommitDiff


@dataclass(frozen=True, slots=True)
class LineMap:
    """Where the lines of one file of a merge stood in one parent."""

    old_path: str
    hunks: tuple[tuple[int, int, int, int], ...]
    """Old start and count, new start and count, as git prints them; ascending."""

    def before(self, line: int) -> int | None:
        """The line's number in the parent, None where the parent does not have it."""
        starts = [new_start + (new_count == 0) for _, _, new_start, new_count in self.hunks]
        index = bisect_right(starts, line) - 1
        if index < 0:
            return line
        old_start, old_count, new_start, new_count = self.hunks[index]
        if new_count and line < new_start + new_count:
            return None
        old_end = old_start + old_count + (old_count == 0)
        new_end = new_start + new_count + (new_count == 0)
        return old_end + line - new_end


class MergeMap:
    """One parent of a merge beside the merge: the files that differ."""

    def __init__(self, diff: CommitDiff) -> None:
        self._listed = diff.listed
        self._maps: Mapping[str, LineMap | None] = {
            file.change.path: None
            if file.cut or file.change.added is None
            else LineMap(
                file.change.old_path or file.change.path,
                tuple((h.old_start, h.old_count, h.new_start, h.new_count) for h in file.hunks),
            )
            for file in diff.files
        }

    def of(self, path: str) -> LineMap | None:
        """The map of a file of the merge; None where its diff cannot be read."""
        return self._maps.get(path, LineMap(path, ())) if self._listed else None
