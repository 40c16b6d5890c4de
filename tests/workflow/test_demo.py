"""The bundled repository from series to table: known figures, the same bytes twice."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from comparing import results_of, scrub
from histories import ROOT

pytestmark = [pytest.mark.workflow, pytest.mark.node]

CONFIG = "config/demo.yaml"


def cells(built):
    return {
        row["run"]: row for row in csv.DictReader(built.read("results/metrics.csv").splitlines())
    }


def overview(built) -> str:
    command = [str(Path(sys.executable).parent / "probe"), "cells", "results/metrics.csv"]
    done = subprocess.run(command, cwd=built.folder, capture_output=True, text=True, check=True)
    return done.stdout


def test_every_analyser_finds_reference_bugs(demo_build):
    # which labelled bugs each analyser names at their exact lines is listed in resources/demo
    matched = {run: int(row["matched_bugs"]) for run, row in cells(demo_build).items()}
    assert matched == {"ruff": 5, "pylint": 6, "pyrefly": 3, "oxlint": 2}
    skipped = {run: int(row["files_skipped"]) for run, row in cells(demo_build).items()}
    assert skipped == {"ruff": 1, "pylint": 0, "pyrefly": 1, "oxlint": 0}


def test_cells_carry_what_they_are_traced_by(demo_build):
    for run, row in cells(demo_build).items():
        config = json.loads(demo_build.read(f"results/demo/{run}/config.json"))
        assert row["config_sha256"] == config["config_sha256"]
        assert row["reference_sha256"] == config["reference_sha256"]
        assert row["model"] == config["tools"][0]
        assert row["cost_usd"] == "0"
        assert row["input_tokens"] == ""


def test_the_reference_set_agrees_with_the_truth(demo_build):
    text = demo_build.read("results/demo/reference/agreement.csv")
    rows = {row["stage"]: row for row in csv.DictReader(text.splitlines())}
    assert float(rows["classify"]["f1"]) >= 0.9
    assert float(rows["presence"]["f1"]) >= 0.95
    assert float(rows["bugs"]["f1"]) >= 0.85
    method = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")
    for name in rows["bugs"]["wrong"].split() + rows["classify"]["wrong"].split():
        assert name.removeprefix("+demo:").lstrip("+-")[:12] in method, name


def test_the_readme_shows_what_the_demo_prints(demo_build):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert overview(demo_build).strip() in readme


def test_a_second_build_has_the_same_bytes(demo_build, workflow):
    workflow.run(config=CONFIG)
    first, second = results_of(demo_build.folder), results_of(workflow.folder)
    assert len(first) > 40
    assert sorted(first) == sorted(second)
    differing = [name for name in first if first[name] != second[name]]
    assert differing == []


def test_a_finished_build_has_nothing_to_do(demo_build):
    assert "Nothing to be done" in demo_build.run("-n", config=CONFIG).stdout


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("--dag", "digraph"),
        ("--rulegraph", "digraph"),
        ("--summary", "results/demo/ruff.metrics.csv"),
    ],
)
def test_snakemake_can_show_the_build(demo_build, option, expected):
    assert expected in demo_build.run(option, config=CONFIG).stdout


def test_the_report_holds_the_metrics(demo_build, tmp_path):
    demo_build.run("--report", str(tmp_path / "report.html"), config=CONFIG)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "results/metrics.csv" in page
    assert len(page) < 5_000_000


def test_the_only_lint_is_that_rules_name_no_environment(demo_build):
    # deliberate: everything runs in the one locked .venv
    done = demo_build.run("--lint", config=CONFIG, check=False)
    lints = set(re.findall(r"^    \* (.+?):?$", done.stdout + done.stderr, re.MULTILINE))
    assert {lint.rstrip(".:") for lint in lints} == {
        "Specify a conda environment or container for each rule"
    }


def test_results_do_not_depend_on_the_folder(demo_build):
    text = demo_build.read("results/demo/ruff/passes/all.json")
    assert str(demo_build.folder) not in text
    assert scrub(text) != text
