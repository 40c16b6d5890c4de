from collections import Counter, defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.errors import RecordError
from probe.records import (
    Bug,
    Candidate,
    Classification,
    Commit,
    Dropped,
    Evidence,
    Failure,
    Judgement,
    Location,
    Presence,
    Provenance,
)
from probe.reference.agreement import TrueBug, agree, read_true_bugs, read_true_fixes
from probe.reference.funnel import COLUMNS, Recorded, count_unjudged, funnel_rows
from probe.report.tables import write_csv

MADE = Provenance(engine="heuristic", engine_version="1", probe_version="0")
SHAS = [f"{number:x}" * 40 for number in range(1, 8)]


def failed(kind):
    return Failure(kind=kind, detail="why")


def commit(sha, truncated=False):
    time = datetime(2025, 1, 1, tzinfo=UTC)
    return Commit(
        sha=sha, position=0, step=sha, parents=(), author_time=time, committer_time=time,
        subject="s", body="", files=(), truncated=truncated,
    )  # fmt: skip


def verdict(sha, is_fix, kind="timeout"):
    failure = failed(kind) if is_fix is None else None
    return Classification(
        commit=sha, is_fix=is_fix, confidence=1, rationale="", failure=failure, provenance=MADE
    )


def candidate(sha, anchoring="exact", number=1):
    return Candidate(
        id=f"{sha[:12]}-{number}",
        commit=sha,
        title="t",
        root_cause="",
        parent_locations=(),
        snapshot_locations=(),
        anchoring=anchoring,
        anchored_lines=0,
        faulty_lines=0,
        suggested_fix="",
        provenance=MADE,
    )


def presence(sha, kept, ground="code_absent", number=1, kind=None, overruled=None):
    dropped = kept is False
    return Presence(
        candidate=f"{sha[:12]}-{number}",
        verdict={True: "keep", False: "drop", None: None}[kept],
        ground=ground if dropped else None,
        overruled=overruled,
        failure=failed(kind) if kind else None,
        confidence=1,
        rationale="",
        evidence=(Evidence(command="git log", output=""),) if dropped else (),
        provenance=MADE,
    )


def left(sha, stage, reason, kind=None):
    return Dropped(commit=sha, stage=stage, reason=reason, failure=failed(kind) if kind else None)


def pair(one, other, match):
    return Judgement(
        left=one, right=other, match=match, confidence=1, rationale="", provenance=MADE
    )


def bug(*shas, title="t", candidates=None):
    ids = candidates or tuple(f"{sha[:12]}-1" for sha in shas)
    return Bug(
        id=f"demo:{ids[0]}",
        repo="demo",
        title=title,
        description="d",
        primary=Location(path="a.py", first=1, last=1),
        unit=None,
        snippet="",
        severity="medium",
        suggested_fix="",
        candidates=ids,
        fix_commits=shas,
        fix_rank=1,
        provenance=MADE,
    )


def table_of(recorded):
    rows = funnel_rows(recorded)
    return [(row["stage"], row["outcome"], row["reason"], row["count"]) for row in rows]


def test_nothing_leaves_the_funnel_unnamed():
    # 7 commits; the last is no fix, the sixth gives no candidate, and the second and third give two
    # things each: two bugs, and a bug and a reason
    one, two, three, four, five, six, seven = SHAS
    recorded = Recorded(
        commits=[commit(sha, truncated=sha == six) for sha in SHAS],
        classifications=[verdict(sha, sha != seven) for sha in SHAS],
        candidates=[
            candidate(one), candidate(two), candidate(two, number=2), candidate(three),
            candidate(four), candidate(five, "lost"),
        ],
        left_out=[
            left(three, "extract", "touches no changed line"), left(six, "extract", "comments only")
        ],
        presences=[
            presence(one, True), presence(two, True, overruled="not reproduced"),
            presence(two, True, number=2), presence(three, True), presence(four, True),
            presence(five, False),
        ],
        unwritten=[left(three, "synthesize", "unjudged", "invalid")],
        taken_back=[left(four, "deduplicate", "taken back in the window")],
        duplicates=[pair(f"{one[:12]}-1", f"{two[:12]}-2", None)],
        merged=[bug(one, two), bug(two, candidates=(f"{two[:12]}-2",))],
        bugs=[bug(one, two, title="another title")],
    )  # fmt: skip
    assert table_of(recorded) == [
        ("commits", "stayed", "", 6),
        ("commits", "stayed", "diff not read in full", 1),
        ("fixes", "stayed", "", 6),
        ("fixes", "left", "not a fix", 1),
        ("candidates", "added", "further bugs of a commit", 2),
        ("candidates", "stayed", "", 6),
        ("candidates", "left", "comments only", 1),
        ("candidates", "left", "touches no changed line", 1),
        ("anchored", "stayed", "", 5),
        ("anchored", "lost", "no place in the snapshot", 1),
        ("present", "stayed", "", 4),
        ("present", "stayed", "drop overruled: not reproduced", 1),
        ("present", "left", "code_absent", 1),
        ("written", "stayed", "", 4),
        ("written", "left", "unjudged: invalid", 1),
        ("merged", "stayed", "", 0),
        ("merged", "stayed", "in an unjudged pair", 2),
        ("merged", "left", "taken back in the window", 1),
        ("merged", "left", "merged with another", 1),
        ("reference", "stayed", "", 0),
        ("reference", "stayed", "corrected by an erratum", 1),
        ("reference", "left", "withdrawn by an erratum", 1),
    ]


