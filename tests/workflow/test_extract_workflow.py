"""Stage extract by a model in the workflow: what is asked, what reruns, what it would cost."""

from collections import Counter

import pytest
from histories import RUFF, row, small_history

from probe.models.estimate import EstimateRow
from probe.records import Candidate, Dropped, LedgerLine, read_jsonl
from probe.report.tables import read_records_csv

pytestmark = pytest.mark.workflow

FUNNEL = "results/small/reference/funnel.csv"
ESTIMATE = "results/estimate.csv"


@pytest.fixture
def asking(workflow, tmp_path, server):
    """A small history whose fixes are read by a model, at 10 dollars a million tokens of prompt."""
    history, t0, t1 = small_history(tmp_path / "origin.git")
    workflow.row = row("small", history, t0, t1)
    price = {"input": 10, "output": 0, "as_of": "2026-12-02"}
    workflow.models = {
        "stub": {
            "litellm_id": "openai/stub", "api_base": server.openai, "price": price,
            "context_tokens": 64_000, "max_attempts": 1,
        }
    }  # fmt: skip
    configure(workflow)
    return workflow


def configure(workflow, *, usd=1, **extract):
    reference = {"block_size": 2, "extract": {"engine": "stub", **extract}}
    workflow.configure(
        [workflow.row], {"ruff": RUFF}, workflow.models, reference=reference, budget={"usd": usd}
    )


def block_files(workflow, name, record):
    folder = workflow.folder / "results/small/reference/blocks"
    return [
        item for path in sorted(folder.glob(f"*/{name}.jsonl")) for item in read_jsonl(path, record)
    ]


def estimated(workflow):
    workflow.run(ESTIMATE)
    return [
        (r.stage, r.calls, r.recorded, r.basis.partition(";")[0])
        for r in read_records_csv(workflow.folder / ESTIMATE, EstimateRow)
    ]


def test_fixes_are_read_by_a_model_and_only_what_depends_on_it_reruns(asking, server):
    # nothing is classified yet: 4 window commits, of which 0.05 to 0.4 are fixes
    assert estimated(asking) == [
        ("extract", 1, 0, "assumed 0/1/2 items (fixes among window commits)")
    ]
    asking.run(FUNNEL)
    found = block_files(asking, "candidates", Candidate)
    assert [one.title for one in found] == [
        "pkg/stats.py goes wrong: mean of an empty list raises ZeroDivisionError",
        "pkg/stats.py goes wrong: clamp returns the wrong bound (#12)",
    ]
    assert [one.anchoring for one in found] == ["exact", "exact"]
    assert {one.provenance.engine for one in found} == {"stub"}
    assert block_files(asking, "left_out", Dropped) == []
    lines = read_jsonl(asking.folder / "cache/ledger.jsonl", LedgerLine)
    assert {line.purpose for line in lines} == {"extract small/0000", "extract small/0001"}
    assert len(server.bought) == 2
    assert asking.jobs(FUNNEL) == []
    assert estimated(asking) == [("extract", 0, 2, "all recorded")]

    prompt = asking.folder / "prompts/extract.j2"
    prompt.write_text(prompt.read_text().replace("software project", "software product", 1))
    counted = Counter(asking.jobs(FUNNEL))
    assert counted["ask_candidates"] == 2
    assert "ask_classifications" not in counted
    assert len(server.bought) == 4

    configure(asking, diff_tokens=11_000)
    counted = Counter(asking.jobs(FUNNEL))
    assert counted["ask_candidates"] == 2
    assert len(server.bought) == 4, "no diff is long enough for the budget to change a request"


def test_a_server_that_is_down_stops_the_stage_and_loses_nothing(asking, server):
    asking.run("results/small/reference/blocks/0000/classifications.jsonl")
    server.close()
    done = asking.run(FUNNEL, check=False)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "answered none of 1 questions: connection" in done.stderr + done.stdout
    assert block_files(asking, "candidates", Candidate) == []
    server.start()
    asking.run(FUNNEL)
    assert len(block_files(asking, "candidates", Candidate)) == 2
