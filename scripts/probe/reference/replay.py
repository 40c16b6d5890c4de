"""Blame by replaying the window once: where every line comes from, at any commit asked about.

`git blame` walks back from one revision and costs the more the further that is from the snapshot;
a reference set asks for hundreds of revisions. One forward pass over the same diffs that the
mining reads keeps, for every file, the origin of each of its lines, and remembers which lines each
hunk removed, so that a rewritten line can be followed to the one it replaced without asking git
again. Where a diff cannot be used (missing blob, beyond the size limit), :class:`Replay` leaves
the file to `git blame`. Texts of diffs are kept up to a limit; beyond it a diff is read again
where one of its lines is followed.
"""

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, MutableSequence, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from probe.code.paths import is_code
from probe.git.ancestry import read_parents
from probe.git.diff import CommitDiff, FileDiff
from probe.git.log import iter_diffs, iter_diffs_between
from probe.git.objects import ObjectReader
from probe.reference.lineage import DeletedLines
from probe.reference.merges import MergeMap
from probe.reference.trace import MAX_HOPS, Origin, Place, Tracer

Lines: TypeAlias = MutableSequence[int]
"""The identity of each line of one version of a file."""
KEPT_BYTES = 300_000_000
"""Memory for the texts of the window's diffs, as estimated by :func:`_size`."""
LINE_OVERHEAD = 80
"""Bytes that Python spends on a line beside its text."""
REREAD = 4
"""Diffs beyond that limit that are held at once."""


@dataclass(frozen=True, slots=True)
class _Base:
    """Lines that a file had where the window begins."""

    rev: str
    path: str


@dataclass(frozen=True, slots=True)
class _Born:
    """Lines that one hunk added."""

    commit: str
    path: str
    first: int


@dataclass(slots=True)
class _State:
    """All files of one commit: those changed since ``root``, the others as they were there."""

    root: str
    files: dict[str, Lines | None] = field(default_factory=dict)
    """None where the lines' origin is unknown."""
    known: bool = True
    """False: a commit's paths could not be listed, so any file may have changed."""


@dataclass(slots=True)
class _Written:
    """What a commit's hunks removed: the identities, by path, with the first line's number before the commit."""

    diff: CommitDiff | None
    """None: beyond the limit, to be read again."""
    removed: dict[str, list[tuple[int, Lines]]] = field(default_factory=dict)
    deleted: DeletedLines | None = None


