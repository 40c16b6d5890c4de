"""From a fix commit to one candidate: the production lines that were wrong before it.

One commit is one logical bug by default. Splitting tangled commits needs a reader; a heuristic
that guesses makes more false records than it separates.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from probe.code.paths import SourceScope
from probe.git.diff import CommitDiff, FileDiff
from probe.records import Dropped, Location
from probe.reference.hunks import Change, mark_moved, weigh_changes

Read = Callable[[str, str], bytes | None]
"""Content of a path at a revision, None where it is not there."""
NO_PARENT = "has no parent"
NO_PRODUCTION = "changes no production file"
UNREADABLE = "its diff cannot be read"
TOO_LARGE = "its changes are beyond the size limit"
NO_CONTENT = "only renames files or changes their modes"
NO_BEHAVIOUR = "changes only layout, comments or docstrings"
FIX_BUDGET = 8000
"""Characters of the production diff kept as the suggested fix."""
CUT = "[cut]"
"""Last line of a suggested fix that was longer than the budget."""
MAX_FAULTY_LINES = 400
"""Faulty lines traced for one candidate; beyond it every n-th line is taken."""


@dataclass(frozen=True, slots=True)
class FaultyFile:
    """What a fix changes in one production file, in its parent's lines."""

    path: str
    """Path in the parent."""
    faulty: tuple[int, ...]
    """Lines that the fix removes or rewrites, ascending."""
    lost: tuple[frozenset[str], ...]
    """For each of them the words that the fix takes away; see :class:`Change`."""
    insertions: tuple[int, ...]
    """Lines after which the fix only adds, ascending; 0 is the start of the file."""
    changes: tuple[Change, ...]
    """All changes that count, in order."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """A candidate before it is looked up in the snapshot."""

    commit: str
    """The fix commit."""
    parent: str
    """Its first parent."""
    files: tuple[FaultyFile, ...]
    """Files with changes that count; a file that the fix adds is not among them."""
    new_files: tuple[str, ...]
    """Production files that the fix adds."""
    suggested_fix: str

    @property
    def additive(self) -> bool:
        """Whether the fix removes nothing that says something."""
        return not any(file.faulty for file in self.files)

    @property
    def only_adds(self) -> bool:
        """Whether all that it removes stands in what it adds: it takes nothing away."""
        return all(change.extends for file in self.files for change in file.changes)

    def parent_locations(self) -> tuple[Location, ...]:
        """Faulty lines as ranges of neighbouring lines."""
        return tuple(
            Location(path=file.path, first=first, last=last)
            for file in self.files
            for first, last in runs(file.faulty)
        )

    def insertion_points(self) -> tuple[Location, ...]:
        """Lines after which the fix inserts; the start of a file counts as its first line."""
        return tuple(
            Location(path=file.path, first=max(1, line), last=max(1, line))
            for file in self.files
            for line in file.insertions
        )


def extract(
    diff: CommitDiff, parent: str | None, scope: SourceScope, read: Read
) -> Extracted | Dropped:
    """What one fix commit changes in production code, or why it gives no candidate.

    Hunks outside production files, and those that cannot change behaviour, are left out. Imports,
    annotations, moved code and deleted files count only where nothing else is left: a missing
    import can be the bug.

    Args:
        diff: the fix commit's diff against its first parent.
        parent: the first parent, None for a root commit.
        scope: which files are production code.
        read: reads files of the commit and of its parent.
    """
    production = [file for file in diff.files if is_production_change(file, scope)]
    if parent is None:
        return Dropped(commit=diff.sha, stage="extract", reason=NO_PARENT)
    read_files = [_weigh(file, diff.sha, parent, read) for file in production]
    weighed = mark_moved([changes or [] for changes in read_files])
    weights = {change.weight for changes in weighed for change in changes}
    level = next((w for w in ("behaviour", "side") if w in weights), None)
    if level is None:
        lost = [f.change.path for f, c in zip(production, read_files, strict=True) if c is None]
        reason, detail = _why_nothing(diff, production, lost)
        return Dropped(commit=diff.sha, stage="extract", reason=reason, detail=detail)
    files, new_files = _locate(production, weighed, level)
    return Extracted(
        commit=diff.sha,
        parent=parent,
        files=thin_out(files),
        new_files=new_files,
        suggested_fix=render_fix(production),
    )


def runs(lines: Sequence[int]) -> list[tuple[int, int]]:
    """Ascending numbers as runs of neighbours: [1, 2, 5] gives (1, 2), (5, 5)."""
    found: list[tuple[int, int]] = []
    for line in lines:
        if found and line == found[-1][1] + 1:
            found[-1] = (found[-1][0], line)
        else:
            found.append((line, line))
    return found


def insertion_line(change: Change) -> int:
    """The parent's line after which a change adds; removed brackets and comments count as kept."""
    return change.old_start + max(0, len(change.removed) - 1)


