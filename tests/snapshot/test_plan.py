"""The planner: every audited file in one pass, budgets, shares and partners, in any order."""

import csv
import logging
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.config.settings import PlanSettings
from probe.records import CallEdge, SnapshotFile, UnitRef
from probe.report.tables import write_csv
from probe.snapshot.plan import WHOLE, build_plan, whole_pass
from probe.snapshot.plan_table import PLAN_COLUMNS, plan_rows


def snapshot_file(path, tokens=100, *, audited=True, blob="a" * 40, lines=10):
    return SnapshotFile(
        path=path,
        blob=blob,
        size=1,
        language="python",
        lines=lines,
        tokens=tokens if audited else 0,
        audited=audited,
        reason=None if audited else "test",
    )


def edge(caller, callee, *lines, certainty="certain"):
    """``pkg/a.py:run:1-9`` calls ``pkg/b.py:stop:5-7``; the part after the path may be missing."""
    return CallEdge(
        caller=unit(caller),
        callee=unit(callee),
        lines=lines or (3,),
        certainty=certainty,
        way="import",
    )


def unit(text):
    path, name, span = (*text.split(":"), "", "")[:3]
    first, _, last = (span or "1-9").partition("-")
    return UnitRef(path=path, unit=name, first=int(first), last=int(last))


def settings(**values):
    return PlanSettings(**{"token_budget": 200} | values)


def contents(plan):
    return {one.id: one.files for one in plan}


def test_what_fits_together_is_one_pass():
    files = [snapshot_file("pkg/a.py"), snapshot_file("pkg/sub/b.py")]
    plan = build_plan(files, settings=settings())
    assert contents(plan) == {"pkg-1": ("pkg/a.py", "pkg/sub/b.py")}


def test_folders_are_split_where_the_budget_demands_it():
    files = [snapshot_file(f"pkg/{name}.py", 100) for name in ("a", "b", "c", "x/d", "x/e")]
    assert contents(build_plan(files, settings=settings())) == {
        "pkg-1": ("pkg/a.py", "pkg/b.py"),
        "pkg-c-py-1": ("pkg/c.py",),
        "pkg-x-1": ("pkg/x/d.py", "pkg/x/e.py"),
    }


def test_a_file_above_the_budget_is_a_pass_of_its_own_and_is_said(caplog, tmp_path):
    files = [snapshot_file("a.py", 500), snapshot_file("b.py", 1), snapshot_file("c.py", 1)]
    with caplog.at_level(logging.WARNING):
        plan = build_plan(files, settings=settings())
    assert contents(plan) == {"a-py-1": ("a.py",), "root-1": ("b.py", "c.py")}
    # it is no individual pass: of three files, 15 % are none
    assert {one.kind for one in plan} == {"batch"}
    [record] = caplog.records
    assert record.getMessage().startswith("pass a-py-1: a.py alone has 500 tokens")
    write_csv(tmp_path / "plan.csv", PLAN_COLUMNS, plan_rows(plan, 200))
    with (tmp_path / "plan.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["pass"], row["files"], row["over_budget"]) for row in rows] == [
        ("a-py-1", "1", "yes"),
        ("root-1", "2", "no"),
    ]
    assert rows[0]["warning"] == record.getMessage()
    assert rows[1]["warning"] == ""


def test_a_path_that_looks_like_a_formula_stays_text_in_the_table():
    [row] = plan_rows(build_plan([snapshot_file("=cmd.py")]), 200)
    assert row["first_path"] == "'=cmd.py"


def test_the_score_is_lines_and_sixty_for_every_other_file_that_shares_a_call():
    files = [snapshot_file(f"{name}.py", lines=100) for name in "abcdef"]
    files.append(snapshot_file("test_a.py", audited=False))
    edges = [
        edge("a.py:f", "b.py:g"),
        edge("a.py:f", "b.py:h", 4, 5),  # the same file again
        edge("c.py:f", "a.py:f", certainty="likely"),
        edge("d.py:f", "a.py:f", certainty="possible"),  # a name alone joins nothing
        edge("a.py:f", "a.py:h"),  # inside
        edge("test_a.py:t", "a.py:f"),  # no production code
        edge("a.py:f", "gone.py:f"),
    ]
    plan = build_plan(files, edges, settings(token_budget=1, individual_share=1.0))
    scores = {one.files[0]: one.score for one in plan}
    assert scores["a.py"] == 100 + 60 * 2
    assert scores["b.py"] == scores["c.py"] == 100 + 60
    assert scores["d.py"] == scores["e.py"] == 100


