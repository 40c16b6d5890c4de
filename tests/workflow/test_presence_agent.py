"""Stage presence with an agent, through Snakemake: transcripts, reruns, preflight, explain."""

import os

import pytest
from histories import RUFF, row, small_history

from probe.cli import main
from probe.records import Presence, read_jsonl
from probe.records.transcript import CommandLine, read_transcript

pytestmark = [pytest.mark.workflow, pytest.mark.bubblewrap]

BLOCK = "results/small/reference/blocks/0000"
BUGS = "results/small/reference/bugs.jsonl"


@pytest.fixture
def working(workflow, tmp_path, server):
    """A small history whose candidates an agent looks into."""
    history, t0, t1 = small_history(tmp_path / "origin.git")
    workflow.row = row("small", history, t0, t1)
    entry = {"litellm_id": "openai/stub", "api_base": server.openai, "price": "free"}
    workflow.models = {"stub": {**entry, "max_attempts": 2}}
    workflow.settings = {
        "reference": {"presence": {"engine": "stub", "command_s": 20}},
        "sandbox": {"engine": "bubblewrap"},
    }
    configure(workflow)
    return workflow


def configure(workflow, **settings):
    workflow.configure(
        [workflow.row], {"ruff": RUFF}, workflow.models, **{**workflow.settings, **settings}
    )


def test_an_agent_judges_presence_and_its_transcripts_stay(working, server, monkeypatch, capsys):
    working.run(BUGS)
    presences = read_jsonl(working.folder / BLOCK / "presence.jsonl", Presence)
    assert [one.verdict for one in presences] == ["keep", "keep"]
    assert {one.provenance.engine for one in presences} == {"stub"}
    assert all(one.evidence for one in presences)
    folder = working.folder / BLOCK / "transcripts/presence"
    names = sorted(path.stem for path in folder.iterdir())
    assert names == sorted(one.candidate for one in presences)
    lines = read_transcript(folder / f"{names[0]}.jsonl")
    assert any(isinstance(line, CommandLine) and line.exit == 0 for line in lines)
    asked = server.count()
    assert asked == sum(len(one.provenance.calls) for one in presences) > 2

    # how many work at once is no reason to rerun; a rerun is answered by the transcripts
    presence = {**working.settings["reference"]["presence"], "parallel": 1}
    configure(working, reference={"presence": presence})
    assert working.jobs(BUGS) == []
    assert "ask_presence" in working.jobs(BUGS, "--forcerun", "ask_presence")
    assert server.count() == asked

    monkeypatch.chdir(working.folder)
    assert main(["explain", names[0]]) == 0
    said = capsys.readouterr().out
    assert f"candidate {names[0]}: " in said
    assert f"transcript {BLOCK}/transcripts/presence/{names[0]}.jsonl" in said
    assert "      $ git blame -s -M -w " in said and " [exit 0]\n" in said

    # a changed limit reruns the job; what the same commands print costs nothing
    configure(working, reference={"presence": {**presence, "turns": 20}})
    assert "ask_presence" in working.jobs(BUGS)
    assert server.count() == asked


def test_without_a_sandbox_it_is_said_before_anything_else(working, server):
    nowhere = {"DOCKER_HOST": f"unix://{working.folder}/none.sock"}
    configure(working, sandbox={"engine": "docker"})
    said = working.run("-n", BUGS, check=False, env={**os.environ, **nowhere})
    assert said.returncode != 0
    line = "probe: reference.presence.engine is an agent, and sandbox.engine 'docker' gives it no"
    assert line in said.stderr and "`probe doctor` says what to do" in said.stderr
    assert working.run("-n", "prepare", env=nowhere).returncode == 0
    assert server.count() == 0
