import pytest

from probe.records import (
    Bug,
    Finding,
    Judgement,
    Location,
    PassResult,
    Provenance,
    SandboxUse,
    SessionLeak,
    Usage,
)
from probe.statistics.cell import CellIdentity, add_known, compute_cell, f1_score
from probe.statistics.intervals import wilson

IDENTITY = CellIdentity("demo", "ruff", "analyzer", "ruff 1", None, "1+2", "r", "c")
PROVENANCE = Provenance(engine="ruff", engine_version="1", probe_version="0")


def bug(name):
    return Bug(
        id=name,
        repo="demo",
        title="t",
        description="d",
        primary=Location(path="a.py", first=1, last=1),
        unit=None,
        snippet="",
        severity="medium",
        suggested_fix="",
        candidates=("a" * 12 + "-1",),
        fix_commits=("a" * 40,),
        fix_rank=1,
        provenance=PROVENANCE,
    )


def finding(name):
    return Finding(
        id=name,
        repo="demo",
        run="ruff",
        pass_id="all",
        title="t",
        description="d",
        path="a.py",
        first=1,
        last=1,
        snippet="",
        raw={},
    )


def judgement(left, right, match):
    return Judgement(
        left=left, right=right, match=match, confidence=1, rationale="", provenance=PROVENANCE
    )


def result(status="ok", usage=None, **more):
    return PassResult(
        repo="demo",
        run="ruff",
        pass_id="all",
        status=status,
        error=None if status == "ok" else "crashed",
        findings=(),
        usage=usage or Usage(usd=0.0),
        wall_s=1.5,
        provenance=PROVENANCE,
        **more,
    )


def cell(bugs=(), findings=(), judgements=(), results=None):
    return compute_cell(IDENTITY, bugs, findings, judgements, results or [result()], 7)


def test_items_are_counted_once_however_many_pairs_match():
    row = cell(
        [bug("b1"), bug("b2"), bug("b3"), bug("b4")],
        [finding("f1"), finding("f2"), finding("f3")],
        [
            judgement("f1", "b1", True),
            judgement("f1", "b2", True),
            judgement("f2", "b1", True),
            judgement("f3", "b3", False),
        ],
    )
    assert (row.matched_bugs, row.matched_findings) == (2, 2)
    assert row.recall == 0.5
    assert row.precision == pytest.approx(2 / 3)
    assert row.f1 == pytest.approx(4 / 7)


def test_judgements_of_withdrawn_bugs_count_for_nothing():
    # four bugs, of which b1 and b4 were withdrawn; f1 matched b1 only, f2 matched b1 and b2,
    # f3 matched none, and nobody could judge f3 with b4
    judged = [
        judgement("f1", "b1", True),
        judgement("f2", "b1", True),
        judgement("f2", "b2", True),
        judgement("f3", "b3", False),
        judgement("f3", "b4", None),
    ]
    findings = [finding(name) for name in ("f1", "f2", "f3")]
    before = cell([bug(f"b{number}") for number in range(1, 5)], findings, judged)
    assert (before.matched_bugs, before.matched_findings, before.unjudged_pairs) == (2, 2, 1)
    assert (before.recall, before.precision) == (0.5, pytest.approx(2 / 3))
    after = cell([bug("b2"), bug("b3")], findings, judged)
    assert (after.bugs, after.matched_bugs, after.matched_findings) == (2, 1, 1)
    assert (after.recall, after.precision, after.unjudged_pairs) == (0.5, pytest.approx(1 / 3), 0)
    # P = 1/3, R = 1/2: 2PR / (P + R) = (1/3) / (5/6)
    assert after.f1 == pytest.approx(0.4)
    # Wilson at 95 %, by hand: centre (p + z²/2n) / (1 + z²/n) -+ half width, z = 1.959964
    assert (after.precision_low, after.precision_high) == pytest.approx((0.0615, 0.7923), abs=5e-5)
    assert (after.recall_low, after.recall_high) == pytest.approx((0.0945, 0.9055), abs=5e-5)
    assert (after.reference_version, after.reference_sha256) == ("1+2", "r")


