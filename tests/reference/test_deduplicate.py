"""Which fixes are one defect, which the window takes back, and what becomes of both."""

from itertools import pairwise
from pathlib import Path

import pytest
from builders import HistoryBuilder

from probe.code.paths import SourceScope
from probe.git.log import iter_window
from probe.records import Bug, Candidate, Commit, Judgement, Provenance, Report
from probe.reference.bugs import merge_bugs
from probe.reference.candidates import build_candidates
from probe.reference.deduplicate import Fixes, judge_duplicates, pair_reports
from probe.reference.merge import merge_reports, oversized_text
from probe.reference.patches import added_overlap, patch_of_lines, read_patch, undoes
from probe.reference.presences import judge_presences
from probe.reference.reports import write_reports
from probe.reference.score_presence import PresenceLabel, score_duplicates
from probe.reference.undone import Undone, find_redone, find_undone

OLD = "".join(f"def f_{n}(x):\n    return x.value_{n} + {n}\n\n\n" for n in range(8))
MADE = Provenance(engine="heuristic", engine_version="1", probe_version="0")


def fixed(text: str, *numbers: int) -> str:
    """The text with guards in some of its functions."""
    for n in numbers:
        text = text.replace(
            f"def f_{n}(x):\n", f"def f_{n}(x):\n    if x.value_{n} is None:\n        return {n}\n"
        )
    return text


@pytest.fixture
def history(tmp_path: Path) -> HistoryBuilder:
    return HistoryBuilder(tmp_path / "repo")


class Built:
    """The whole path over a small history of which every commit that says ``fix`` is one."""

    def __init__(self, history: HistoryBuilder, t0: str, limit: int = 20) -> None:
        t1 = history.tip("main")
        self.commits: list[Commit] = list(iter_window(history.path, t0, t1))
        fixes = [c for c in self.commits if c.subject.lower().startswith("fix")]
        self.candidates, _ = build_candidates(history.path, t0, t1, fixes, SourceScope())
        presences = judge_presences(history.path, t0, self.candidates)
        self.reports, _ = write_reports(history.path, t0, self.candidates, presences)
        self.pairs = pair_reports(self.reports, self.candidates)
        self.judgements = judge_duplicates(self.pairs, self.candidates)
        self.undone = find_undone(history.path, self.commits, self.candidates)
        self.merged = merge_bugs(
            history.path,
            "demo",
            self.commits,
            [c.sha for c in fixes],
            self.candidates,
            self.reports,
            self.judgements,
            limit,
        )

    @property
    def fix_commits(self) -> list[tuple[str, ...]]:
        return [bug.fix_commits for bug in self.merged.bugs]


def test_the_same_patch_on_two_branches_is_one_bug(history):
    t0 = history.commit({"a.py": OLD})
    history.branch("stable")
    one = history.commit({"a.py": fixed(OLD, 3)}, "fix: guard three")
    history.switch("main")
    history.commit({"b.py": "x = 1\n"})
    two = history.commit({"a.py": fixed(OLD, 3)}, "fix: another name for it")
    history.merge("stable", message="Merge stable")
    built = Built(history, t0)
    (bug,) = built.merged.bugs
    assert set(bug.fix_commits) == {one, two}
    assert bug.id == f"demo:{bug.fix_commits[0][:12]}-1"
    assert bug.fix_rank == 1
    (judgement,) = [j for j in built.judgements if j.match]
    assert judgement.rationale == "the same patch"


def test_the_same_title_in_a_shared_file_is_one_bug(history):
    t0 = history.commit({"a.py": OLD})
    one = history.commit({"a.py": fixed(OLD, 3)}, "fix: crash on an empty value (#5)")
    two = history.commit({"a.py": fixed(OLD, 3, 5)}, "fix: crash on an empty value (#5)")
    assert Built(history, t0).fix_commits == [(one, two)]