def render_fix(files: Sequence[FileDiff], budget: int = FIX_BUDGET) -> str:
    """A diff without context lines of the given files, cut to ``budget`` characters."""
    parts: list[str] = []
    for file in files:
        old = file.change.old_path or file.change.path
        parts.append(f"--- {old}\n+++ {file.change.path}\n")
        for hunk in file.hunks:
            parts.append(
                f"@@ -{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@"
                f" {hunk.section}".rstrip()
                + "\n"
            )
            parts.extend(f"-{line}\n" for line in hunk.removed)
            parts.extend(f"+{line}\n" for line in hunk.added)
    text = "".join(parts)
    return text if len(text) <= budget else text[: budget - len(CUT) - 1].rstrip("\n") + "\n" + CUT


def is_production_change(file: FileDiff, scope: SourceScope) -> bool:
    """Whether a diff changes production code, by the path before or after it."""
    change = file.change
    if change.submodule or change.binary:
        return False
    return scope.is_production(change.path) or (
        change.old_path is not None and scope.is_production(change.old_path)
    )


def _weigh(file: FileDiff, sha: str, parent: str, read: Read) -> list[Change] | None:
    """Changes that can count; a formatter run has a million others, whose tokens nobody needs.

    None where one of the file's sides cannot be read: its lines could not be placed either.
    """
    if not file.hunks:
        return []
    status = file.change.status
    old = None if status == "A" else read(parent, file.change.old_path or file.change.path)
    new = None if status == "D" else read(sha, file.change.path)
    if (old is None and status != "A") or (new is None and status != "D"):
        return None
    return [change for change in weigh_changes(file, old, new) if change.weight != "none"]


def _locate(
    production: Sequence[FileDiff], weighed: Sequence[Sequence[Change]], level: str
) -> tuple[list[FaultyFile], tuple[str, ...]]:
    files: list[FaultyFile] = []
    new_files: list[str] = []
    for file, changes in zip(production, weighed, strict=True):
        counting = tuple(change for change in changes if change.weight == level)
        if not counting:
            continue
        if file.change.status == "A":
            new_files.append(file.change.path)
            continue
        lost = {n: words for c in counting for n, words in zip(c.faulty, c.lost, strict=True)}
        files.append(
            FaultyFile(
                path=file.change.old_path or file.change.path,
                faulty=tuple(sorted(lost)),
                lost=tuple(lost[line] for line in sorted(lost)),
                insertions=tuple(sorted({insertion_line(c) for c in counting if not c.faulty})),
                changes=counting,
            )
        )
    return files, tuple(new_files)


def thin_out(files: Sequence[FaultyFile]) -> tuple[FaultyFile, ...]:
    """Every n-th faulty line of all files where there are more than :data:`MAX_FAULTY_LINES`."""
    total = sum(len(file.faulty) for file in files)
    step = -(-total // MAX_FAULTY_LINES)
    if step <= 1:
        return tuple(files)
    thinned = []
    skipped = 0
    for file in files:
        kept = slice(skipped, None, step)
        thinned.append(replace(file, faulty=file.faulty[kept], lost=file.lost[kept]))
        skipped = (skipped - len(file.faulty)) % step
    return tuple(thinned)


def _why_nothing(
    diff: CommitDiff, production: Sequence[FileDiff], lost: Sequence[str]
) -> tuple[str, str]:
    """Reason and detail; ``lost`` are files whose diff is there and whose content is not."""
    if diff.problem or lost:
        return UNREADABLE, diff.problem or f"git cannot read {', '.join(lost)}"
    if not production:
        return NO_PRODUCTION, ""
    cut = [file.change.path for file in production if file.cut]
    if cut:
        return TOO_LARGE, ", ".join(cut)
    if not any(file.hunks for file in production):
        return NO_CONTENT, ""
    return NO_BEHAVIOUR, ""
