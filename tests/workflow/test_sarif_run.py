"""Somebody else's tool, imported as SARIF and scored beside an analyser."""

import csv
import json

import pytest
from histories import BEFORE, RUFF, row, small_history

pytestmark = pytest.mark.workflow


def result(line: int, text: str, uri: str = "pkg/stats.py") -> dict:
    region = {"startLine": line}
    place = {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}
    return {"ruleId": "x", "level": "error", "message": {"text": text}, "locations": [place]}


def test_an_imported_report_is_a_cell_like_any_other(workflow, tmp_path):
    history, t0, t1 = small_history(tmp_path / "origin.git")
    wrong_bound = BEFORE.splitlines().index("        return high") + 1
    report = {
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "reader", "version": "3"}},
                "results": [
                    result(wrong_bound, "A value below low is answered with high"),
                    result(1, "Nothing in particular", "../../etc/passwd"),
                    {**result(2, "Silenced"), "suppressions": [{"kind": "inSource"}]},
                ],
            }
        ],
    }
    imports = workflow.folder / "imports"
    imports.mkdir()
    (imports / "small.sarif").write_text(json.dumps(report))
    runs = {"ruff": RUFF, "reader": {"kind": "sarif", "path": "imports/{repo}.sarif"}}
    workflow.configure([row("small", history, t0, t1)], runs)
    workflow.run()

    rows = list(csv.DictReader(workflow.read("results/metrics.csv").splitlines()))
    cells = {cell["run"]: cell for cell in rows}
    reader = cells["reader"]
    assert (reader["kind"], reader["bugs"], reader["findings"]) == ("sarif", "2", "1")
    assert (reader["matched_bugs"], reader["recall"], reader["precision"]) == ("1", "0.5", "1")
    assert (reader["rejected_findings"], reader["suppressed_findings"]) == ("1", "1")
    assert reader["reference_sha256"] == cells["ruff"]["reference_sha256"]
    assert reader["config_sha256"] != cells["ruff"]["config_sha256"]
    matches = list(csv.DictReader(workflow.read("results/small/reader/matches.csv").splitlines()))
    assert [match["bug_place"] for match in matches] == [
        f"pkg/stats.py:{wrong_bound}-{wrong_bound}"
    ]


def test_no_bugs_and_no_findings_are_empty_fields(workflow, tmp_path):
    history, t0, _ = small_history(tmp_path / "origin.git")
    history.branch("quiet", at=t0)
    last = history.commit({"README.md": "# quiet\n"}, "docs: more")
    quiet = row("quiet", history, t0, last, branch="quiet")
    workflow.configure([quiet], {"ruff": {**RUFF, "rules": ["PLE"]}})
    workflow.run()
    cell = next(csv.DictReader(workflow.read("results/quiet/ruff.metrics.csv").splitlines()))
    assert (cell["bugs"], cell["findings"], cell["passes_failed"]) == ("0", "0", "0")
    assert {cell[name] for name in ("recall", "precision", "f1", "recall_low", "f1_high")} == {""}