class Replay:
    """Answers like :class:`probe.reference.trace.Tracer`, for the revisions named up front.

    Whitespace-only rewrites and unchanged lines that moved count as untouched, as they do for
    ``git blame -w -M``.

    Args:
        mirror: a git directory with the window.
        t0: the snapshot commit.
        revs: revisions whose lines will be asked for.
        reader: reads the files of the snapshot.
        fallback: asked for files whose diffs cannot be replayed; its ``ignored`` commits write
            nothing here either.
    """

    def __init__(
        self, mirror: Path, t0: str, revs: Iterable[str], reader: ObjectReader, fallback: Tracer
    ) -> None:
        self._mirror = mirror
        self._reader = reader
        self._fallback = fallback
        self._wanted = frozenset(revs)
        self._states: dict[str, _State] = {}
        self._starts: list[int] = []
        self._blocks: list[_Base | _Born] = []
        self._next = 0
        self._bases: dict[tuple[str, str], Lines] = {}
        self._written: dict[str, _Written] = {}
        self._partly_read: set[str] = set()
        self._room = KEPT_BYTES
        self._reread: dict[str, DeletedLines] = {}
        self._origins: dict[int, Origin] = {}
        self._run(_history(mirror, t0, self._wanted))

    def parent(self, sha: str) -> str | None:
        """First parent of a window commit, None for a root commit."""
        return self._fallback.parent(sha)

    def trace(self, places: Iterable[Place]) -> dict[Place, Origin]:
        """The origin of every place; a rev outside the named ones goes to ``git blame``."""
        found: dict[Place, Origin] = {}
        left: list[Place] = []
        for place in places:
            state = self._states.get(place.rev)
            lines = self._lines(state, place.path) if state else None
            if lines is None:
                left.append(place)
            elif place.line <= len(lines):
                found[place] = self._origin(lines[place.line - 1], place.path)
            else:
                found[place] = Origin(None, ())
        return found | self._fallback.trace(left) if left else found

    def _run(self, parents: Mapping[str, Sequence[str]]) -> None:
        children = Counter(parent for line in parents.values() for parent in line)
        merged = [(other, sha) for sha, mine in parents.items() for other in mine[1:]]
        beside = iter_diffs_between(self._mirror, merged)
        for diff in iter_diffs(self._mirror, parents):
            mine = parents[diff.sha]
            state = self._before(mine, diff.sha)
            self._apply(state, diff, {other: MergeMap(next(beside)) for other in mine[1:]})
            self._states[diff.sha] = state
            for parent in mine:
                children[parent] -= 1
                if not children[parent] and parent not in self._wanted:
                    self._states.pop(parent, None)
        self._states = {rev: state for rev, state in self._states.items() if rev in self._wanted}

    def _before(self, parents: Sequence[str], sha: str) -> _State:
        if not parents:
            return _State(root=sha)
        state = self._states.setdefault(parents[0], _State(root=parents[0]))
        return _State(state.root, dict(state.files), state.known)

    def _apply(self, state: _State, diff: CommitDiff, others: Mapping[str, MergeMap]) -> None:
        if not diff.listed:
            state.known = False
            state.files.clear()
        if diff.missing:
            self._partly_read.add(diff.sha)
        written = _Written(self._keep(diff))
        changed: dict[str, Lines | None] = {}
        for file in diff.files:
            change = file.change
            old_path = change.old_path or change.path
            old = array("L") if change.status == "A" else self._lines(state, old_path)
            usable = _tracked(file) and not file.cut and not (diff.missing and not file.hunks)
            if change.status in {"D", "R"}:
                changed.setdefault(old_path, array("L"))
            if change.status != "D":
                foreign = self._foreign(file, others) if usable else None
                changed[change.path] = (
                    self._rewrite(diff.sha, file, old, written, foreign)
                    if foreign is not None and old is not None
                    else None
                )
            elif old is not None and usable:
                self._rewrite(diff.sha, file, old, written, {})
        state.files.update(changed)
        self._written[diff.sha] = written

    def _keep(self, diff: CommitDiff) -> CommitDiff | None:
        """What lines are followed by, as long as there is room for it."""
        kept = _tracked_part(diff)
        self._room -= _size(kept)
        return kept if self._room >= 0 else None

    def _rewrite(
        self, sha: str, file: FileDiff, old: Lines, written: _Written, foreign: Mapping[int, int]
    ) -> Lines | None:
        """The new version's lines; ``foreign`` gives those that a merge took from elsewhere."""
        path = file.change.path
        old_path = file.change.old_path or path
        new: Lines = array("L")
        done = 0
        for hunk in file.hunks:
            start = hunk.old_start - 1 if hunk.removed else hunk.old_start
            if start < done or start + len(hunk.removed) > len(old):
                return None
            new.extend(old[done:start])
            done = start + len(hunk.removed)
            written.removed.setdefault(old_path, []).append((hunk.old_start, old[start:done]))
            born = self._add(_Born(sha, path, hunk.new_start), len(hunk.added))
            new.extend(
                foreign.get(hunk.new_start + offset, identity)
                for offset, identity in enumerate(born)
            )
        new.extend(old[done:])
        return new

    def _foreign(self, file: FileDiff, others: Mapping[str, MergeMap]) -> dict[int, int] | None:
        """Lines of a merge that another parent already had, by their number in the merge.

        None where that cannot be known.
        """
        found: dict[int, int] = {}
        for parent, merge_map in others.items():
            line_map = merge_map.of(file.change.path)
            if line_map is None:
                return None
            before = {number: line_map.before(number) for number in _added_lines(file)}
            taken = {number: old for number, old in before.items() if old is not None}
            if not taken:
                continue
            state = self._states.get(parent) or _State(root=parent)
            lines = self._lines(state, line_map.old_path)
            if lines is None or max(taken.values()) > len(lines):
                return None
            for number, old in taken.items():
                found.setdefault(number, lines[old - 1])
        return found

    def _lines(self, state: _State, path: str) -> Lines | None:
        if path in state.files or not state.known:
            return state.files.get(path)
        key = (state.root, path)
        if key not in self._bases:
            content = self._reader.read(state.root, path)
            if content is None:
                return None
            count = content.count(b"\n") + (not content.endswith(b"\n") and bool(content))
            self._bases[key] = array("L", self._add(_Base(state.root, path), count))
        return self._bases[key]

    def _add(self, block: _Base | _Born, count: int) -> range:
        if count:
            self._starts.append(self._next)
            self._blocks.append(block)
        self._next += count
        return range(self._next - count, self._next)

    def _origin(self, identity: int, path: str) -> Origin:
        origin = self._origins.get(identity)
        if origin is None:
            origin = self._origins[identity] = self._follow(identity)
        renamed = origin.place is not None and origin.place.path != path
        return replace(origin, renamed=renamed)

    def _follow(self, identity: int) -> Origin:
        writers: list[str] = []
        likeness = 1.0
        for _ in range(MAX_HOPS):
            index = bisect_right(self._starts, identity) - 1
            block, offset = self._blocks[index], identity - self._starts[index]
            if isinstance(block, _Base):
                place = Place(block.rev, block.path, offset + 1)
                return Origin(place, tuple(writers), likeness)
            step = self._step(block, block.first + offset)
            if step is None:
                partly = block.commit in self._partly_read
                return Origin(None, (*writers, block.commit), 0.0, unknown=partly)
            identity, alike = step
            if alike < 1.0:
                writers.append(block.commit)
                likeness *= alike
        return Origin(None, tuple(writers), 0.0)

    def _step(self, block: _Born, line: int) -> tuple[int, float] | None:
        """The identity and likeness of the line that an added line replaced."""
        written = self._written[block.commit]
        found = self._deleted(block.commit, written).predecessor(block.path, line)
        if found is None:
            return None
        for start, removed in written.removed.get(found.path, ()):
            if start <= found.line < start + len(removed):
                return removed[found.line - start], found.likeness
        return None

    def _deleted(self, sha: str, written: _Written) -> DeletedLines:
        neutral = sha in self._fallback.ignored
        if written.deleted is None and written.diff is not None:
            written.deleted = DeletedLines(written.diff, neutral=neutral)
        if written.deleted is not None:
            return written.deleted
        if sha not in self._reread:
            (diff,) = iter_diffs(self._mirror, [sha])
            while len(self._reread) >= REREAD:
                del self._reread[next(iter(self._reread))]
            self._reread[sha] = DeletedLines(_tracked_part(diff), neutral=neutral)
        return self._reread[sha]


def _tracked_part(diff: CommitDiff) -> CommitDiff:
    return replace(diff, files=tuple(file for file in diff.files if _tracked(file)))


def _size(diff: CommitDiff) -> int:
    """Roughly the memory of a diff's lines, in bytes."""
    return sum(
        len(line) + LINE_OVERHEAD
        for file in diff.files
        for hunk in file.hunks
        for line in (*hunk.removed, *hunk.added)
    )


def _added_lines(file: FileDiff) -> Iterator[int]:
    return (
        n for hunk in file.hunks for n in range(hunk.new_start, hunk.new_start + len(hunk.added))
    )


def _tracked(file: FileDiff) -> bool:
    change = file.change
    if change.binary or change.submodule or change.status == "T":
        return False
    return is_code(change.path) or (change.old_path is not None and is_code(change.old_path))


def _history(mirror: Path, t0: str, revs: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Parents of all ancestors of ``revs`` since the snapshot, parents before children."""
    asked = "".join(f"{rev}\n" for rev in sorted(revs)) + f"^{t0}\n"
    return read_parents(mirror, "--topo-order", "--reverse", "--stdin", stdin=asked.encode())
