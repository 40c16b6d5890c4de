"""Errata in the workflow: figures change as computed by hand, and nothing is asked anew."""

import csv
import hashlib
import json

import pytest
from histories import BEFORE, row, small_history

from probe.cli import main
from probe.records import Bug, CellMetrics, ReferenceInfo, read_json, read_jsonl
from probe.report.tables import read_records_csv

pytestmark = pytest.mark.workflow

CELL = "results/small/mine.metrics.csv"
HEADER = "bug\taction\tfield\tvalue\treason\tdate\n"
FIGURES = ["build_bugs", "compute_metrics", "table_funnel", "table_matches", "table_metrics"]


def finding(text):
    """A result at the line of the snapshot's file that holds a text."""
    line = next(n for n, shown in enumerate(BEFORE.splitlines(), 1) if text in shown)
    place = {"artifactLocation": {"uri": "pkg/stats.py"}, "region": {"startLine": line}}
    return {
        "ruleId": "r",
        "message": {"text": "Xylophone."},
        "locations": [{"physicalLocation": place}],
    }


@pytest.fixture
def built(workflow, tmp_path, server):
    """Two repositories with two bugs each, and a run with a finding for either and one beside."""
    history, t0, t1 = small_history(tmp_path / "origin.git")
    found = [finding("sum(values)"), finding("return high"), finding("default.append")]
    tool = {"driver": {"name": "tool"}}
    report = {"version": "2.1.0", "runs": [{"tool": tool, "results": found}]}
    workflow.models = {
        "stub": {"litellm_id": "openai/stub", "api_base": server.openai, "price": "free"}
    }
    for name in ("small", "other"):
        path = workflow.folder / f"imports/{name}.sarif"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(report))
    workflow.configure(
        [row(name, history, t0, t1) for name in ("small", "other")],
        {"mine": {"kind": "sarif", "path": "imports/{repo}.sarif"}},
        workflow.models,
        reference={"classify": {"engine": "stub"}},
    )
    workflow.run()
    return workflow


def write_errata(workflow, *rows):
    text = HEADER + "".join("\t".join(cells) + "\n" for cells in rows)
    (workflow.folder / "config/errata.tsv").write_text(text)


def cell_of(workflow):
    (cell,) = read_records_csv(workflow.folder / CELL, CellMetrics)
    return cell


def bugs_of(workflow):
    return read_jsonl(workflow.folder / "results/small/reference/bugs.jsonl", Bug)


def sealed(workflow):
    """The set's identity, after a check that the file has the hash that everything names."""
    folder = workflow.folder / "results/small/reference"
    info = read_json(folder / "reference.json", ReferenceInfo)
    assert info.sha256 == hashlib.sha256((folder / "bugs.jsonl").read_bytes()).hexdigest()
    cell = cell_of(workflow)
    assert (cell.reference_version, cell.reference_sha256) == (info.version, info.sha256)
    kept = json.loads(workflow.read("results/small/mine/config.json"))
    assert (kept["reference_version"], kept["reference_sha256"]) == (info.version, info.sha256)
    return info


def times_of(workflow, name):
    files = (workflow.folder / "results" / name).rglob("*")
    return {path: path.stat().st_mtime_ns for path in files if path.is_file()}


def figures(cell):
    return (cell.bugs, cell.matched_bugs, cell.findings, cell.matched_findings)


def matched(workflow):
    return [
        line["bug"]
        for line in csv.DictReader(workflow.read("results/small/mine/matches.csv").splitlines())
    ]


