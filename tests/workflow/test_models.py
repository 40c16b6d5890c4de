"""A real cell from a model: what is asked, what reruns, what is paid, and what survives."""

import json
import os
from collections import Counter

import pytest
from histories import RUFF, row, small_history
from modelserver import Fault, Reply, Tokens

from probe.cli import main
from probe.models.estimate import EstimateRow
from probe.records import (
    Call,
    CellMetrics,
    Classification,
    LedgerLine,
    PassResult,
    read_json,
    read_jsonl,
)
from probe.report.tables import read_records_csv

pytestmark = pytest.mark.workflow

KEY = "sk-test-0123456789abcdef0123456789"
DIRECT = {"kind": "model", "model": "stub"}
AGAIN = ("--forcerun", "ask_classifications", "ask_findings")
CELL = "results/small/direct.metrics.csv"


@pytest.fixture
def asking(workflow, tmp_path, server):
    """A small history whose commits a model classifies, and two runs, one of them a model's."""
    history, t0, t1 = small_history(tmp_path / "origin.git")
    workflow.row = row("small", history, t0, t1)
    workflow.runs = {"direct": DIRECT, "ruff": RUFF}
    workflow.models = {"stub": stub(server)}
    workflow.settings = {"reference": {"block_size": 2, "classify": {"engine": "stub"}}}
    reconfigure(workflow)
    return workflow


def stub(server, **more):
    entry = {"litellm_id": "openai/stub", "api_base": server.openai, "price": "free"}
    return {**entry, "max_attempts": 2, **more}


def reconfigure(workflow, **settings):
    workflow.configure(
        [workflow.row], workflow.runs, workflow.models, **{**workflow.settings, **settings}
    )


def calls(workflow):
    return [read_json(path, Call) for path in (workflow.folder / "cache/calls").rglob("*.json")]


def ledger(workflow):
    return read_jsonl(workflow.folder / "cache/ledger.jsonl", LedgerLine)


def test_a_cell_is_built_from_a_model(asking, server):
    asking.run()
    results = read_json(
        asking.folder / "results/small/direct/passes/pkg-stats-py-1.json", PassResult
    )
    assert results.status == "ok"
    assert results.findings
    assert results.provenance.engine == "stub"
    assert results.provenance.engine_version == "stub-served"
    verdicts = [
        verdict
        for block in ("0000", "0001")
        for verdict in read_jsonl(
            asking.folder / f"results/small/reference/blocks/{block}/classifications.jsonl",
            Classification,
        )
    ]
    assert [verdict.is_fix for verdict in verdicts] == [True, False, True, False]
    recorded = {call.key: call for call in calls(asking)}
    named = {key for verdict in verdicts for key in verdict.provenance.calls}
    named |= set(results.provenance.calls)
    assert named == set(recorded)
    assert len(server.bought) == len(recorded) == 5
    (cell,) = read_records_csv(asking.folder / CELL, CellMetrics)
    assert (cell.kind, cell.cost_usd, cell.passes_failed, cell.unjudged_reference) == (
        "model", 0.0, 0, 0,
    )  # fmt: skip
    assert cell.input_tokens > 0
    saved = json.loads(asking.read("results/small/direct/config.json"))
    assert saved["models"]["run"]["litellm_id"] == "openai/stub"
    assert saved["prompts_sha256"] == [results.provenance.prompt_sha256]
    assert {line.event for line in ledger(asking)} == {"book", "settle"}

    # nothing is asked again: not by a second run, nor when results were thrown away
    assert asking.jobs() == []
    assert {"ask_classifications", "ask_findings"} <= set(asking.jobs(*AGAIN))
    assert len(server.bought) == 5


def test_one_word_of_a_prompt_reruns_what_depends_on_it(asking, server):
    asking.run()
    asked = len(server.bought)
    prompt = asking.folder / "prompts/classify.j2"
    os.utime(prompt)
    assert asking.jobs() == []
    text = prompt.read_text()
    prompt.write_text(text.replace("software project", "software product", 1))
    assert prompt.read_text() != text
    counted = Counter(asking.jobs())
    assert counted["ask_classifications"] == 2
    never = {"ask_findings", "run_analyzer", "build_findings", "build_snapshot", "build_plan"}
    assert not never & set(counted)
    assert {"ask_candidates", "build_bugs", "table_funnel", "compute_metrics"} <= set(counted)
    assert len(server.bought) == asked + 4
    assert all("classify" in line.purpose for line in ledger(asking)[-8:])
    assert asking.jobs() == []


