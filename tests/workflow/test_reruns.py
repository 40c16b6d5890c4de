"""What reruns after which change: only what depends on it."""

import os

import pytest
from histories import FIRST_FIXED, PYLINT, RUFF, row, small_history

pytestmark = pytest.mark.workflow

STAGES = ("ask_classifications", "ask_candidates", "ask_presence", "ask_reports")


@pytest.fixture
def built(workflow, tmp_path):
    """A build of two runs on a small history, in blocks of two commits."""
    history, t0, t1 = small_history(tmp_path / "origin.git")
    workflow.history, workflow.t0, workflow.t1 = history, t0, t1
    workflow.settings = {"reference": {"block_size": 2}}
    workflow.configure(
        [row("small", history, t0, t1)], {"ruff": RUFF, "pylint": PYLINT}, **workflow.settings
    )
    workflow.first = workflow.run()
    return workflow


def test_only_what_changed_runs_again(built):
    assert "Nothing to be done" in built.run("-n").stdout
    assert built.jobs() == []

    # a refactor: scripts, rules and even the library edited and touched
    for script in (built.folder / "scripts").glob("*.py"):
        script.write_text(script.read_text() + "\n# moved\n")
    for rules in (built.folder / "rules").glob("*.smk"):
        os.utime(rules)
    assert built.jobs() == []

    # one run's setting: that cell only
    built.configure(
        [row("small", built.history, built.t0, built.t1)],
        {"ruff": {**RUFF, "rules": ["F"]}, "pylint": PYLINT},
        **built.settings,
    )
    assert built.jobs() == [
        "all",
        "ask_matches",
        "build_finding_pairs",
        "build_findings",
        "compute_metrics",
        "run_analyzer",
        "table_matches",
        "table_metrics",
    ]
    assert built.jobs() == []


def test_a_new_window_commit_reruns_the_last_block_only(built):
    before = {
        path: path.stat().st_mtime_ns
        for path in (built.folder / "results/small/reference/blocks").rglob("*.jsonl")
    }
    assert {path.parent.name for path in before} == {"0000", "0001"}
    later = built.history.commit({"pkg/stats.py": FIRST_FIXED}, "fix: first shares its default")
    built.configure(
        [row("small", built.history, built.t0, later)],
        {"ruff": RUFF, "pylint": PYLINT},
        **built.settings,
    )
    ran = built.jobs()
    assert {name: ran.count(name) for name in STAGES} == dict.fromkeys(STAGES, 1)
    assert not {"build_snapshot", "build_files", "build_plan", "run_analyzer"} & set(ran)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert (built.folder / "results/small/reference/blocks/0002/reports.jsonl").exists()
    assert "shares its default" in built.read("results/small/reference/commits.jsonl")


def test_a_moved_branch_changes_nothing(built):
    pinned = built.read("results/small/history.json")
    built.history.commit({"pkg/stats.py": "broken = True\n"}, "later, unwanted")
    (built.folder / "results/small/history.json").unlink()
    assert built.jobs("results/small/history.json") == ["fetch_history"]
    assert built.read("results/small/history.json") == pinned