def test_failures_are_counted_by_their_kind_and_in_all(tmp_path):
    one, two, three, four = SHAS[:4]
    recorded = Recorded(
        commits=map(commit, SHAS[:4]),
        classifications=[verdict(one, True), verdict(two, True), verdict(three, None),
                         verdict(four, None, "refusal")],
        candidates=[candidate(one), candidate(one, number=2)],
        left_out=[left(two, "extract", "unjudged", "truncated")],
        presences=[presence(one, None, kind="limit"), presence(one, None, number=2)],
    )  # fmt: skip
    unjudged = [row[2:] for row in table_of(recorded) if row[1] == "left"]
    assert unjudged == [
        ("unjudged: refusal", 1),
        ("unjudged: timeout", 1),
        ("unjudged: truncated", 1),
        ("unjudged", 1),
        ("unjudged: limit", 1),
    ]
    rows = funnel_rows(replace(recorded, commits=map(commit, SHAS[:4])))
    write_csv(tmp_path / "funnel.csv", COLUMNS, rows)
    assert count_unjudged(tmp_path / "funnel.csv") == 5


@pytest.mark.parametrize(
    ("lost", "stage"),
    [
        ({"classifications": []}, "fixes"),
        ({"candidates": [], "presences": []}, "candidates"),
        ({"presences": []}, "present"),
        ({"merged": [], "bugs": []}, "merged"),
        ({"bugs": [bug(SHAS[1])]}, "reference"),
    ],
)
def test_a_lost_record_is_an_error_and_no_shorter_table(lost, stage):
    sha = SHAS[0]
    whole = {
        "commits": [commit(sha)], "classifications": [verdict(sha, True)],
        "candidates": [candidate(sha)], "presences": [presence(sha, True)],
        "merged": [bug(sha)], "bugs": [bug(sha)],
    }  # fmt: skip
    assert table_of(Recorded(**whole))
    with pytest.raises(RecordError, match=f"stage {stage}: 1 came in, but"):
        funnel_rows(Recorded(**{**whole, **lost}))


KINDS = st.sampled_from(["timeout", "refusal", "invalid"])


@st.composite
def builds(draw):
    """Consistent records of a build: every item goes on, or leaves with a reason."""
    verdicts, candidates, left_out, presences, unwritten, taken_back = [], [], [], [], [], []
    written: list[tuple[str, str]] = []
    shas = [f"{number:040x}" for number in range(draw(st.integers(0, 12)))]
    shas = [sha[::-1] for sha in shas]
    for sha in shas:
        is_fix = draw(st.sampled_from([True, True, False, None]))
        verdicts.append(verdict(sha, is_fix, draw(KINDS)))
        if not is_fix:
            continue
        bugs = draw(st.integers(0, 3))
        for reason in draw(st.lists(st.sampled_from(["a", "b"]), min_size=not bugs, max_size=2)):
            left_out.append(left(sha, "extract", reason, draw(st.none() | KINDS)))
        for number in range(1, bugs + 1):
            name = f"{sha[:12]}-{number}"
            anchoring = draw(st.sampled_from(["exact", "lost"]))
            candidates.append(candidate(sha, anchoring, number))
            kept = draw(st.sampled_from([True, True, False, None]))
            overruled = draw(st.sampled_from([None, "uncited", "no ground"])) if kept else None
            presences.append(presence(sha, kept, number=number, overruled=overruled))
            fate = draw(st.sampled_from(["written", "written", "unwritten", "taken back"]))
            if kept and fate == "unwritten":
                unwritten.append(left(sha, "synthesize", "its report leaks the fix"))
            elif kept and fate == "taken back":
                taken_back.append(left(sha, "deduplicate", "taken back in the window"))
            elif kept:
                written.append((sha, name))
    merged, start = [], 0
    while start < len(written):
        size = draw(st.integers(1, 3))
        group = written[start : start + size]
        shas_of = tuple(dict.fromkeys(sha for sha, _ in group))
        merged.append(bug(*shas_of, candidates=tuple(name for _, name in group)))
        start += size
    names = [name for _, name in written]
    pairs = [
        pair(
            draw(st.sampled_from(names)),
            draw(st.sampled_from(names)),
            draw(st.sampled_from([None, False])),
        )
        for _ in range(draw(st.integers(0, 3)) if names else 0)
    ]
    fates = [draw(st.sampled_from(["same", "withdrawn", "corrected"])) for _ in merged]
    bugs = [
        one.model_copy(update={"title": "new"}) if fate == "corrected" else one
        for one, fate in zip(merged, fates, strict=True)
        if fate != "withdrawn"
    ]
    return Recorded(
        commits=[commit(sha, draw(st.booleans())) for sha in shas], classifications=verdicts,
        candidates=candidates, left_out=left_out, presences=presences, unwritten=unwritten,
        taken_back=taken_back, duplicates=pairs, merged=merged, bugs=bugs,
    )  # fmt: skip


