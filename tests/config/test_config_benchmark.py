"""Cells, targets, and what a cell's hash covers."""

import pytest

from probe.config import MAX_NAME_LENGTH
from probe.errors import ConfigError


class TestCells:
    def test_runs_meet_repositories_of_their_languages(self, workflow):
        assert workflow.load().cells() == [("alpha", "ruff"), ("beta", "oxlint")]

    def test_a_report_without_languages_is_for_all(self, workflow):
        cells = workflow.load(runs=["imported"]).cells()
        assert cells == [("alpha", "imported"), ("beta", "imported")]

    def test_a_run_can_be_kept_to_some_repositories(self, workflow):
        workflow.write("config/runs.yaml", "mine: {kind: sarif, path: a, repositories: [beta]}\n")
        benchmark = workflow.load("repositories: [alpha, beta]\nruns: [mine]\n")
        assert benchmark.cells() == [("beta", "mine")]
        with pytest.raises(ConfigError, match="run 'mine' is for beta only, not for 'alpha'"):
            benchmark.check_target("results/alpha/mine.metrics.csv")


class TestTargets:
    @pytest.mark.parametrize(
        ("target", "named"),
        [
            ("results/alpha/ruff.metrics.csv", ("alpha", "ruff")),
            ("./results/alpha/ruff.metrics.csv", ("alpha", "ruff")),
            ("results/alpha/ruff/matches.csv", ("alpha", "ruff")),
            ("results/alpha/ruff/passes/all.json", ("alpha", "ruff")),
            ("results/alpha/reference/bugs.jsonl", ("alpha", None)),
            ("results/alpha/snapshot/source.tar", ("alpha", None)),
            ("results/alpha/history.json", ("alpha", None)),
            ("results/alpha/history.git", ("alpha", None)),
        ],
    )
    def test_named(self, workflow, target, named):
        assert workflow.load().check_target(target) == named

    @pytest.mark.parametrize(
        ("target", "expected"),
        [
            (
                "results/alhpa/ruff.metrics.csv",
                "results/alhpa/ruff.metrics.csv: unknown repository 'alhpa'; did you mean 'alpha'? "
                "(repositories are defined in config/repositories.tsv)",
            ),
            (
                "results/alpha/rufff.metrics.csv",
                "results/alpha/rufff.metrics.csv: unknown run 'rufff'; did you mean 'ruff'? "
                "(runs are defined in config/runs.yaml)",
            ),
            (
                "results/alpha/luna/findings.jsonl",
                "results/alpha/luna/findings.jsonl: unknown run 'luna'; known: imported, oxlint, "
                "ruff (runs are defined in config/runs.yaml)",
            ),
            (
                "results/beta/ruff.metrics.csv",
                "results/beta/ruff.metrics.csv: run 'ruff' reads python, but 'beta' has "
                "typescript, javascript",
            ),
            (
                "results/alpha/ruff.metric.csv",
                "results/alpha/ruff.metric.csv: no file of the workflow; did you mean "
                "'results/alpha/ruff.metrics.csv'?",
            ),
            ("elsewhere/alpha/x", "elsewhere/alpha/x: expected a file under results/REPOSITORY/"),
        ],
    )
    def test_wrong(self, workflow, target, expected):
        with pytest.raises(ConfigError) as caught:
            workflow.load().check_target(target)
        assert str(caught.value) == expected


MODELS = "gpt: {litellm_id: openai/gpt, key_env: A_KEY, effort: high, price: free}"
MODEL_RUNS = """\
luna: {kind: model, model: gpt}
ruff: {kind: analyzer, tool: ruff, languages: [python], rules: [F]}
oxlint: {kind: analyzer, tool: oxlint, languages: [javascript, typescript], rules: [a]}
"""


class TestCellConfig:
    def test_it_names_everything_that_can_change_the_figures(self, workflow):
        config = workflow.load().cell_config("alpha", "ruff")
        assert (config["repo"], config["run"]) == ("alpha", "ruff")
        assert config["settings"]["kind"] == "analyzer"
        assert config["settings"]["rules"] == ["F"]
        assert config["repository"]["t0"] == "2025-01-01"
        assert config["reference"]["block_size"] == 50
        assert set(config) == {
            "repo", "run", "settings", "models", "repository", "snapshot", "reference", "matching",
        }  # fmt: skip

    def test_what_changes_no_figure_is_left_out(self, workflow):
        before = workflow.load().cell_config("alpha", "ruff")
        inventory = workflow.root / "config/repositories.tsv"
        workflow.write(
            "config/repositories.tsv", inventory.read_text().replace("\tMIT", "\tISC\t\ta note")
        )
        assert workflow.load(plan={"token_budget": 5}).cell_config("alpha", "ruff") == before

    def test_a_run_that_asks_a_model_names_what_can_change_its_answers(self, workflow):
        workflow.write("config/runs.yaml", MODEL_RUNS)
        workflow.write("config/models.yaml", MODELS)
        config = workflow.load(runs=["luna"]).cell_config("alpha", "luna")
        assert config["models"]["run"]["litellm_id"] == "openai/gpt"
        assert config["models"]["run"]["effort"] == "high"
        assert config["plan"]["token_budget"] == 60_000
        assert "context" not in config and "environment" not in config
        for changed in ("rpm: 5", "concurrency: 2", "key_env: OTHER_KEY", "timeout_s: 9"):
            workflow.write("config/models.yaml", MODELS.replace("key_env: A_KEY", changed))
            assert workflow.load(runs=["luna"]).cell_config("alpha", "luna") == config
        workflow.write("config/models.yaml", MODELS.replace("high", "low"))
        assert workflow.load(runs=["luna"]).cell_config("alpha", "luna") != config

    def test_a_stage_that_asks_a_model_names_it_in_every_cell(self, workflow):
        workflow.write("config/models.yaml", MODELS)
        benchmark = workflow.load(reference={"classify": {"engine": "gpt"}})
        config = benchmark.cell_config("alpha", "ruff")
        assert config["models"]["reference.classify"]["max_output_tokens"] == 8192
        assert benchmark.models_of([]) == ["gpt"]

    def test_another_run_changes_nothing(self, workflow):
        before = workflow.load().cell_config("alpha", "ruff")
        runs = (workflow.root / "config/runs.yaml").read_text()
        workflow.write("config/runs.yaml", runs.replace("[javascript, typescript]", "[javascript]"))
        assert workflow.load().cell_config("alpha", "ruff") == before


def test_the_longest_name_is_valid(workflow):
    name = "a" * MAX_NAME_LENGTH
    workflow.write("config/runs.yaml", f"{name}: {{kind: sarif, path: a}}\n")
    benchmark = workflow.load(f"repositories: [alpha]\nruns: [{name}]\n")
    assert benchmark.check_target(f"results/alpha/{name}.metrics.csv").run == name
