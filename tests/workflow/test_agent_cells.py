"""Cells of agents through Snakemake: what sessions are given, what reruns them, what stops them."""

import os
import subprocess
from pathlib import Path

import pytest
from histories import ROOT, RUFF, row, small_history

from probe.finders.cli_install import install_agents
from probe.records import (
    Brief,
    CellMetrics,
    Environment,
    LeakReport,
    PassResult,
    read_json,
    read_jsonl,
)
from probe.report.tables import read_records_csv

pytestmark = [pytest.mark.workflow, pytest.mark.bubblewrap]

SNAPSHOT = "results/small/snapshot"
RUNS = {
    "full": {"kind": "agent", "model": "stub", "command_s": 20},
    "paths": {"kind": "agent", "model": "stub", "variant": "passes-only"},
    "whole": {"kind": "agent", "model": "stub", "variant": "vanilla"},
    "ruff": RUFF,
}


@pytest.fixture
def auditing(workflow, tmp_path, server):
    """A small history that an agent audits in all three ways, beside an analyser."""
    workflow.history, t0, t1 = small_history(tmp_path / "origin.git")
    workflow.row = row("small", workflow.history, t0, t1)
    entry = {"litellm_id": "openai/stub", "api_base": server.openai, "price": "free"}
    workflow.models = {"stub": {**entry, "max_attempts": 2}}
    workflow.runs = dict(RUNS)
    workflow.settings = {
        "environment": {"build": False},
        "sandbox": {"engine": "bubblewrap"},
    }
    configure(workflow)
    return workflow


def configure(workflow, **settings):
    workflow.configure(
        [workflow.row], workflow.runs, workflow.models, **{**workflow.settings, **settings}
    )


def cell(workflow, run):
    (found,) = read_records_csv(workflow.folder / f"results/small/{run}.metrics.csv", CellMetrics)
    return found


def passes(workflow, run):
    folder = workflow.folder / f"results/small/{run}/passes"
    return {path.stem: read_json(path, PassResult) for path in folder.glob("*.json")}


def test_cells_of_all_variants_and_what_reruns_them(auditing, server):
    auditing.run()
    env = read_json(auditing.folder / SNAPSHOT / "environment.json", Environment)
    assert (env.status, env.image, env.folder) == ("sources_only", None, None)
    leaks = read_json(auditing.folder / SNAPSHOT / "leaks.json", LeakReport)
    assert leaks.leaks == () and all(leaks.checks.values())
    full, paths, whole = (passes(auditing, run) for run in ("full", "paths", "whole"))
    assert list(full) == list(paths) == ["pkg-stats-py-1"]
    assert list(whole) == ["all"]
    for results in (full, paths, whole):
        (result,) = results.values()
        assert (result.status, result.environment) == ("ok", "sources_only")
        assert result.sandbox.engine == "bubblewrap"
        assert result.findings and result.turns >= 2
        transcript = auditing.folder / f"results/small/{result.run}/passes" / result.transcript
        assert transcript.is_file()
        found = cell(auditing, result.run)
        assert (found.passes, found.passes_failed, found.environment) == (1, 0, "sources_only")
        assert found.leaked_passes == found.leak_hits == 0
    assert cell(auditing, "ruff").environment is None
    briefs = read_jsonl(auditing.folder / SNAPSHOT / "briefs/full.jsonl", Brief)
    assert [brief.pass_id for brief in briefs] == ["pkg-stats-py-1"]
    asked = server.count()

    # nothing to do; sessions that are forced to run again are read from their transcripts
    assert auditing.jobs() == []
    assert auditing.jobs("--forcerun", "run_agent").count("run_agent") == 3
    assert server.count() == asked

    # what is rebuilt and comes out the same pays for nothing
    again = auditing.jobs("--forcerun", "build_files", "build_environment")
    assert {"build_files", "build_environment"} <= set(again)
    assert "run_agent" not in again + auditing.jobs()
    assert server.count() == asked

    # one variant's prompt is that variant's business, and the context that of full sessions
    prompt = auditing.folder / "prompts/audit_vanilla.j2"
    text = prompt.read_text()
    prompt.write_text(text.replace("{% block system %}\n", "{% block system %}\nBe brief. ", 1))
    assert prompt.read_text() != text
    assert auditing.jobs().count("run_agent") == 1
    assert server.count() > asked
    asked = server.count()
    configure(auditing, context={"tokens": 600})
    configured = auditing.jobs()
    assert configured.count("ask_context") == 1
    document = (auditing.folder / SNAPSHOT / "context.md").read_text()
    assert document.strip()
    configure(auditing)
    auditing.jobs()
    assert server.count() - asked <= 4


