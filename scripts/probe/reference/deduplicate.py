"""Which reports are one defect: the same patch, or one fix told twice.

Location overlap alone makes many false merges, since bug-prone functions are fixed again and again;
so it never decides here. The six signals choose which pairs are looked at.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from probe.records import Candidate, Judgement, Pair, Provenance, Report
from probe.reference.patches import Patch, added_overlap, read_patch
from probe.similarity.filter import Thresholds, similar_within
from probe.similarity.items import from_reports

ENGINE_VERSION = "2"
"""Raised whenever a judgement may come out differently."""
MIN_OVERLAP = 0.6
"""Jaccard of added lines at which two fixes are one; the aim of the development labels."""
MIN_LINES = 2
"""Lines that say something in each patch, or one of :data:`LONG_LINE` characters."""
LONG_LINE = 30
MIN_TITLE_WORDS = 3
"""Shorter titles (``Typo``, ``Merge commit from fork``) are equal by chance."""
MAX_SHARING = 20
"""A line that more fixes add is boilerplate and makes no pair."""
_GENERIC_TITLES = frozenset({"merge commit from fork", "apply suggestions from code review"})


def pair_reports(
    reports: Sequence[Report], candidates: Iterable[Candidate], thresholds: Thresholds | None = None
) -> list[Pair]:
    """Pairs of reports that look alike by any of the six signals, or whose fixes share lines.

    Reports that give their fix away are in no pair: no judge may see them.

    Args:
        reports: of the whole repository, in window order.
        candidates: theirs, at least.
        thresholds: of the filter; its defaults where None.

    Returns:
        ``left`` is the earlier report's candidate; sorted by the reports' order.
    """
    patches = _patches(candidates)
    clean = [report for report in reports if not report.leaks]
    also = _sharing_lines([report.candidate for report in clean], patches)
    return similar_within(from_reports(clean), thresholds or Thresholds(), also=also)


def judge_duplicates(pairs: Iterable[Pair], candidates: Iterable[Candidate]) -> list[Judgement]:
    """One judgement a pair, in the pairs' order: is it the same root cause?

    A pair matches when the fixes have the same patch, when they share a file and their titles are
    equal, or when they share a file and the Jaccard of their added lines reaches
    :data:`MIN_OVERLAP`. Two bugs of one commit never match: whoever split it says so.

    Raises:
        KeyError: a pair of candidates that are not given.
    """
    fixes = Fixes(candidates)
    return [fixes.judge(pair) for pair in pairs]


class Fixes:
    """The fixes of a repository's candidates, compared as sets of lines."""

    def __init__(self, candidates: Iterable[Candidate]) -> None:
        self._by_id = {candidate.id: candidate for candidate in candidates}
        self._patches = _patches(self._by_id.values())
        seen = Counter(
            (item.commit, self._patches[item.id].identity) for item in self._by_id.values()
        )
        self._shared = {identity for (_, identity), count in seen.items() if count > 1}

    def judge(self, pair: Pair) -> Judgement:
        """Whether a pair is one defect, by its fixes alone."""
        left, right = self._by_id[pair.left], self._by_id[pair.right]
        reason = self.same_fix(left, right)
        overlap = added_overlap(self._patches[left.id], self._patches[right.id])
        if reason:
            return judgement(pair, True, reason[1], reason[0])
        why = f"{overlap:.0%} of the added lines are the same"
        return judgement(pair, False, round(1 - overlap / 2, 3), why)

    def same_fix(self, left: Candidate, right: Candidate) -> tuple[str, float] | None:
        """Why two candidates are one defect, with a confidence; None where they are not."""
        if left.commit == right.commit:
            return None
        if self.same_patch(left, right):
            return "the same patch", 0.98
        one, other = self._patches[left.id], self._patches[right.id]
        shared = bool(one.names & other.names)
        if shared and _title(left) == _title(right) and _tells_title(left):
            return "the same title, in a shared file", 0.85
        overlap = added_overlap(one, other)
        if self._is_whole(left, right) and shared and overlap >= MIN_OVERLAP:
            told = f"{overlap:.0%} of the added lines are the same, in a shared file"
            return (told, round(overlap, 3)) if _tells(one) and _tells(other) else None
        return None

    def same_patch(self, left: Candidate, right: Candidate) -> bool:
        """Whether two commits made the same change, as a cherry-pick does.

        Not where several bugs of one commit carry the same patch: it says nothing of either.
        """
        one, other = self._patches[left.id], self._patches[right.id]
        if left.commit == right.commit or not self._is_whole(left, right):
            return False
        shared = bool(one.names & other.names)
        return (
            one.identity == other.identity and _tells(one) and (shared or one.saying >= MIN_LINES)
        )

    def _is_whole(self, *candidates: Candidate) -> bool:
        """Whether each candidate's patch is its own and no other bug's of the same commit."""
        return not {self._patches[item.id].identity for item in candidates} & self._shared


def judgement(pair: Pair, match: bool, confidence: float, rationale: str) -> Judgement:
    """A judgement of the heuristic engine."""
    return Judgement(
        left=pair.left,
        right=pair.right,
        match=match,
        confidence=confidence,
        rationale=rationale,
        provenance=Provenance.of_heuristic(ENGINE_VERSION),
    )


def _patches(candidates: Iterable[Candidate]) -> dict[str, Patch]:
    return {candidate.id: read_patch(candidate.suggested_fix) for candidate in candidates}


def _sharing_lines(ids: Sequence[str], patches: Mapping[str, Patch]) -> frozenset[tuple[str, str]]:
    """Pairs of reports, the earlier first, whose fixes add or remove a line that few others do."""
    by_line: dict[str, list[str]] = defaultdict(list)
    for name in ids:
        patch = patches[name]
        for line in sorted(patch.added | patch.removed):
            by_line[line].append(name)
    return frozenset(
        pair
        for sharing in by_line.values()
        if len(sharing) <= MAX_SHARING
        for pair in combinations(sharing, 2)
    )


def _tells(patch: Patch) -> bool:
    lines = [*patch.removed, *patch.added]
    return len(lines) >= MIN_LINES or any(len(line) >= LONG_LINE for line in lines)


def _title(candidate: Candidate) -> str:
    return " ".join(candidate.title.lower().split())


def _tells_title(candidate: Candidate) -> bool:
    title = _title(candidate)
    return len(title.split()) >= MIN_TITLE_WORDS and title not in _GENERIC_TITLES