@given(builds())
def test_stages_add_up_for_any_consistent_build(recorded):
    counts: dict[str, Counter] = defaultdict(Counter)
    for row in funnel_rows(recorded):
        assert row["count"] >= 0
        assert row["reason"] or row["outcome"] == "stayed", "what left has a reason"
        counts[row["stage"]][row["outcome"]] += row["count"]
    stages = ["commits", "fixes", "candidates", "anchored", "present", "written", "merged", "reference"]  # fmt: skip
    assert list(counts) == stages
    for before, stage in pairwise(stages):
        came_in = counts[before]["stayed"] + counts[before]["lost"]
        assert counts[stage].total() - 2 * counts[stage]["added"] == came_in
    assert counts["commits"]["stayed"] == len(list(recorded.commits))
    assert counts["reference"]["stayed"] == len(recorded.bugs)


def test_agreement_counts_each_bug_once():
    one, two, three, other = SHAS[:4]
    truth = [
        TrueBug("twice", frozenset({one, two}), present=True),
        TrueBug("missed", frozenset({three}), present=True),
        TrueBug("later", frozenset({other}), present=False),
    ]
    rows = agree(
        "demo",
        {one: True, two: True, three: True, other: False},
        truth,
        [verdict(one, True), verdict(two, True), verdict(three, False), verdict(other, True)],
        [candidate(one), candidate(two), candidate(other)],
        [presence(one, kept=True), presence(two, kept=False), presence(other, kept=True)],
        [bug(one), bug(two)],
    )
    figures = {r.stage: (r.true_positives, r.false_positives, r.false_negatives) for r in rows}
    assert figures == {"classify": (2, 1, 1), "presence": (1, 0, 1), "bugs": (1, 1, 1)}
    bugs = next(row for row in rows if row.stage == "bugs")
    assert (bugs.precision, bugs.recall, bugs.f1) == (0.5, 0.5, 0.5)
    assert "-missed" in bugs.wrong.split()


def test_truth_files_are_read_and_checked(tmp_path):
    commits = tmp_path / "truth.tsv"
    commits.write_text(f"position\tsha\tis_bug_fix\n0\t{SHAS[0]}\tyes\n1\t{SHAS[1]}\tno\n")
    assert read_true_fixes(commits) == {SHAS[0]: True, SHAS[1]: False}
    commits.write_text(f"sha\tis_bug_fix\n{SHAS[0]}\tperhaps\n")
    with pytest.raises(RecordError, match="found 'perhaps' where yes or no is expected"):
        read_true_fixes(commits)
    bugs = tmp_path / "truth_bugs.tsv"
    bugs.write_text(f"bug\tpresent_at_t0\tfixes\nb\tyes\t{SHAS[0]} {SHAS[1]}\n")
    assert read_true_bugs(bugs) == [TrueBug("b", frozenset(SHAS[:2]), present=True)]
    bugs.write_text("bug\tpresent_at_t0\n")
    with pytest.raises(RecordError, match="column 'fixes' is missing"):
        read_true_bugs(bugs)


def test_what_no_engine_could_judge_is_in_no_rate():
    classifications = [verdict(SHAS[0], True), verdict(SHAS[1], None), verdict(SHAS[2], False)]
    fixes = {SHAS[0]: True, SHAS[1]: True, SHAS[2]: False}
    row = agree("demo", fixes, [], classifications, [], [], [])[0]
    assert (row.true_positives, row.false_negatives, row.unjudged) == (1, 0, 1)
    assert row.recall == 1.0


def test_a_commit_of_several_bugs_is_kept_where_any_of_them_is():
    one, two, three = SHAS[:3]
    truth = [
        TrueBug("old", frozenset({one, two, three}), present=True),
        TrueBug("new", frozenset({one}), present=False),
    ]
    numbers = [(one, 1), (one, 2), (two, 1), (two, 2), (three, 1), (three, 2)]
    row = agree(
        "demo",
        dict.fromkeys((one, two, three), True),
        truth,
        [verdict(sha, True) for sha in (one, two, three)],
        [candidate(sha, number=number) for sha, number in numbers],
        [
            presence(one, True), presence(one, False, number=2),
            presence(two, False), presence(two, False, number=2),
            presence(three, None), presence(three, False, number=2),
        ],
        [],
    )[1]  # fmt: skip
    # one is kept, two is missed, three is unjudged: no candidate kept, and one without a verdict
    assert (row.true_positives, row.false_positives, row.false_negatives) == (1, 0, 1)
    assert row.unjudged == 1
    assert row.wrong == f"-{two[:12]}"


def test_a_funnel_that_is_none_is_one_line(tmp_path):
    (tmp_path / "funnel.csv").write_text("a,b\n1,2\n")
    with pytest.raises(RecordError, match=r"funnel.csv: no funnel table .*delete it and run again"):
        count_unjudged(tmp_path / "funnel.csv")
