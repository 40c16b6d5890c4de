"""Repeats of a run: one name in the files, a cell for each of them."""

import pytest

from probe.config.runs import RUN_ADAPTER, expand_repeats
from probe.errors import ConfigError

MODELS = "gpt: {litellm_id: openai/gpt, price: free}\n"
RUNS = """\
luna: {kind: agent, model: gpt, repeats: 3}
sol: {kind: model, model: gpt}
tool: {kind: cli, tool: codex, model: gpt, variant: vanilla, repeats: 2}
"""


@pytest.fixture
def repeated(workflow):
    workflow.write("config/models.yaml", MODELS)
    workflow.write("config/runs.yaml", RUNS)
    return workflow


def settings(*runs):
    return f"repositories: [alpha]\nruns: [{', '.join(runs)}]\n"


def test_a_name_stands_for_all_its_repeats(repeated):
    benchmark = repeated.load(settings("luna", "sol"))
    assert benchmark.settings.runs == ("luna-1", "luna-2", "luna-3", "sol")
    assert [benchmark.runs[name].repeat for name in benchmark.settings.runs] == [1, 2, 3, 1]
    assert benchmark.cells() == [("alpha", name) for name in benchmark.settings.runs]
    assert benchmark.groups["luna"] == ("luna-1", "luna-2", "luna-3")
    assert benchmark.groups["sol"] == ("sol",)


def test_one_repeat_may_be_named_alone_and_none_is_built_twice(repeated):
    assert repeated.load(settings("luna-2")).settings.runs == ("luna-2",)
    assert repeated.load(settings("tool-2", "tool")).settings.runs == ("tool-2", "tool-1")
    named = repeated.load(settings("sol")).check_target("results/alpha/luna-3.metrics.csv")
    assert named == ("alpha", "luna-3")


def test_more_repeats_change_no_finished_cell(repeated):
    before = repeated.load(settings("sol")).cell_config("alpha", "luna-2")
    repeated.write("config/runs.yaml", RUNS.replace("repeats: 3", "repeats: 9"))
    after = repeated.load(settings("sol"))
    assert after.cell_config("alpha", "luna-2") == before
    assert after.cell_config("alpha", "luna-3") != before
    assert "luna-9" in after.runs


def test_the_name_itself_is_no_cell(repeated):
    with pytest.raises(ConfigError, match="'luna' is repeated; name one of luna-1, luna-2, luna-3"):
        repeated.load(settings("sol")).check_target("results/alpha/luna.metrics.csv")


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        (
            RUNS + "luna-2: {kind: model, model: gpt}\n",
            "config/runs.yaml:1: luna: repeats: 'luna-2' is another run's name",
        ),
        (
            f"{'a' * 59}: {{kind: model, model: gpt, repeats: 2}}\n",
            f"config/runs.yaml:1: {'a' * 59}: repeats: '{'a' * 59}-1' is no name for a run",
        ),
        (
            "luna: {kind: agent, model: gpt, repeats: 0}\n",
            "config/runs.yaml:1: luna.repeats: found 0, expected at least 1",
        ),
        (
            "luna: {kind: agent, model: gpt, repeats: 2, repeat: 2}\n",
            "config/runs.yaml:1: luna: repeats counts the repeats itself; leave out repeat",
        ),
        (
            "luna: {kind: agent, model: gtp}\n",
            "config/runs.yaml:1: luna.model: unknown model 'gtp'; did you mean 'gpt'? "
            "(models are defined in config/models.yaml)",
        ),
    ],
)
def test_bad_repeats(repeated, runs, expected):
    repeated.write("config/runs.yaml", runs)
    with pytest.raises(ConfigError) as caught:
        repeated.load(settings("luna"))
    assert str(caught.value) == expected


def test_only_full_sessions_see_the_context_document(repeated):
    benchmark = repeated.load(settings("luna"), context={"engine": "gpt"})
    assert benchmark.variant("luna-1") == "full"
    assert benchmark.variant("sol") is None
    assert [benchmark.by_pass(run) for run in ("luna-1", "sol", "tool-1")] == [True, True, False]
    assert benchmark.cell_config("alpha", "luna-1")["models"].keys() == {"run", "context"}
    assert benchmark.cell_config("alpha", "tool-1")["models"].keys() == {"run"}
    assert {"plan", "context"} & benchmark.cell_config("alpha", "tool-1").keys() == set()
    assert benchmark.needs_context(["sol", "tool-2"]) is False


def test_runs_that_ask_nobody_are_left_alone():
    run = RUN_ADAPTER.validate_python({"kind": "sarif", "path": "a"})
    assert expand_repeats({"mine": run}) == ({"mine": run}, {"mine": ("mine",)})