def test_the_same_title_in_other_files_or_a_generic_one_is_not(history):
    t0 = history.commit({"a.py": OLD, "b.py": OLD.replace("value", "other")})
    one = history.commit({"a.py": fixed(OLD, 3)}, "fix: crash on an empty value")
    two = history.commit(
        {"b.py": fixed(OLD, 4).replace("value", "other")}, "fix: crash on an empty value"
    )
    three = history.commit({"a.py": fixed(OLD, 3, 5)}, "fixup")
    four = history.commit({"a.py": fixed(OLD, 3, 5, 6)}, "fixup")
    assert Built(history, t0).fix_commits == [(one,), (two,), (three,), (four,)]


def test_neighbouring_fixes_in_one_function_stay_apart(history):
    """Location overlap alone makes many false merges."""
    t0 = history.commit({"a.py": OLD})
    once = OLD.replace("return x.value_2 + 2", "return x.value_2 - 2")
    twice = once.replace("def f_2(x):\n", "def f_2(x):\n    check(x)\n")
    one = history.commit({"a.py": once}, "fix: subtract two")
    two = history.commit({"a.py": twice}, "fix: check before use")
    built = Built(history, t0)
    assert built.fix_commits == [(one,), (two,)]
    assert [(j.left, j.match) for j in built.judgements] == [(f"{one[:12]}-1", False)]


def test_a_revert_takes_the_record_away(history):
    t0 = history.commit({"a.py": OLD})
    fix = history.commit({"a.py": fixed(OLD, 3)}, "fix: guard three (#7)")
    revert = history.commit(
        {"a.py": OLD}, f'Revert "fix: guard three (#7)"\n\nThis reverts commit {fix}.'
    )
    other = history.commit({"a.py": fixed(OLD, 4)}, "fix: guard four")
    built = Built(history, t0)
    assert built.fix_commits == [(other,)]
    (left,) = built.merged.left_out
    assert (left.commit, left.stage) == (fix, "deduplicate")
    assert (left.candidate, left.reason) == (f"{fix[:12]}-1", "taken back in the window")
    assert left.detail == f"by {revert[:12]}"
    assert built.merged.bugs[0].fix_rank == 2


@pytest.mark.parametrize(
    "message",
    [
        'Revert "fix: guard three"',
        'Revert "fix: guard thr…" (#9)',
        "chore: revert #7",
        "fix: revert guards for now",
        "fix: back out",
    ],
)
def test_reverts_are_known_by_quote_number_or_patch(history, message):
    t0 = history.commit({"a.py": OLD})
    fix = history.commit({"a.py": fixed(OLD, 3)}, "fix: guard three (#7)")
    revert = history.commit({"a.py": OLD}, message)
    undone = Built(history, t0).undone
    assert [(item.fix, item.by) for item in undone] == [(fix, revert)]


def test_a_fix_whose_lines_a_later_fix_replaces_is_not_undone(history):
    t0 = history.commit({"a.py": OLD})
    history.commit({"a.py": fixed(OLD, 3)}, "fix: guard three")
    better = fixed(OLD, 3).replace("        return 3\n", "        return default(x)\n")
    history.commit({"a.py": better}, "fix: a better default")
    assert Built(history, t0).undone == []


def test_a_revert_of_a_revert_restores_the_fix(history):
    t0 = history.commit({"a.py": OLD})
    fix = history.commit({"a.py": fixed(OLD, 3)}, "fix: guard three")
    revert = history.commit(
        {"a.py": OLD}, f'Revert "fix: guard three"\n\nThis reverts commit {fix}.'
    )
    history.commit(
        {"a.py": fixed(OLD, 3)}, f'Reapply "fix: guard three"\n\nThis reverts commit {revert}.'
    )
    built = Built(history, t0)
    assert built.undone == []
    assert built.fix_commits == [(fix,)]


