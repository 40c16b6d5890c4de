"""Which reports are one defect: the same patch, or one fix told twice.

Location overlap alone makes many false merges, since bug-prone functions are fixed again and again;
so it never decides here. The six signals choose which pairs are looked at.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from probe.records import Candidate, Judgement, Pair, Provenance, Report
from probe.reference.patches import Patch, added_overlap, read_patch
from probe.similarity.filter import Thresholds, similar_within
from probe.similarity.items import from_reports

ENGINE_VERSION = "1"
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

    Args:
        reports: of the whole repository, in window order.
        candidates: theirs, at least.
        thresholds: of the filter; its defaults where None.

    Returns:
        ``left`` is the earlier report's candidate; sorted by the reports' order.
    """
    patches = _patches(candidates)
    ids = [report.candidate for report in reports]
    also = _sharing_lines(ids, patches)
    return similar_within(from_reports(reports), thresholds or Thresholds(), also=also)


def judge_duplicates(pairs: Iterable[Pair], candidates: Iterable[Candidate]) -> list[Judgement]:
    """One judgement a pair, in the pairs' order: is it the same root cause?

    A pair matches when the fixes have the same patch, when they share a file and their titles are
    equal, or when they share a file and the Jaccard of their added lines reaches
    :data:`MIN_OVERLAP`.

    Raises:
        KeyError: a pair of candidates that are not given.
    """
    by_id = {candidate.id: candidate for candidate in candidates}
    patches = _patches(by_id.values())
    return [_judge(pair, by_id, patches) for pair in pairs]


def same_fix(
    left: Candidate, right: Candidate, patches: Mapping[str, Patch]
) -> tuple[str, float] | None:
    """Why two candidates are one defect, with a confidence; None where they are not."""
    one, other = patches[left.id], patches[right.id]
    shared = bool(one.names & other.names)
    if one.identity == other.identity and _tells(one) and (shared or one.saying >= MIN_LINES):
        return "the same patch", 0.98
    if shared and _title(left) == _title(right) and _tells_title(left):
        return "the same title, in a shared file", 0.85
    overlap = added_overlap(one, other)
    if shared and overlap >= MIN_OVERLAP and _tells(one) and _tells(other):
        return f"{overlap:.0%} of the added lines are the same, in a shared file", round(overlap, 3)
    return None


def _judge(pair: Pair, by_id: Mapping[str, Candidate], patches: Mapping[str, Patch]) -> Judgement:
    reason = same_fix(by_id[pair.left], by_id[pair.right], patches)
    overlap = added_overlap(patches[pair.left], patches[pair.right])
    return Judgement(
        left=pair.left,
        right=pair.right,
        match=reason is not None,
        confidence=reason[1] if reason else round(1 - overlap / 2, 3),
        rationale=reason[0] if reason else f"{overlap:.0%} of the added lines are the same",
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