def test_a_runs_own_model_reruns_that_cell_only(asking, server):
    asking.run()
    asked = len(server.bought)
    asking.runs["other"] = DIRECT
    asking.models["second"] = stub(server, revision="b")
    reconfigure(asking)
    assert "ask_findings" in asking.jobs()
    assert len(server.bought) == asked, "runs of one model and one repeat share their answers"
    asking.runs["other"] = {**DIRECT, "model": "second"}
    reconfigure(asking)
    only = [
        "all", "ask_findings", "ask_matches", "build_finding_pairs", "build_findings",
        "compute_metrics", "table_matches", "table_metrics",
    ]  # fmt: skip
    assert asking.jobs() == only
    assert len(server.bought) == asked + 1
    asking.runs["other"] = {**DIRECT, "model": "second", "repeat": 2}
    reconfigure(asking)
    assert asking.jobs() == only
    assert len(server.bought) == asked + 2, "a repeat is never a copy"
    # where and how fast a model is asked, and what it costs, changes no answer
    asking.models["second"] |= {"rpm": 600, "concurrency": 3, "timeout_s": 50}
    reconfigure(asking)
    assert asking.jobs() == []


PRICE = {"input": 0, "output": 1_000, "as_of": "2026-12-02"}


def test_a_budget_stops_a_dearer_plan_and_keeps_what_was_bought(asking, server):
    # a verdict costs 0.4 dollars, at most 0.5; the window's four cost 1.6
    asking.models["stub"] = stub(
        server, price=PRICE, max_output_tokens=500, concurrency=1, supports={"json_schema": True}
    )
    asking.runs = {"ruff": RUFF}
    reconfigure(asking)
    said = asking.run("-n", check=False)
    assert said.returncode != 0
    assert "probe: budget.usd is 0, so the paid model 'stub' is not asked" in said.stderr

    server.answer(expensive)
    reconfigure(asking, budget={"usd": 1.2})
    stopped = asking.run(check=False)
    assert stopped.returncode != 0
    assert "Traceback" not in stopped.stderr
    lines = [
        line for line in stopped.stdout.splitlines() if line.startswith("  ask_classifications/")
    ]
    assert lines
    for line in lines:
        assert "the next call to stub could cost $0.5000, but of budget.usd 1.2 already" in line
        assert "raise budget.usd to 1.3 or more" in line
    bought = len(server.bought)
    assert bought == 2, "0.4 dollars each; a third could have cost 0.5 more"
    assert len(calls(asking)) == bought
    spent = sum(line.usd for line in ledger(asking) if line.event == "settle")
    assert spent == pytest.approx(0.8)

    reconfigure(asking, budget={"usd": 10})
    asking.run()
    assert len(server.bought) == 4


def expensive(body):
    """0.4 dollars at the price above."""
    prompt = body["messages"][-1]["content"]
    answer = {"rationale": "made up", "is_fix": "fix: " in prompt, "confidence": 0.9}
    return Reply(content=json.dumps(answer), usage=Tokens(input=10, output=400))


def test_the_key_is_written_nowhere(asking, server):
    server.api_key = KEY
    asking.models["stub"] = stub(server, key_env="STUB_KEY")
    reconfigure(asking)
    said = asking.run("-n", check=False)
    assert "probe: " in said.stderr
    assert "STUB_KEY" in said.stderr
    server.fail(Fault.status(401, message=f"bad key {KEY}"))
    done = asking.run(env={"STUB_KEY": KEY}, check=False)
    asking.run(*AGAIN, env={"STUB_KEY": KEY})
    assert len(server.bought) >= 5
    assert KEY not in done.stdout + done.stderr
    holding = [
        path
        for path in asking.folder.rglob("*")
        if path.is_file() and KEY.encode() in path.read_bytes()
    ]
    assert holding == []


def test_a_failed_call_is_unjudged_and_never_a_no(asking, server):
    server.answer(refuse_docs)
    asking.run()
    rows = asking.read("results/small/reference/funnel.csv").splitlines()
    assert "fixes,left,unjudged: refusal,1" in rows
    assert "fixes,left,not a fix,1" in rows
    (cell,) = read_records_csv(asking.folder / CELL, CellMetrics)
    assert cell.unjudged_reference == 1