def test_repeats_are_cells_of_their_own_and_never_copies(auditing, server):
    auditing.runs = {"full": {**RUNS["full"], "repeats": 2}}
    configure(auditing)
    auditing.run()
    first, second = (passes(auditing, f"full-{k}")["pkg-stats-py-1"] for k in (1, 2))
    assert not set(first.provenance.calls) & set(second.provenance.calls)
    asked = server.count()
    assert asked == first.turns + second.turns
    auditing.runs = {"full": {**RUNS["full"], "repeats": 3}}
    configure(auditing)
    assert auditing.jobs().count("run_agent") == 1
    assert server.count() == asked + passes(auditing, "full-3")["pkg-stats-py-1"].turns


@pytest.mark.node
@pytest.mark.npm
def test_a_command_line_agent_is_a_cell_like_any_other(auditing, server):
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "probe-tests"
    cache.mkdir(parents=True, exist_ok=True)
    installed = install_agents(ROOT / "envs/agents", cache)
    state = auditing.folder / "cache"
    state.mkdir()
    (state / installed.name).symlink_to(installed)
    auditing.runs = {"codex": {"kind": "cli", "tool": "codex", "model": "stub", "working_s": 120}}
    configure(auditing)
    auditing.run()
    (result,) = passes(auditing, "codex").values()
    assert (result.status, result.sandbox.engine) == ("ok", "bubblewrap")
    assert result.findings and result.gateway.served_models
    assert "codex" in result.provenance.engine_version
    assert cell(auditing, "codex").leaked_passes == 0
    asked = server.count()
    assert auditing.jobs() == []
    assert server.count() == asked


def test_a_planted_leak_stops_the_build_before_anything_is_paid(auditing, server, tmp_path):
    """The snapshot's tree holds a bundle of its own future."""
    bundle = tmp_path / "backup.bin"
    subprocess.run(
        ["git", "-C", auditing.history.path, "bundle", "create", "--quiet", bundle, "main"],
        check=True,
    )
    t0 = auditing.history.commit({"assets/backup.bin": bundle.read_bytes()}, "chore: keep a copy")
    t1 = auditing.history.commit({"pkg/stats.py": "x = 1\n"}, "fix: wrong x")
    auditing.row = row("small", auditing.history, t0, t1)
    configure(auditing)
    done = auditing.run(check=False)
    assert done.returncode != 0
    assert "assets/backup.bin" in done.stderr + done.stdout
    assert not (auditing.folder / SNAPSHOT / "leaks.json").exists()
    assert server.count() == 0
    assert "Traceback" not in done.stderr.replace("Traceback of", "")


def test_without_a_sandbox_it_is_said_before_anything_else(auditing, server):
    nowhere = {"DOCKER_HOST": f"unix://{auditing.folder}/none.sock"}
    configure(auditing, sandbox={"engine": "docker"})
    done = auditing.run("-n", check=False, env={**os.environ, **nowhere})
    assert done.returncode != 0
    assert "probe: run 'full' is an agent, and sandbox.engine 'docker' gives it no" in done.stderr
    ruff = auditing.run("-n", "results/small/ruff.metrics.csv", env=nowhere)
    assert ruff.returncode == 0
    assert server.count() == 0
