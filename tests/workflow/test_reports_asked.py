"""A reference set whose reports and duplicates a model writes and judges: what leaks is counted."""

import csv
import io

import pytest
from builders import HistoryBuilder
from histories import BEFORE, CLAMP_FIXED, FIRST_FIXED, MEAN_FIXED, RUFF, row

from probe.records import Bug, Dropped, Report, read_jsonl

pytestmark = pytest.mark.workflow

FUNNEL = "results/small/reference/funnel.csv"
BLOCK = "results/small/reference/blocks/0000"


def test_a_report_that_leaks_is_counted_and_in_no_bug(workflow, tmp_path, server):
    history = HistoryBuilder(tmp_path / "origin.git")
    t0 = history.commit({"pkg/stats.py": BEFORE}, "Add statistics")
    history.commit({"pkg/stats.py": MEAN_FIXED}, "fix: mean of an empty list crashes")
    leaking = history.commit({"pkg/stats.py": CLAMP_FIXED}, "fix: clamp slips always")
    t1 = history.commit({"pkg/stats.py": FIRST_FIXED}, "fix: first keeps a slip of its callers")
    stub = {"litellm_id": "openai/stub", "api_base": server.openai, "price": "free"}
    engines = {name: {"engine": "stub"} for name in ("synthesize", "deduplicate")}
    workflow.configure(
        [row("small", history, t0, t1)], {"ruff": RUFF}, {"stub": stub}, reference=engines
    )
    workflow.run(FUNNEL)
    reports = read_jsonl(workflow.folder / f"{BLOCK}/reports.jsonl", Report)
    assert [bool(report.leaks) for report in reports] == [False, True, False]
    assert [len(report.provenance.calls) for report in reports] == [1, 3, 2]
    (left,) = read_jsonl(workflow.folder / f"{BLOCK}/unwritten.jsonl", Dropped)
    assert (left.commit, left.reason) == (leaking, "its report leaks the fix")
    bugs = read_jsonl(workflow.folder / "results/small/reference/bugs.jsonl", Bug)
    assert [bug.fix_rank for bug in bugs] == [1, 3]
    assert [bug.severity for bug in bugs] == ["high", "medium"]
    assert all(bug.trigger for bug in bugs)
    assert {bug.provenance.engine for bug in bugs} == {"stub"}
    rows = list(csv.DictReader(io.StringIO(workflow.read(FUNNEL))))
    counts = {(r["stage"], r["outcome"], r["reason"]): int(r["count"]) for r in rows}
    assert counts["written", "stayed", ""] == 2
    assert counts["written", "left", "its report leaks the fix"] == 1
    asked = "".join(
        str(body["messages"]) for body in server.bought if "You compare two" in str(body)
    )
    assert asked
    assert reports[1].title not in asked

    # nothing is asked again: not by a second run, nor when results were thrown away
    paid = len(server.bought)
    again = workflow.jobs(FUNNEL, "--forcerun", "ask_reports", "ask_duplicates")
    assert {"ask_reports", "ask_duplicates"} <= set(again)
    assert len(server.bought) == paid