def test_wilson_against_published_values():
    # Newcombe 1998, Statistics in Medicine 17, table I: 81/263 and 15/148, method 3
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(15, 148) == pytest.approx((0.0624, 0.1605), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert wilson(0, 0) is None


def test_silence_has_no_precision_and_nothing_to_find_has_no_recall():
    silent = cell([bug("b1")], [])
    assert (silent.recall, silent.precision, silent.f1) == (0.0, None, None)
    assert silent.precision_low is None
    empty = cell([], [finding("f1")])
    assert (empty.recall, empty.precision, empty.f1) == (None, 0.0, None)


def test_a_run_that_failed_altogether_found_not_nothing_but_unknown():
    row = cell([bug("b1")], [], results=[result("failed"), result("timeout")])
    assert (row.passes, row.passes_failed) == (2, 2)
    assert row.recall is None
    assert row.recall_low is None


def test_unjudged_pairs_are_neither_yes_nor_no():
    row = cell([bug("b1")], [finding("f1")], [judgement("f1", "b1", None)])
    assert (row.unjudged_pairs, row.matched_bugs) == (1, 0)
    assert (row.recall, row.precision) == (0.0, 0.0)
    judged_no = cell([bug("b1")], [finding("f1")], [judgement("f1", "b1", False)])
    judged_yes = cell([bug("b1")], [finding("f1")], [judgement("f1", "b1", True)])
    assert row.recall_low == judged_no.recall_low
    assert row.recall_high == judged_yes.recall_high == 1.0
    assert row.precision_high == judged_yes.precision_high
    assert judged_no.recall_high < 1


def test_costs_add_and_unknown_stays_unknown():
    known = result(usage=Usage(input_tokens=5, cache_read_tokens=7, output_tokens=2, usd=0.5))
    row = cell(results=[known, result(usage=Usage())])
    assert (row.input_tokens, row.output_tokens, row.cost_usd) == (12, 2, 0.5)
    assert cell(results=[result(usage=Usage())]).cost_usd is None
    assert cell().input_tokens is None


def test_coverage_is_counted():
    row = cell(results=[result(files_read=5, files_skipped=("a.py",), files_timed_out=("b.py",))])
    assert (row.files_audited, row.files_read, row.files_skipped, row.files_timed_out) == (
        7,
        5,
        1,
        1,
    )


def test_f1_edges():
    assert f1_score(0.0, 0.0) == 0.0
    assert f1_score(None, 1.0) is None
    assert f1_score(1.0, 0.5) == pytest.approx(2 / 3)
    assert add_known([None, 3]) == 3
    assert add_known([None, None]) is None


def hit(pass_id, weight):
    return SessionLeak(
        kind="window_sha", where="a.jsonl:1", detail="d", pass_id=pass_id, source="output", weight=weight
    )  # fmt: skip


def test_leaks_flag_the_cell_and_change_no_rate():
    use = SandboxUse(engine="docker", version="1", image="i", limits={})
    results = [
        result(sandbox=use, environment="built"),
        result(sandbox=use, environment="sources_only"),
    ]
    leaks = [
        hit("a", "leak"),
        hit("a", "leak"),
        hit("b", "leak"),
        hit("b", "suspect"),
        hit("c", "attempt"),
    ]
    clean = compute_cell(
        IDENTITY, [bug("b")], [finding("f")], [judgement("f", "b", True)], results, 1, leaks=[]
    )
    leaky = compute_cell(
        IDENTITY, [bug("b")], [finding("f")], [judgement("f", "b", True)], results, 1, leaks=leaks
    )
    assert (leaky.leaked_passes, leaky.leak_hits, leaky.leak_suspects, leaky.leak_attempts) == (
        2,
        3,
        1,
        1,
    )
    assert (clean.leaked_passes, clean.leak_hits, clean.leak_suspects, clean.leak_attempts) == (
        0,
        0,
        0,
        0,
    )
    assert (leaky.environment, leaky.sandbox) == ("built+sources_only", "docker")
    assert (leaky.recall, leaky.precision) == (clean.recall, clean.precision) == (1, 1)


def test_a_run_without_sessions_has_no_leaks_to_count():
    cell = compute_cell(IDENTITY, [bug("b")], [], [], [result()], 1)
    assert cell.leaked_passes is cell.leak_hits is cell.leak_suspects is cell.leak_attempts is None
    assert cell.environment is cell.sandbox is None