def test_a_withdrawn_bug_changes_figures_and_asks_nothing(built, server, monkeypatch, capsys):
    mean, clamp = bugs_of(built)
    assert "bound" in clamp.title
    before, first, others = cell_of(built), sealed(built), times_of(built, "other")
    assert figures(before) == (2, 2, 3, 2)
    assert (before.recall, round(before.precision, 4)) == (1.0, 0.6667)
    assert first.version == "1"
    asked = server.count()

    write_errata(built, (clamp.id, "withdraw", "", "", "clamp is documented so", "2026-12-02"))
    assert built.jobs() == ["all", *FIGURES]
    assert server.count() == asked
    assert times_of(built, "other") == others
    after = cell_of(built)
    # one bug left, found by one of three findings: P = 1/3, R = 1, F1 = 2PR / (P + R) = 1/2
    assert figures(after) == (1, 1, 3, 1)
    assert (after.recall, round(after.precision, 4), round(after.f1, 4)) == (1.0, 0.3333, 0.5)
    info = sealed(built)
    assert (info.version, info.bugs, info.withdrawn, info.corrected) == ("1+1", 1, 1, 0)
    assert info.sha256 != first.sha256
    assert bugs_of(built) == [mean]
    assert matched(built) == [mean.id]
    funnel = built.read("results/small/reference/funnel.csv").splitlines()
    assert funnel[-3:] == [
        "merged,stayed,,2",
        "reference,stayed,,1",
        "reference,left,withdrawn by an erratum,1",
    ]
    monkeypatch.chdir(built.folder)
    assert main(["explain", CELL]) == 0
    said = capsys.readouterr().out
    assert "2 merged → 1 reference (sha256 " in said
    assert "matches    1\n" in said

    # without it all is as it was
    write_errata(built)
    assert built.jobs() == ["all", *FIGURES]
    assert sealed(built) == first
    assert strip(cell_of(built)) == strip(before)
    assert bugs_of(built) == [mean, clamp]
    assert server.count() == asked


def strip(cell):
    return cell.model_copy(update={"wall_s": 0})


def test_a_corrected_bug_keeps_its_matches(built, server):
    mean, clamp = bugs_of(built)
    before, first, asked = cell_of(built), sealed(built), server.count()
    lines = BEFORE.splitlines()
    line = lines.index("    return min(value, high)") + 1
    write_errata(
        built,
        (clamp.id, "correct", "title", "Values above the range are let through", "r", "2026-12-02"),
        (clamp.id, "correct", "severity", "high", "r", "2026-12-02"),
        (clamp.id, "correct", "primary", f"pkg/stats.py:{line}-{line}", "r", "2026-12-02"),
    )
    assert built.jobs() == ["all", *FIGURES]
    assert server.count() == asked
    assert strip(cell_of(built)) == strip(before).model_copy(
        update={"reference_version": "1+3", "reference_sha256": sealed(built).sha256}
    )
    info = sealed(built)
    assert (info.bugs, info.withdrawn, info.corrected) == (2, 0, 1)
    assert info.sha256 != first.sha256
    same, changed = bugs_of(built)
    assert same == mean
    assert (changed.title, changed.severity) == ("Values above the range are let through", "high")
    assert (changed.primary.first, changed.unit) == (line, "clamp")
    assert "return min(value, high)" in changed.snippet
    assert changed.id == clamp.id
    listed = list(csv.DictReader(built.read("results/small/reference/bugs.csv").splitlines()))
    assert [bug["title"] for bug in listed] == [mean.title, changed.title]
    assert matched(built).count(clamp.id) == 1


def test_a_row_of_another_repository_reruns_nothing_here(built):
    before = times_of(built, "small")
    (bug, _) = read_jsonl(built.folder / "results/other/reference/bugs.jsonl", Bug)
    write_errata(built, (bug.id, "withdraw", "", "", "r", "2026-12-02"))
    assert built.jobs(CELL) == []
    assert built.jobs() == ["all", *FIGURES]
    assert times_of(built, "small") == before


def test_an_erratum_that_names_no_bug_fails_the_job_in_one_line(built):
    wrong = bugs_of(built)[0].id.replace("-1", "-9")
    write_errata(built, (wrong, "withdraw", "", "", "r", "2026-12-02"))
    done = built.run(check=False)
    assert done.returncode != 0
    expected = (
        f"config/errata.tsv: row '{wrong}', withdraw, 2026-12-02: the reference set has no such "
        f"bug; correct or remove the row; did you mean '{bugs_id(wrong)}'?"
    )
    assert f"  build_bugs/small: {expected}" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    write_errata(built)
    built.run()
    assert sealed(built).version == "1"


def bugs_id(wrong):
    return wrong.replace("-9", "-1")


def test_a_bad_row_is_said_before_any_job(built):
    write_errata(built, ("smal:0123456789ab-1", "withdraw", "", "", "r", "2026-12-02"))
    done = built.run("-n", check=False)
    assert done.returncode != 0
    assert (
        "probe: config/errata.tsv:2: bug: unknown repository 'smal'; did you mean 'small'?"
        in done.stderr
    )
