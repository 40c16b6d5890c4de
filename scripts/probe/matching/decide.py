"""The heuristic judge of a pair: the same few lines, or the same place and the same words.

A baseline that needs no model. It cannot tell two defects of one line apart, nor recognise one
defect described without a shared word; docs/method.md says how often either happens.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from probe.records import Judgement, Pair, Provenance

ENGINE_VERSION = "1"
"""Raised whenever a judgement may come out differently."""


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """When the heuristic takes a pair for a match."""

    max_distance: int = 10
    """At most so many lines between the ranges, in the same file."""
    min_wording: float = 0.15
    """Wording that a pair in the same place must reach; :func:`wording` says what that is."""
    min_snippet: float = 0.6
    """Overlapping ranges with so similar snippets need only half of the wording."""
    min_overlap: float = 0.3
    """Two that name the same lines, by this Jaccard, match whatever their words."""


def judge_pairs(pairs: Iterable[Pair], settings: MatchSettings | None = None) -> list[Judgement]:
    """One judgement a pair, in the pairs' order.

    A pair matches when both name the same few lines (``line_overlap`` reaches ``min_overlap``:
    an analyser's words never resemble a maintainer's), or when its ranges lie within
    ``max_distance`` lines in one file and its :func:`wording` reaches ``min_wording``.
    ``confidence`` is that of the decision, 0.5 at the threshold.
    """
    settings = settings or MatchSettings()
    return [_judge(pair, settings) for pair in pairs]


def wording(pair: Pair) -> float:
    """How alike two reports read: the largest of cosine, half the Dice and half the Jaccard.

    Any two English titles share a fifth of their trigrams, and two reports on one file its name:
    those two signals count half.
    """
    return max(pair.text_similarity, pair.title_similarity / 2, pair.identifier_similarity / 2)


def _judge(pair: Pair, settings: MatchSettings) -> Judgement:
    if pair.line_overlap >= settings.min_overlap:
        match, confidence = True, round(0.5 + pair.line_overlap / 2, 3)
        rationale = f"{pair.line_overlap:.0%} of the lines that either names are named by both"
    else:
        match, confidence, rationale = _by_words(pair, settings)
    return Judgement(
        left=pair.left,
        right=pair.right,
        match=match,
        confidence=confidence,
        rationale=rationale,
        provenance=Provenance.of_heuristic(ENGINE_VERSION),
    )


def _by_words(pair: Pair, settings: MatchSettings) -> tuple[bool, float, str]:
    words = wording(pair)
    needed = settings.min_wording
    if pair.line_distance == 0 and pair.snippet_similarity >= settings.min_snippet:
        needed /= 2
    near = pair.line_distance is not None and pair.line_distance <= settings.max_distance
    confidence = _confidence(words, needed, near=near)
    return near and words >= needed, confidence, _rationale(pair, words, needed)


def _confidence(words: float, needed: float, *, near: bool) -> float:
    if not near:
        return round(1.0 - 0.5 * min(1.0, words), 3)
    if words >= needed:
        return round(0.5 + 0.5 * (words - needed) / max(1.0 - needed, 1e-9), 3)
    return round(0.5 + 0.5 * (needed - words) / needed, 3)


def _rationale(pair: Pair, words: float, needed: float) -> str:
    place = "no shared file" if pair.line_distance is None else f"{pair.line_distance} lines apart"
    return f"{place}; wording {words:.2f} (needed {needed:.2f})"