def test_fix_revert_redo_is_one_bug(history):
    t0 = history.commit({"a.py": OLD, "b.py": "x = 1\n"})
    fix = history.commit({"a.py": fixed(OLD, 3)}, "fix: guard three")
    history.commit({"a.py": OLD}, f"Revert it\n\nThis reverts commit {fix}.")
    redo = history.commit({"a.py": fixed(OLD, 3)}, "fix: guard three, second try")
    built = Built(history, t0)
    assert built.fix_commits == [(fix, redo)]
    assert built.merged.left_out == []


def test_a_matter_that_is_taken_up_again_elsewhere_is_one_bug(history):
    t0 = history.commit({"a.py": OLD, "b.py": OLD.replace("f_", "g_")})
    fix = history.commit({"a.py": fixed(OLD, 3)}, "fix: names in DISTINCT ON lists")
    history.commit({"a.py": OLD}, f"Revert it\n\nThis reverts commit {fix}.")
    other = history.commit({"a.py": fixed(OLD, 5)}, "fix: quite another thing")
    redo = history.commit(
        {"b.py": OLD.replace("f_", "g_").replace("+ 4", "- 4")}, "fix: expand DISTINCT ON"
    )
    built = Built(history, t0)
    assert find_redone(built.undone, built.commits, built.candidates) == [
        (f"{fix[:12]}-1", f"{redo[:12]}-1")
    ]
    assert built.fix_commits == [(fix, redo), (other,)]


def report(number: int, severity: str = "medium", path: str = "a.py") -> Report:
    sha = f"{number:040x}"
    return Report.model_validate(
        {
            "candidate": f"{sha[:12]}-{number}",
            "commit": sha,
            "title": f"Title {number}",
            "description": "",
            "primary": {"path": path, "first": number, "last": number},
            "unit": None,
            "snippet": "",
            "severity": severity,
            "suggested_fix": "",
            "provenance": MADE,
        }
    )


def same(left: Report, right: Report, match: bool | None = True) -> Judgement:
    return Judgement(
        left=left.candidate,
        right=right.candidate,
        match=match,
        confidence=1,
        rationale="",
        provenance=MADE,
    )


def test_components_unite_places_severity_and_commits():
    a, b, c, d = report(1), report(2, "high", "b.py"), report(3), report(4)
    fixes = [r.commit for r in (a, d, b, c)]
    merged = merge_reports("r", [c, b, a, d], [same(c, b), same(b, a), same(a, d, False)], fixes)
    first, second = merged.bugs
    assert first.title == "Title 1"
    assert (first.fix_rank, second.fix_rank) == (1, 2)
    assert first.fix_commits == (a.commit, b.commit, c.commit)
    assert first.candidates == (a.candidate, b.candidate, c.candidate)
    assert first.severity == "high"
    assert (first.primary, first.others) == (a.primary, (b.primary, c.primary))
    assert second.fix_commits == (d.commit,)


def test_unjudged_pairs_are_not_merged():
    a, b = report(1), report(2)
    merged = merge_reports("r", [a, b], [same(a, b, None)], [a.commit, b.commit])
    assert len(merged.bugs) == 2


def test_a_component_beyond_the_limit_is_listed_not_merged():
    reports = [report(n) for n in range(1, 5)]
    chain = [same(a, b) for a, b in pairwise(reports)]
    fixes = [r.commit for r in reports]
    merged = merge_reports("r", reports, chain, fixes, limit=3)
    assert [bug.fix_commits for bug in merged.bugs] == [(sha,) for sha in fixes]
    assert merged.oversized == [tuple(reports)]
    assert merge_reports("r", reports, chain, fixes, limit=4).oversized == []