def test_high_scores_get_passes_of_their_own_as_far_as_the_share_goes():
    files = [
        snapshot_file(f"{n:02}.py", 1, lines=1000 if n in {3, 5, 7} else 10) for n in range(20)
    ]
    edges = [edge("19.py:f", f"{n:02}.py:f") for n in range(17)]

    def individual(score=900, share=0.15):
        limits = settings(individual_score=score, individual_share=share)
        return [
            one.files[0] for one in build_plan(files, edges, limits) if one.kind == "individual"
        ]

    # 19.py: 10 + 17 × 60 = 1030; the three others 1060; three of twenty at most
    assert individual() == ["03.py", "05.py", "07.py"]
    assert individual(share=0.2) == ["03.py", "05.py", "07.py", "19.py"]
    assert individual(share=0.2, score=1040) == individual()
    assert individual(share=0.1) == ["03.py", "05.py"]
    assert individual(share=0.0) == []


def test_the_share_is_taken_of_the_decimal_number():
    files = [snapshot_file(f"{n:03}.py", 1, lines=9999) for n in range(100)]
    for share, most in ((0.29, 29), (0.57, 57), (0.58, 58), (0.15, 15), (0.155, 15)):
        plan = build_plan(files, settings=settings(individual_share=share))
        assert Counter(one.kind for one in plan)["individual"] == most


EDGES = [
    edge("x.py:few:20-29", "a.py:f", 21),
    edge("x.py:many:1-9", "a.py:f", 2, 3),
    edge("x.py:many:1-9", "a.py:g", 3),
    edge("y.py:doubt:1-9", "a.py:f", 1, 2, 3, 4, 5, 6, certainty="likely"),
    edge("y.py:name:1-9", "a.py:f", 1, 2, 3, 4, 5, 6, 7, certainty="possible"),
    edge("b.py:near:1-9", "a.py:f", 1),
    edge("a.py:f:1-9", "z.py::1-50", 8, certainty="likely"),
    edge("a.py:g:1-9", "z.py::1-50", 9),
]


def test_partners_are_ranked_and_never_inside():
    files = [snapshot_file(f"{name}.py", 60) for name in "ab"]
    files += [snapshot_file(f"{name}.py", 200) for name in "xyz"]
    plan = {one.files: one for one in build_plan(files, EDGES, settings())}
    one = plan["a.py", "b.py"]
    assert [(p.path, p.unit, p.calls, p.certainty, p.into, p.sites) for p in one.callers] == [
        ("x.py", "many", 3, "certain", ("a.py:f", "a.py:g"), (2, 3)),
        ("x.py", "few", 1, "certain", ("a.py:f",), (21,)),
        ("y.py", "doubt", 6, "likely", ("a.py:f",), (1, 2, 3, 4, 5, 6)),
        ("y.py", "name", 7, "possible", ("a.py:f",), (1, 2, 3, 4, 5, 6, 7)),
    ]
    assert [(p.path, p.unit, p.calls, p.certainty, p.into, p.sites) for p in one.callees] == [
        ("z.py", "", 2, "certain", ("a.py:f", "a.py:g"), ()),
    ]
    assert (one.callers_found, one.callees_found) == (4, 1)


