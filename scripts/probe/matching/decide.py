"""The heuristic judge of a pair: same place and same words.

A baseline that needs no model. It cannot tell two defects of one line apart, nor recognise one
defect described without a shared word; docs/method.md says how often either happens.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from probe import __version__
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


def judge_pairs(pairs: Iterable[Pair], settings: MatchSettings | None = None) -> list[Judgement]:
    """One judgement a pair, in the pairs' order.

    A pair matches when its ranges lie within ``max_distance`` lines in one file and its
    :func:`wording` reaches ``min_wording``. ``confidence`` is that of the decision, 0.5 at the
    threshold.
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
    words = wording(pair)
    needed = settings.min_wording
    if pair.line_distance == 0 and pair.snippet_similarity >= settings.min_snippet:
        needed /= 2
    near = pair.line_distance is not None and pair.line_distance <= settings.max_distance
    match = near and words >= needed
    return Judgement(
        left=pair.left,
        right=pair.right,
        match=match,
        confidence=_confidence(words, needed, near=near),
        rationale=_rationale(pair, words, needed),
        provenance=Provenance(
            engine="heuristic", engine_version=ENGINE_VERSION, probe_version=__version__
        ),
    )


def _confidence(words: float, needed: float, *, near: bool) -> float:
    if not near:
        return round(1.0 - 0.5 * min(1.0, words), 3)
    if words >= needed:
        return round(0.5 + 0.5 * (words - needed) / max(1.0 - needed, 1e-9), 3)
    return round(0.5 + 0.5 * (needed - words) / needed, 3)


def _rationale(pair: Pair, words: float, needed: float) -> str:
    place = "no shared file" if pair.line_distance is None else f"{pair.line_distance} lines apart"
    return f"{place}; wording {words:.2f} (needed {needed:.2f})"
