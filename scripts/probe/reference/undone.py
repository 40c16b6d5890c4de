"""Fixes that the window itself takes back, and fixes that are taken up again.

A fix that was reverted and not redone left the defect where it was: it is no reference bug, since
nothing says that maintainers still think it one. Fix, revert and redo within days are common and
are one bug.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path, PurePosixPath

from probe.git.log import iter_diffs
from probe.records import Candidate, Commit
from probe.reference.patches import Patch, patch_of_lines, read_patch, undoes
from probe.reference.titles import plain_title

SHARE = 0.8
"""Of either side of a fix that a commit must take back to undo it."""
REDO_WITHIN = 60
"""Window commits after a revert in which another fix may take the matter up again."""
MIN_LINES = 2
"""Lines of a commit that only removes and does not speak of reverting, at least, to undo a fix."""
RARE = 5
"""A pair of words in so few titles, at most, names a matter."""
_REVERTS = re.compile(
    r"\b(?:revert\w*|undo\w*|back(?:ed|s|ing)? out|roll(?:ed|s|ing)? ?back|reappl\w+)\b", re.I
)
_REVERTED_SHA = re.compile(r"\breverts?\s+commits?\s+([0-9a-f]{7,64})", re.IGNORECASE)
_QUOTED = re.compile(r"^\W*(revert|reapply)\W+[\"'“](.+?)(?:…|\.\.\.)?[\"'”]", re.IGNORECASE)
_NUMBERED = re.compile(r"\brevert\w*\s+(?:pr\s*)?#(\d+)", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
_STOP = frozenset(
    {
        "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "if", "in", "is", "it", "no",
        "not", "of", "on", "or", "the", "to", "when", "with",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Undone:
    """A fix commit that a later commit of the window takes back for good."""

    fix: str
    by: str
    position: int
    """Place of ``by`` in the window order."""


@dataclass(frozen=True, slots=True)
class _Effect:
    target: str
    undone: bool


def find_undone(
    mirror: Path, commits: Sequence[Commit], candidates: Sequence[Candidate]
) -> list[Undone]:
    """Fixes taken back in the window and not restored by undoing that again.

    A revert is known by the commit that its message names, by the subject or number that it
    quotes, or by a patch that takes back at least :data:`SHARE` of the fix. A later commit that
    does not speak of reverting must do nothing else in the files of fixes, too: fixed lines are
    replaced all the time.

    Args:
        mirror: a git directory with the window.
        commits: the window, in window order.
        candidates: of the window's fix commits.

    Returns:
        In the order of the commits that take back.
    """
    shas = {candidate.commit for candidate in candidates}
    speaking = [commit for commit in commits if _speaks_of_reverting(commit)]
    patches = _fix_patches(candidates)
    names = {name for patch in patches.values() for name in patch.names}
    reverting = {
        **_read_patches(mirror, _mirroring(commits, shas), names),
        **_read_patches(mirror, [c.sha for c in speaking if c.sha not in patches]),
        **patches,
    }
    finder = _Targets(commits, {sha: patches[sha] for sha in shas})
    effects: dict[str, _Effect] = {}
    alive: dict[str, Undone | None] = {}
    speakers = {commit.sha for commit in speaking}
    for commit in commits:
        if commit.sha not in reverting:
            continue
        target = finder.target(commit, reverting[commit.sha], speaks=commit.sha in speakers)
        if target is None:
            continue
        before = effects.get(target, _Effect(target, undone=False))
        effect = replace(before, undone=not before.undone)
        effects[commit.sha] = effect
        if effect.target in shas:
            alive[effect.target] = (
                Undone(effect.target, commit.sha, commit.position) if effect.undone else None
            )
    return sorted((item for item in alive.values() if item), key=lambda item: item.position)


def _fix_patches(candidates: Iterable[Candidate]) -> dict[str, Patch]:
    """By commit its whole fix: a commit with several bugs has a part of it with each."""
    fixes: dict[str, dict[str, None]] = defaultdict(dict)
    for candidate in candidates:
        fixes[candidate.commit][candidate.suggested_fix] = None
    return {sha: read_patch("\n".join(texts)) for sha, texts in fixes.items()}


def _speaks_of_reverting(commit: Commit) -> bool:
    """In its subject, or in the sentence that git writes; squash bodies quote other reverts."""
    return bool(_REVERTS.search(commit.subject) or _REVERTED_SHA.search(commit.body))


def _mirroring(commits: Iterable[Commit], fixes: Collection[str]) -> list[str]:
    """Commits that may take an earlier fix back without a word of it, told by their line counts."""
    found: list[str] = []
    seen: set[tuple[str, int, int]] = set()
    for commit in commits:
        sizes = {(f.path, f.added or 0, f.deleted or 0) for f in commit.files}
        if commit.sha in fixes:
            seen |= sizes
        elif any((path, deleted, added) in seen for path, added, deleted in sizes):
            found.append(commit.sha)
    return found


def find_redone(
    undone: Iterable[Undone], commits: Sequence[Commit], candidates: Sequence[Candidate]
) -> list[tuple[str, str]]:
    """Undone fixes with the first later fix that takes the same matter up again, as candidate ids.

    The later fix comes within :data:`REDO_WITHIN` commits of the revert and shares a pair of
    neighbouring words with the undone one's title that few titles have.
    """
    position = {commit.sha: commit.position for commit in commits}
    pairs_of = {candidate.id: _word_pairs(candidate.title) for candidate in candidates}
    count: dict[tuple[str, str], int] = defaultdict(int)
    for pairs in pairs_of.values():
        for pair in pairs:
            count[pair] += 1
    by_commit: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        by_commit[candidate.commit].append(candidate)
    found: list[tuple[str, str]] = []
    for item in undone:
        taken: set[str] = set()  # two bugs of one commit are not joined by a third
        for fix in by_commit[item.fix]:
            rare = {pair for pair in pairs_of[fix.id] if count[pair] <= RARE}
            for later in candidates:
                gap = position[later.commit] - item.position
                near = 0 < gap <= REDO_WITHIN and later.id not in taken
                if near and rare & pairs_of[later.id]:
                    found.append((fix.id, later.id))
                    taken.add(later.id)
                    break
    return found


class _Targets:
    """Finds which earlier commit a commit takes back."""

    def __init__(self, commits: Sequence[Commit], fixes: Mapping[str, Patch]) -> None:
        self._order = {commit.sha: commit.position for commit in commits}
        self._commits = commits
        self._fixes = fixes
        self._by_line: dict[str, list[str]] = defaultdict(list)
        for sha in sorted(fixes, key=self._order.__getitem__):
            for line in fixes[sha].added:
                self._by_line[line].append(sha)

    def target(self, commit: Commit, patch: Patch, *, speaks: bool) -> str | None:
        """The commit taken back, None where nothing earlier is."""
        named = self._named(commit) if speaks else None
        return named or self._undone_patch(commit, patch, speaks=speaks)

    def _named(self, commit: Commit) -> str | None:
        sha = _REVERTED_SHA.search(f"{commit.subject}\n{commit.body}")
        if sha:
            return next((c.sha for c in self._earlier(commit) if c.sha.startswith(sha[1])), None)
        quoted = _QUOTED.match(plain_subject(commit.subject))
        if quoted:
            wanted = quoted[2].strip()
            return next(
                (c.sha for c in self._earlier(commit) if c.subject.startswith(wanted)), None
            )
        number = _NUMBERED.search(commit.subject)
        if number:
            wanted = f"(#{number[1]})"
            return next((c.sha for c in self._earlier(commit) if wanted in c.subject), None)
        return None

    def _earlier(self, commit: Commit) -> Iterator[Commit]:
        """Earlier commits, the latest first."""
        return reversed(self._commits[: commit.position])

    def _undone_patch(self, commit: Commit, patch: Patch, *, speaks: bool) -> str | None:
        near = {sha for line in patch.removed for sha in self._by_line.get(line, ())}
        ranked = sorted(near, key=self._order.__getitem__, reverse=True)
        return next(
            (
                sha
                for sha in ranked
                if self._order[sha] < commit.position
                and self._fixes[sha].names & patch.names
                and undoes(patch, self._fixes[sha], SHARE)
                and (speaks or _does_nothing_else(patch, self._fixes[sha]))
            ),
            None,
        )


def _does_nothing_else(patch: Patch, fix: Patch) -> bool:
    """Whether a patch that takes back a fix is made of little else.

    One that only removes a line may do so by chance.
    """
    taken = (patch.removed & fix.added).total() >= SHARE * patch.removed.total()
    restored = (patch.added & fix.removed).total() >= SHARE * patch.added.total()
    return taken and restored and (bool(patch.added) or patch.saying >= MIN_LINES)


def plain_subject(subject: str) -> str:
    """A subject from its first revert on: ``chore: revert "x"`` becomes ``revert "x"``."""
    match = re.search(r"\b(?:revert|reapply)\b", subject, re.IGNORECASE)
    return subject[match.start() :] if match else subject


def _read_patches(
    mirror: Path, shas: Sequence[str], names: Collection[str] | None = None
) -> dict[str, Patch]:
    """Patches of whole commits, or of their files of these names, without folders."""
    patches: dict[str, Patch] = {}
    for diff in iter_diffs(mirror, shas):
        files = [
            file
            for file in diff.files
            if names is None or PurePosixPath(file.change.path).name in names
        ]
        patches[diff.sha] = patch_of_lines(
            [file.change.path for file in files],
            [line for file in files for hunk in file.hunks for line in hunk.removed],
            [line for file in files for hunk in file.hunks for line in hunk.added],
        )
    return patches


def _word_pairs(title: str) -> frozenset[tuple[str, str]]:
    words = _WORD.findall(plain_title(title).lower())
    return frozenset(pair for pair in pairwise(words) if not set(pair) <= _STOP)
