import random

import pytest

from probe.matching.decide import MatchSettings, judge_pairs, wording
from probe.matching.matches import count_one_to_one, list_matches
from probe.matching.pairs import build_pairs
from probe.records import Bug, Finding, Judgement, Location, Pair, Provenance

MADE = Provenance(engine="heuristic", engine_version="1", probe_version="0")


def finding(name: str, title: str, path="a.py", first=1, last=1, repo="r") -> Finding:
    return Finding(
        id=name,
        repo=repo,
        run="ruff",
        pass_id="p",
        title=title,
        description="",
        path=path,
        first=first,
        last=last,
        snippet="x = compute(1)",
        raw={},
    )


def bug(name: str, title: str, path="a.py", first=1, last=1, repo="r") -> Bug:
    return Bug(
        id=name,
        repo=repo,
        title=title,
        description="",
        primary=Location(path=path, first=first, last=last),
        unit=None,
        snippet="x = compute(1)",
        severity="medium",
        suggested_fix="",
        candidates=("0" * 12 + "-1",),
        fix_commits=("0" * 40,),
        fix_rank=1,
        provenance=MADE,
    )


def pair(
    left="f", right="b", distance=0, snippet=0.0, text=0.0, identifiers=0.0, title=0.0, overlap=0.0
):
    return Pair(
        left=left,
        right=right,
        line_distance=distance,
        line_overlap=overlap,
        path_similarity=1.0,
        snippet_similarity=snippet,
        text_similarity=text,
        identifier_similarity=identifiers,
        title_similarity=title,
    )


def judged(item: Pair, **settings) -> bool | None:
    (judgement,) = judge_pairs([item], MatchSettings(**settings))
    return judgement.match


def test_the_same_few_lines_match_whatever_the_words():
    assert judged(pair(overlap=0.3))
    assert not judged(pair(overlap=0.29))
    pinned = build_pairs(
        [finding("f", "Mutable default", first=5, last=5)],
        [bug("b", "Shared tags", first=5, last=7)],
    )
    assert [item.line_overlap for item in pinned] == [0.333333]
    assert judge_pairs(pinned)[0].match


def test_empty_sides_give_nothing():
    assert build_pairs([], [bug("b", "x")]) == []
    assert build_pairs([finding("f", "x")], []) == []
    assert judge_pairs([]) == []
    assert list_matches([], []) == []
    assert count_one_to_one([]) == 0


def test_a_finding_in_the_same_place_with_the_same_words_matches():
    pairs = build_pairs(
        [finding("f", "Reads past the end of the table", first=5, last=6)],
        [bug("b", "Reads past the end of a table", first=4, last=5), bug("c", "Other", "z.py")],
    )
    accepted = [(j.left, j.right) for j in judge_pairs(pairs) if j.match]
    assert accepted == [("f", "b")]


def test_place_alone_and_words_alone_do_not_match():
    assert judged(pair(distance=0)) is False
    assert judged(pair(distance=None, text=0.9)) is False
    assert judged(pair(distance=11, text=0.9)) is False
    assert judged(pair(distance=10, text=0.15)) is True


def test_titles_and_identifiers_count_half():
    assert wording(pair(text=0.1, title=0.5, identifiers=0.4)) == 0.25
    assert judged(pair(title=0.29)) is False
    assert judged(pair(title=0.3)) is True
    assert judged(pair(identifiers=0.3)) is True


def test_the_same_snippet_at_the_same_lines_needs_half_the_words():
    assert judged(pair(text=0.08, snippet=0.6)) is True
    assert judged(pair(text=0.08, snippet=0.59)) is False
    assert judged(pair(text=0.08, snippet=0.6, distance=1)) is False


def test_confidence_is_one_half_at_the_threshold_and_grows_away_from_it():
    confidences = [judge_pairs([pair(text=t)])[0].confidence for t in (0.0, 0.1, 0.15, 0.6, 1.0)]
    assert confidences[0] == 1.0
    assert confidences[2] == 0.5
    assert confidences[4] == 1.0
    assert confidences[1] < confidences[0]
    assert confidences[2] < confidences[3] < confidences[4]


def test_findings_of_two_repositories_are_refused():
    with pytest.raises(ValueError, match="several repositories: r, s"):
        build_pairs([finding("f", "x")], [bug("b", "x", repo="s")])


def test_the_order_of_findings_and_bugs_changes_nothing():
    findings = [finding(f"f{n}", f"Title number {n % 3}", first=n, last=n + 2) for n in range(1, 9)]
    bugs = [bug(f"b{n}", f"Title of number {n % 3}", first=2 * n, last=2 * n) for n in range(1, 5)]
    expected = judge_pairs(build_pairs(findings, bugs))
    rng = random.Random(5)
    for _ in range(3):
        rng.shuffle(findings)
        rng.shuffle(bugs)
        assert judge_pairs(build_pairs(findings, bugs)) == expected
    assert any(judgement.match for judgement in expected)


def judgement(left: str, right: str, match: bool | None = True) -> Judgement:
    return Judgement(
        left=left, right=right, match=match, confidence=0.5, rationale="", provenance=MADE
    )


def test_matches_are_many_to_many_and_flag_crowded_findings():
    edges = [("f1", "b1"), ("f1", "b2"), ("f1", "b3"), ("f2", "b1")]
    pairs = [pair(left, right) for left, right in [*edges, ("f2", "b2")]]
    judgements = [judgement(*edge) for edge in edges] + [judgement("f2", "b2", None)]
    matches = list_matches(pairs, reversed(judgements))
    assert [(m.finding, m.bug, m.crowded) for m in matches] == [
        ("f1", "b1", True),
        ("f1", "b2", True),
        ("f1", "b3", True),
        ("f2", "b1", False),
    ]


def test_the_largest_assignment_does_not_depend_on_order():
    """f1 could take b1 and leave f2 without: the maximum gives f1 the other bug."""
    edges = [("f1", "b1"), ("f1", "b2"), ("f2", "b1"), ("f3", "b1")]
    pairs = [pair(left, right) for left, right in edges]
    for order in (edges, edges[::-1]):
        matches = list_matches(pairs, [judgement(*edge) for edge in order])
        assert count_one_to_one(matches) == 2
