"""What `probe explain` shows of sessions: sandbox, environment, transcript and hits of the scan."""

import json

import pytest

from probe.records import (
    CellMetrics,
    Finding,
    PassResult,
    Provenance,
    SandboxUse,
    SessionLeak,
    Usage,
    write_json,
    write_jsonl,
    write_text,
)
from probe.report.explain import Explainer
from probe.report.tables import write_records_csv

NUMBERS = dict.fromkeys(
    ("bugs", "findings", "matched_bugs", "matched_findings", "passes", "passes_failed", "rejected_findings",
     "suppressed_findings", "unjudged_pairs", "unjudged_reference", "files_audited", "files_skipped",
     "files_timed_out", "wall_s"), 1,
)  # fmt: skip
UNKNOWN = dict.fromkeys(
    ("effort", "recall", "recall_low", "recall_high", "precision", "precision_low", "precision_high", "f1", "f1_low",
     "f1_high", "cost_usd", "input_tokens", "output_tokens", "files_read")
)  # fmt: skip


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results/one"
    finding = Finding(
        id="one:luna:a:1", repo="one", run="luna", pass_id="a", title="It fails", description="d",
        path="a.py", first=1, last=1, snippet="", raw={},
    )  # fmt: skip
    result = PassResult(
        repo="one", run="luna", pass_id="a", status="ok", findings=(finding,), usage=Usage(), wall_s=1,
        sandbox=SandboxUse(engine="docker", version="20.10", image="sha256:12", limits={}),
        environment="built", transcript="../transcripts/a.jsonl",
        provenance=Provenance(engine="luna", engine_version="l-1", probe_version="0"),
    )  # fmt: skip
    hits = [
        SessionLeak(kind="window_sha", where="a.jsonl:7", detail="names abc", pass_id="a", source="output",
                    weight="leak"),
        SessionLeak(kind="network", where="a.jsonl:9", detail="curl", pass_id="a", source="command",
                    weight="attempt"),
    ]  # fmt: skip
    write_jsonl(folder / "reference/bugs.jsonl", [])
    write_text(folder / "reference/funnel.csv", "stage,outcome,count\n")
    write_json(folder / "luna/passes/a.json", result)
    write_jsonl(folder / "luna/findings.jsonl", [finding])
    write_jsonl(folder / "luna/judgements.jsonl", [])
    write_jsonl(folder / "luna/leaks.jsonl", hits)
    told = {"tools": ["luna"], "probe_version": "0", "code_revision": None}
    write_text(folder / "luna/config.json", json.dumps(told))
    cell = CellMetrics(
        repo="one", run="luna", kind="agent", model="luna", reference_version="1", reference_sha256="r",
        config_sha256="c", probe_version="0", environment="built", sandbox="docker", leaked_passes=1,
        leak_hits=1, leak_suspects=0, leak_attempts=1, **NUMBERS, **UNKNOWN,
    )  # fmt: skip
    write_records_csv(folder / "luna.metrics.csv", CellMetrics, [cell])
    return tmp_path / "results"


def test_a_cell_shows_its_isolation_and_transcripts(results, tmp_path):
    told = Explainer(results, tmp_path / "cache").explain(str(results / "one/luna.metrics.csv"))
    assert (
        "isolation  docker, environment built: 1 leaks in 1 passes, 0 suspects, 1 attempts\n"
        "    leak window_sha at a.jsonl:7 (output): names abc\n"
    ) in told
    assert f"transcript {results}/one/luna/transcripts/a.jsonl (missing)" in told
    assert "curl" not in told


def test_a_finding_shows_where_its_session_worked_and_all_hits(results, tmp_path):
    write_text(results / "one/luna/transcripts/a.jsonl", "")
    told = Explainer(results, tmp_path / "cache").explain("one:luna:a:1")
    assert "worked in docker 20.10, sha256:12; environment built\n" in told
    assert f"transcript {results}/one/luna/transcripts/a.jsonl\n" in told
    assert "attempt network at a.jsonl:9 (command): curl" in told
