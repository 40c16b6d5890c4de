"""An agent proposes an override: on a real sandbox and a real server; nothing counts before a person."""

import json
from pathlib import Path

import pytest
from asked import model_at
from environment_snapshots import CUTOFF, tree_of
from modelserver import Reply, Tool

from probe.agent import AgentLimits
from probe.environment.build import sources_only
from probe.environment.override import read_override
from probe.environment.recipe import Recipe
from probe.environment.repair import Repair, propose_override
from probe.errors import ModelError
from probe.models.client import Client
from probe.models.prompts import load_prompt
from probe.paths import environment_overrides
from probe.records import Provenance, write_json

PROMPT = Path(__file__).parents[2] / "prompts/environment.j2"
GOOD = "# the tests draw\npython:\n  requirements: [pillow]\n"


@pytest.fixture
def about(tmp_path, server):
    """A repository whose environment could not be built."""
    folder = tmp_path / "results/mine"
    (folder / "snapshot").mkdir(parents=True)
    tree_of({"tests/test_it.py": "import PIL\n"}, folder / "snapshot")
    recipe = Recipe(
        repo="mine", archive_sha256="0" * 64, cutoff=CUTOFF, reason="its installation fails: no PIL",
        provenance=Provenance.of_heuristic("1"),
    )  # fmt: skip
    write_json(folder / "environment/recipe.json", recipe)
    write_json(folder / "snapshot/environment.json", sources_only(recipe, recipe.reason, None))
    (folder / "environment/tests.log").write_text("x" * 20_000 + "\nNo module named PIL\n")
    return Repair(
        folder, tmp_path / "envs/mine", load_prompt(PROMPT), model_at(server.openai), "bubblewrap",
        AgentLimits(turns=6, command_s=20),
    )  # fmt: skip


def play(server, *turns):
    """Answer with these tool calls, one a turn."""

    def answer(body):
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        return Reply(tool_calls=[turns[turn]])

    server.answer(answer)


def proposal(text):
    said = {"override": text, "explanation": "The tests import PIL.\nNothing brings it."}
    return Tool("submit", json.dumps(said), f"s{len(text)}")


@pytest.mark.bubblewrap
def test_a_proposal_is_written_and_not_read(about, server, tmp_path):
    play(
        server,
        Tool("bash", {"command": "cat tests/test_it.py"}, "c1"),
        proposal("pyhton: {}"),
        proposal(GOOD),
    )
    with Client(tmp_path / "cache", 0.0) as client:
        target = propose_override(about, client)
    assert server.errors == []
    text = target.read_text()
    assert text.startswith("# Proposed by stub") and text.endswith(GOOD)
    assert "# The tests import PIL.\n# Nothing brings it.\n" in text
    assert target.name == "environment.proposed.yaml"
    assert environment_overrides(tmp_path, "mine") == []
    target.rename(target.with_name("environment.yaml"))
    [file] = environment_overrides(tmp_path, "mine")
    assert read_override([file]).python.requirements == ("pillow",)
    first = str(server.requests[0].body)
    assert "its installation fails: no PIL" in first and "No module named PIL" in first
    assert "python.requirements: Requirements to add" in first
    assert "pyhton: Extra inputs" in str(server.requests[2].body)


@pytest.mark.bubblewrap
def test_no_proposal_is_one_line(about, server, tmp_path):
    play(server, *[Tool("bash", {"command": "true"}, "c1")] * 9)
    with (
        Client(tmp_path / "cache", 0.0) as client,
        pytest.raises(ModelError, match="proposed no override"),
    ):
        propose_override(about, client)
    assert not about.overrides.exists()