def test_groups_beyond_the_limit_are_a_table_for_a_person():
    one, other = report(1), report(2, path="b.py").model_copy(update={"title": "A\ttab"})
    lines = oversized_text([(one, other)]).splitlines()
    assert [line.split("\t") for line in lines] == [
        ["group", "candidate", "commit", "title", "path", "lines"],
        ["1", one.candidate, one.commit, "Title 1", "a.py", "1-1"],
        ["1", other.candidate, other.commit, "A tab", "b.py", "2-2"],
    ]
    assert oversized_text([]).splitlines() == lines[:1]


def test_nothing_of_a_group_beyond_the_limit_is_lost():
    """Undone fixes leave with their reason, the others are bugs of their own."""
    reports = [report(n) for n in range(1, 5)]
    chain = [same(a, b) for a, b in pairwise(reports)]
    fixes = [r.commit for r in reports]
    gone = [Undone(fixes[1], "f" * 40, 9)]
    merged = merge_reports("r", reports, chain, fixes, undone=gone, limit=3)
    assert [bug.fix_commits for bug in merged.bugs] == [(fixes[n],) for n in (0, 2, 3)]
    assert [item.candidate for item in merged.left_out] == [reports[1].candidate]


def test_a_report_that_leaks_makes_no_bug_and_meets_no_judge():
    clean, leaking = report(1), report(2).model_copy(update={"leaks": ("fix in title: 'patch'",)})
    items = [clean, leaking, report(3)]
    pairs = pair_reports(items, map(candidate_of, items))
    assert {name for pair in pairs for name in (pair.left, pair.right)} == {
        clean.candidate,
        items[2].candidate,
    }
    fixes = [r.commit for r in items]
    merged = merge_reports("r", items, [same(clean, leaking)], fixes)
    assert [bug.fix_commits for bug in merged.bugs] == [(fixes[0],), (fixes[2],)]
    assert merged.bugs[1].fix_rank == 3


def test_unjudged_pairs_are_counted():
    a, b, c = report(1), report(2), report(3)
    judged = [same(a, b, None), same(b, c, None), same(a, c)]
    merged = merge_reports("r", [a, b, c], judged, [r.commit for r in (a, b, c)])
    assert merged.unjudged == 2
    assert [bug.fix_commits for bug in merged.bugs] == [(a.commit, c.commit), (b.commit,)]


def test_a_bug_keeps_the_trigger_and_the_maker_of_its_earliest_report():
    made = Provenance(engine="luna", engine_version="9", probe_version="0", prompt_sha256="a" * 64)
    a = report(1).model_copy(update={"trigger": "an empty list", "provenance": made})
    (bug,) = merge_reports(
        "r", [a, report(2)], [same(a, report(2))], [f"{n:040x}" for n in (1, 2)]
    ).bugs
    assert (bug.trigger, bug.provenance) == ("an empty list", made)


FIX = "--- a.py\n+++ a.py\n@@ -1,1 +1,2 @@\n-value = compute(x)\n+value = compute(x) or default\n+check(value)\n"


def split_bugs(*commits: int) -> list[Candidate]:
    """Two bugs of each commit, all with the one patch of their commits."""
    return [
        candidate_of(report(commit)).model_copy(
            update={"id": f"{commit:012x}-{n}", "title": f"bug {n} of these", "suggested_fix": FIX}
        )
        for commit in commits
        for n in (1, 2)
    ]


def test_two_bugs_of_one_commit_are_never_one_by_their_patch():
    one, other = split_bugs(1)
    fixes = Fixes([one, other])
    assert fixes.same_fix(one, other) is None
    alike = other.model_copy(update={"title": one.title})
    assert Fixes([one, alike]).same_fix(one, alike) is None


def test_bugs_of_a_commit_that_landed_twice_are_joined_one_by_one():
    """The patch is that of both, so the titles decide which bug is which."""
    first, second, third, fourth = split_bugs(1, 2)
    fixes = Fixes([first, second, third, fourth])
    assert not fixes.same_patch(first, third)
    assert fixes.same_fix(first, third) == ("the same title, in a shared file", 0.85)
    assert fixes.same_fix(second, fourth) is not None
    assert fixes.same_fix(first, fourth) is None
    assert fixes.same_fix(second, third) is None
    alone = Fixes([first, third])
    assert alone.same_fix(first, third) == ("the same patch", 0.98)