def refuse_docs(body):
    prompt = body["messages"][-1]["content"]
    return Reply(content=None, refusal="I cannot.") if "docs: explain" in prompt else None


def test_a_dead_server_fails_the_pass_and_the_cell_knows_no_recall(asking, server):
    asking.run("results/small/reference/bugs.jsonl")
    server.close()
    asking.run(CELL)
    result = read_json(
        asking.folder / "results/small/direct/passes/pkg-stats-py-1.json", PassResult
    )
    assert result.status == "failed"
    assert "connection" in result.error
    (cell,) = read_records_csv(asking.folder / CELL, CellMetrics)
    assert (cell.passes_failed, cell.recall, cell.precision) == (1, None, None)


def test_a_server_that_is_down_from_the_start_stops_the_stage(asking, server):
    server.close()
    done = asking.run(check=False)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "connection" in done.stderr
    assert not list((asking.folder / "results/small/reference/blocks").rglob("classif*.jsonl"))


def test_a_published_build_is_replayed_offline(asking, server):
    asking.run()
    before = asking.read(CELL)
    server.close()
    reconfigure(asking, calls={"replay": True})
    asking.run(*AGAIN)
    again = asking.read(CELL)
    assert strip_times(again) == strip_times(before)
    key = calls(asking)[0].key
    (asking.folder / f"cache/calls/{key[:2]}/{key}.json").unlink()
    missing = asking.run(*AGAIN, check=False)
    assert missing.returncode != 0
    assert "is not in the cache" in missing.stderr + missing.stdout


def strip_times(text):
    names, values = (line.split(",") for line in text.splitlines())
    return {name: value for name, value in zip(names, values, strict=True) if name != "wall_s"}


def test_what_it_would_cost_is_said_before_anything_is_spent(asking, server, monkeypatch, capsys):
    asking.models["stub"] = stub(server, price={"input": 10, "output": 0, "as_of": "2026-12-02"})
    reconfigure(asking)
    asking.run("results/estimate.csv")
    reconfigure(asking, budget={"usd": 1})
    assert server.count() == 0
    rows = read_records_csv(asking.folder / "results/estimate.csv", EstimateRow)
    assert [(row.stage, row.run, row.calls, row.recorded) for row in rows] == [
        ("classify", None, 4, 0),
        ("find", "direct", 1, 0),
    ]
    expected = sum(row.usd for row in rows)
    assert expected == pytest.approx(sum(row.input_tokens for row in rows) * 10 / 1e6)
    assert asking.jobs("results/estimate.csv") == []

    asking.run()
    spent = sum(line.usd for line in ledger(asking) if line.event == "settle")
    # the server counts characters in its own way; the estimate counts cl100k tokens
    assert spent == pytest.approx(expected, rel=0.5)
    assert "table_estimate" in asking.jobs("results/estimate.csv"), "what was bought is free now"
    rows = read_records_csv(asking.folder / "results/estimate.csv", EstimateRow)
    assert [(row.calls, row.recorded, row.usd) for row in rows] == [(0, 4, 0.0), (0, 1, 0.0)]

    monkeypatch.chdir(asking.folder)
    assert main(["estimate", "--configfile", "config/test.yaml", CELL]) == 0
    said = capsys.readouterr().out
    assert "0.00 dollars expected" in said
    assert "budget.usd is 1" in said


def test_what_failed_is_made_again_on_request(asking, server, monkeypatch, capsys):
    asking.run("results/small/reference/bugs.jsonl")
    server.fail(Fault.status(500), Fault.status(500))
    asking.run()
    assert asking.jobs() == [], "a failure is a result; it is not repeated unasked"
    monkeypatch.chdir(asking.folder)
    assert main(["failed"]) == 0
    (file,) = capsys.readouterr().out.split()
    assert file == "results/small/direct/passes/pkg-stats-py-1.json"
    assert "ask_findings" in asking.jobs("--forcerun", file)
    assert read_json(asking.folder / file, PassResult).status == "ok"
    (cell,) = read_records_csv(asking.folder / CELL, CellMetrics)
    assert cell.passes_failed == 0
