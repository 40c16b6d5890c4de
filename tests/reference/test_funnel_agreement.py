import pytest

from probe.errors import RecordError
from probe.records import (
    Bug,
    Candidate,
    Classification,
    Dropped,
    Evidence,
    Failure,
    Location,
    Presence,
    Provenance,
)
from probe.reference.agreement import TrueBug, agree, read_true_bugs, read_true_fixes
from probe.reference.funnel import COLUMNS, count_unjudged, funnel_rows
from probe.report.tables import write_csv

MADE = Provenance(engine="heuristic", engine_version="1", probe_version="0")
SHAS = [f"{number:x}" * 40 for number in range(1, 8)]


def verdict(sha, is_fix):
    failure = Failure(kind="timeout", detail="600 s") if is_fix is None else None
    return Classification(
        commit=sha, is_fix=is_fix, confidence=1, rationale="", failure=failure, provenance=MADE
    )


def candidate(sha, anchoring="exact"):
    return Candidate(
        id=f"{sha[:12]}-1",
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


def presence(sha, kept, ground="code_absent"):
    return Presence(
        candidate=f"{sha[:12]}-1",
        verdict="keep" if kept else "drop",
        ground=None if kept else ground,
        confidence=1,
        rationale="",
        evidence=() if kept else (Evidence(command="git log", output=""),),
        provenance=MADE,
    )


def bug(*shas):
    return Bug(
        id=f"demo:{shas[0][:12]}-1",
        repo="demo",
        title="t",
        description="d",
        primary=Location(path="a.py", first=1, last=1),
        unit=None,
        snippet="",
        severity="medium",
        suggested_fix="",
        candidates=tuple(f"{sha[:12]}-1" for sha in shas),
        fix_commits=shas,
        fix_rank=1,
        provenance=MADE,
    )


def test_nothing_leaves_the_funnel_unnamed():
    rows = funnel_rows(
        commits=SHAS,
        classifications=[verdict(sha, number < 6) for number, sha in enumerate(SHAS)],
        candidates=[candidate(sha) for sha in SHAS[:4]] + [candidate(SHAS[4], "lost")],
        left_out=[Dropped(commit=SHAS[5], stage="extract", reason="comments only")],
        presences=[presence(sha, kept=True) for sha in SHAS[:4]] + [presence(SHAS[4], kept=False)],
        unplaced=[],
        taken_back=[Dropped(commit=SHAS[3], stage="deduplicate", reason="reverted")],
        bugs=[bug(SHAS[0], SHAS[1]), bug(SHAS[2])],
    )
    table = [(row["stage"], row["outcome"], row["reason"], row["count"]) for row in rows]
    assert table == [
        ("commits", "stayed", "", 7),
        ("fixes", "stayed", "", 6),
        ("fixes", "left", "not a fix", 1),
        ("candidates", "stayed", "", 5),
        ("candidates", "left", "comments only", 1),
        ("anchored", "stayed", "", 4),
        ("anchored", "lost", "no place in the snapshot", 1),
        ("present", "stayed", "", 4),
        ("present", "left", "code_absent", 1),
        ("written", "stayed", "", 4),
        ("merged", "stayed", "", 2),
        ("merged", "left", "taken back in the window", 1),
        ("merged", "left", "merged with another", 1),
    ]


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


def test_what_no_engine_could_judge_is_in_no_rate_and_is_counted(tmp_path):
    classifications = [verdict(SHAS[0], True), verdict(SHAS[1], None), verdict(SHAS[2], False)]
    fixes = {SHAS[0]: True, SHAS[1]: True, SHAS[2]: False}
    row = agree("demo", fixes, [], classifications, [], [], [])[0]
    assert (row.true_positives, row.false_negatives, row.unjudged) == (1, 0, 1)
    assert row.recall == 1.0
    rows = funnel_rows([], classifications, [], [], [], [], [], [])
    write_csv(tmp_path / "funnel.csv", COLUMNS, rows)
    assert count_unjudged(tmp_path / "funnel.csv") == 1


def test_a_funnel_that_is_none_is_one_line(tmp_path):
    (tmp_path / "funnel.csv").write_text("a,b\n1,2\n")
    with pytest.raises(RecordError, match=r"funnel.csv: no funnel table .*delete it and run again"):
        count_unjudged(tmp_path / "funnel.csv")