def test_a_pass_lists_no_more_partners_than_its_kind_may():
    files = [snapshot_file(f"{name}.py", 200, lines=lines) for name, lines in
             (("a", 2000), ("b", 10), ("c", 10))]  # fmt: skip
    edges = [edge(f"c.py:f{n}:{n}-{n}", f"{to}.py:f", n) for n in range(1, 60) for to in "ab"]
    edges += [edge(f"{by}.py:f", f"c.py:g{n}:{n}-{n}", n) for n in range(1, 60) for by in "ab"]
    plan = build_plan(files, edges, settings(individual_share=0.4))
    counts = {
        one.id: (one.kind, len(one.callers), len(one.callees), one.callers_found) for one in plan
    }
    assert counts == {
        "a-py-1": ("individual", 40, 40, 59),
        "b-py-1": ("batch", 25, 25, 59),
        "c-py-1": ("batch", 2, 2, 2),
    }


def test_what_is_not_audited_is_not_planned():
    files = [snapshot_file("a.py"), snapshot_file("test_a.py", audited=False)]
    assert contents(build_plan(files)) == {"a-py-1": ("a.py",)}
    assert build_plan(files[1:]) == []
    assert whole_pass(files).files == ("a.py",)
    assert whole_pass(files).id == WHOLE


def test_the_hash_follows_what_a_session_sees():
    def sha(edges=EDGES, **blobs):
        named = {"a": "a", "x": "a", "q": "a"} | blobs
        files = [snapshot_file(f"{name}.py", 200, blob=blob * 40) for name, blob in named.items()]
        [one] = [one for one in build_plan(files, edges, settings()) if one.files == ("a.py",)]
        return one.content_sha256

    before = sha()
    assert sha(q="b") == before  # no partner
    assert len({before, sha(a="b"), sha(x="b"), sha(EDGES[:1]), sha([])}) == 5


PATHS = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map("/".join)
SNAPSHOTS = st.dictionaries(PATHS, st.tuples(st.integers(1, 300), st.integers(1, 900)), max_size=20)


@st.composite
def snapshots(draw):
    """Files by tokens and lines, and calls between units of them."""
    files = [
        snapshot_file(f"{path}.py", tokens, lines=lines)
        for path, (tokens, lines) in draw(SNAPSHOTS).items()
    ]
    if not files:
        return files, []
    places = st.tuples(st.sampled_from([file.path for file in files]), st.integers(1, 4))
    sure = st.sampled_from(["certain", "likely", "possible"])
    edges = draw(st.lists(st.tuples(places, places, st.integers(1, 9), sure), max_size=40))
    return files, [
        edge(f"{a}:u{n}:{n}-{n}", f"{b}:u{m}:{m}-{m}", line, certainty=certainty)
        for (a, n), (b, m), line, certainty in edges
    ]


@given(snapshots(), st.randoms(use_true_random=False))
def test_a_plan_holds_its_promises_in_any_order(snapshot, rng: random.Random):
    files, edges = snapshot
    limits = settings(individual_score=500, individual_partners=3, batch_partners=2)
    plan = build_plan(files, edges, limits)
    planned = Counter(path for one in plan for path in one.files)
    assert planned == Counter(file.path for file in files)
    assert all(one.tokens <= 200 or len(one.files) == 1 for one in plan)
    assert len({one.id for one in plan}) == len(plan)
    alone = [one for one in plan if one.kind == "individual"]
    assert 100 * len(alone) <= 15 * len(files)
    assert all(len(one.files) == 1 and one.score >= 500 for one in alone)
    lowest = min((one.score for one in alone), default=None)
    if lowest is not None:
        assert all(one.score <= lowest for one in plan if one.kind == "batch" and one.score >= 500)
    known = set(planned)
    for one in plan:
        most = 3 if one.kind == "individual" else 2
        for partners, found in (
            (one.callers, one.callers_found),
            (one.callees, one.callees_found),
        ):
            assert len(partners) == min(most, found)
            assert {partner.path for partner in partners} <= known - set(one.files)
    shuffled, turned = list(files), list(edges)
    rng.shuffle(shuffled)
    rng.shuffle(turned)
    assert build_plan(shuffled, turned, limits) == plan


@pytest.mark.parametrize("value", [1.1, -0.1])
def test_a_share_outside_zero_and_one_is_refused(value):
    with pytest.raises(ValueError, match="individual_share"):
        settings(individual_share=value)