def test_the_order_of_judgements_changes_nothing():
    reports = [report(n) for n in range(1, 7)]
    edges = [
        same(reports[0], reports[4]),
        same(reports[2], reports[1]),
        same(reports[4], reports[5]),
    ]
    fixes = [r.commit for r in reports]
    straight = merge_reports("r", reports, edges, fixes)
    assert merge_reports("r", reports[::-1], edges[::-1], fixes) == straight
    assert len(straight.bugs) == 3


def test_no_reports_give_no_bugs():
    merged = merge_reports("r", [], [], [])
    assert (merged.bugs, merged.left_out, merged.oversized) == ([], [], [])
    assert pair_reports([], []) == []


def test_a_patch_is_read_back_from_a_rendered_fix():
    text = "--- old/a.py\n+++ a.py\n@@ -3,2 +3,1 @@ def f():\n--- x  # looks like a header\n-  y = 1\n+y = 2\n"
    patch = read_patch(text)
    assert patch.names == {"a.py"}
    assert dict(patch.removed) == {"--x#lookslikeaheader": 1}
    assert dict(patch.added) == {}
    # y=1 and y=2 are too short to be compared, but not to tell two patches apart
    assert patch.identity != read_patch(text.replace("y = 2", "y = 3")).identity
    assert patch.identity == read_patch(text.replace("  y = 1", "y=1")).identity


def test_overlap_is_the_jaccard_of_added_lines():
    left = patch_of_lines(["a"], [], ["alpha = 1", "beta = 2", "gamma = 3"])
    right = patch_of_lines(["a"], [], ["beta = 2", "gamma = 3", "delta = 4"])
    assert added_overlap(left, right) == 2 / 4
    empty = patch_of_lines(["a"], [], [])
    assert added_overlap(empty, empty) == 0.0


def test_undoing_needs_both_sides():
    fix = patch_of_lines(["a"], ["old_line = 1"], ["new_line = 2"])
    assert undoes(patch_of_lines(["a"], ["new_line = 2"], ["old_line = 1"]), fix, 0.8)
    assert not undoes(patch_of_lines(["a"], ["new_line = 2"], ["third = 3"]), fix, 0.8)
    assert not undoes(fix, patch_of_lines(["a"], ["old_line = 1"], []), 0.8)


def test_duplicates_are_scored_by_what_the_reference_set_holds():
    a, b, c = (report(n) for n in (1, 2, 3))
    fixes = [r.commit for r in (a, b, c)]

    def label(expected: str, one: Report, other: Report) -> PresenceLabel:
        return PresenceLabel(expected, "o/r", one.commit, other.commit, False, "why")

    labels = [label("MERGE", a, b), label("SEPARATE", b, c), label("REVERTED", c, a)]
    good: list[Bug] = merge_reports("r", [a, b], [same(a, b)], fixes).bugs
    assert score_duplicates(labels, good).wrong == ()
    bad = merge_reports("r", [a, b, c], [same(b, c)], fixes).bugs
    assert score_duplicates(labels, bad).right == 0


def test_candidates_of_unknown_pairs_are_refused():
    reports = [report(1), report(2)]
    (pair,) = pair_reports(reports, map(candidate_of, reports))
    with pytest.raises(KeyError):
        judge_duplicates([pair], [])


def candidate_of(item: Report) -> Candidate:
    return Candidate(
        id=item.candidate,
        commit=item.commit,
        title=item.title,
        root_cause="",
        parent_locations=(),
        snapshot_locations=(item.primary,),
        anchoring="exact",
        anchored_lines=1,
        faulty_lines=1,
        suggested_fix="",
        provenance=MADE,
    )
