"""The configuration as a whole: what is valid, and the one line that says what is not."""

import pytest
from pydantic import ValidationError

from probe.config import load_config
from probe.errors import ConfigError


def problem(workflow, *args, **kwargs) -> str:
    with pytest.raises(ConfigError) as caught:
        workflow.load(*args, **kwargs)
    message = str(caught.value)
    assert "\n" not in message
    return message


class TestValid:
    def test_files_and_defaults_make_a_benchmark(self, workflow):
        benchmark = workflow.load()
        assert benchmark.settings.reference.block_size == 50
        assert benchmark.settings.plan.token_budget == 60_000
        assert list(benchmark.repositories) == ["alpha", "beta"]
        assert list(benchmark.runs) == ["ruff", "oxlint", "imported"]
        assert benchmark.models == {}

    def test_the_command_line_wins(self, workflow):
        assert workflow.load(runs=["ruff"]).settings.runs == ("ruff",)

    def test_the_result_cannot_be_changed(self, workflow):
        settings = workflow.load().settings
        with pytest.raises(ValidationError):
            settings.plan = None

    def test_paths_may_lead_elsewhere(self, workflow, tmp_path):
        other = workflow.write("elsewhere/mine.yaml", "mine: {kind: sarif, path: one.sarif}\n")
        benchmark = workflow.load(f"repositories: [alpha]\nruns: [mine]\nruns_file: {other}\n")
        assert benchmark.runs["mine"].path == "one.sarif"

    def test_a_folder_with_spaces(self, tmp_path, workflow):
        root = tmp_path / "a folder"
        (tmp_path / "config").rename(root.parent / "moved")
        root.mkdir()
        (tmp_path / "moved").rename(root / "config")
        benchmark = load_config({"repositories": ["alpha"], "runs": ["ruff"]}, root)
        assert benchmark.cells() == [("alpha", "ruff")]


class TestUnknownNames:
    def test_run(self, workflow):
        found = problem(workflow, "repositories: [alpha]\nruns:\n  - ruff\n  - oxlnt\n")
        assert found == (
            "config/config.yaml:4: runs[1]: unknown run 'oxlnt'; did you mean 'oxlint'? "
            "(runs are defined in config/runs.yaml)"
        )

    def test_repository_without_a_similar_name(self, workflow):
        found = problem(workflow, "repositories: [zzz]\nruns: [ruff]\n")
        assert found == (
            "config/config.yaml:1: repositories[0]: unknown repository 'zzz'; known: alpha, beta "
            "(repositories are defined in config/repositories.tsv)"
        )

    def test_run_on_the_command_line(self, workflow):
        assert problem(workflow, runs=["ruf"]).startswith("--config: runs[0]: unknown run 'ruf'")

    def test_repository_that_a_run_is_restricted_to(self, workflow):
        workflow.write(
            "config/runs.yaml",
            "ruff: {kind: sarif, path: a}\noxlint:\n  kind: sarif\n  path: b\n"
            "  repositories: [alpha, bta]\n",
        )
        assert problem(workflow) == (
            "config/runs.yaml:5: oxlint.repositories[1]: unknown repository 'bta'; "
            "did you mean 'beta'? (repositories are defined in config/repositories.tsv)"
        )


class TestKeys:
    @pytest.mark.parametrize(
        ("settings", "expected"),
        [
            (
                "repositories: [alpha]\nruns: [ruff]\nreferense: {}\n",
                "config/config.yaml:3: referense: unknown key; did you mean 'reference'?",
            ),
            (
                "repositories: [alpha]\nruns: [ruff]\nreference:\n  clasify: {engine: heuristic}\n",
                "config/config.yaml:4: reference.clasify: unknown key; did you mean 'classify'?",
            ),
            (
                "repositories: [alpha]\nruns: [ruff]\nsandbox:\n  x: 1\n",
                "config/config.yaml:4: sandbox.x: unknown key; known: engine",
            ),
            ("repositories: [alpha]\n", "config/config.yaml: runs: required, but missing"),
            ("", "config/config.yaml: repositories: required, but missing (and 1 more)"),
        ],
    )
    def test_unknown_and_missing(self, workflow, settings, expected):
        assert problem(workflow, settings) == expected

    def test_a_key_given_twice(self, workflow):
        text = "repositories: [alpha]\nruns: [ruff]\nplan: {}\nplan: {token_budget: 5}\n"
        assert problem(workflow, text) == (
            "config/config.yaml:4: plan: given twice (first in line 3); keep one of the two"
        )


class TestTypes:
    @pytest.mark.parametrize(
        ("rest", "expected"),
        [
            ("plan: {token_budget: '60000'}", "found '60000', expected a whole number"),
            ("plan: {token_budget: 1.5}", "found 1.5, expected a whole number"),
            ("plan: {token_budget: true}", "found true, expected a whole number"),
            ("plan: {token_budget: 0}", "found 0, expected at least 1"),
            ("plan: {token_budget: }", "found nothing, expected a whole number"),
            ("plan: 7", "found 7, expected a mapping"),
            ("plan: [a]", "found a list, expected a mapping"),
            ("inventory: 5", "found 5, expected text"),
            ("matching: {decision: {min_wording: 1.5}}", "found 1.5, expected at most 1"),
            ("matching: {decision: {min_wording: .nan}}", "found nan, expected a finite number"),
        ],
    )
    def test_wrong_value(self, workflow, rest, expected):
        found = problem(workflow, f"repositories: [alpha]\nruns: [ruff]\n{rest}\n")
        assert found.startswith("config/config.yaml:3: ")
        assert found.endswith(expected)

    def test_a_name_instead_of_a_list(self, workflow):
        found = problem(workflow, "repositories: alpha\nruns: [ruff]\n")
        assert found == "config/config.yaml:1: repositories: found 'alpha', expected a list"

    def test_an_empty_list(self, workflow):
        found = problem(workflow, "repositories: []\nruns: [ruff]\n")
        assert found.endswith("repositories: found an empty list, expected a list of at least 1")

    def test_a_name_listed_twice(self, workflow):
        found = problem(workflow, "repositories: [alpha, beta, alpha]\nruns: [ruff]\n")
        assert found == "config/config.yaml:1: repositories: 'alpha' is listed twice"

    def test_an_engine_that_is_no_model(self, workflow):
        workflow.write("config/models.yaml", "luna: {litellm_id: provider/luna}\n")
        text = "repositories: [alpha]\nruns: [ruff]\nreference:\n  classify: {engine: lnua}\n"
        assert problem(workflow, text) == (
            "config/config.yaml:4: reference.classify.engine: unknown engine 'lnua'; did you mean "
            "'luna'? (models are defined in config/models.yaml)"
        )
        assert workflow.load(text.replace("lnua", "luna")).settings.reference.classify.engine

    def test_an_engine_that_does_not_exist_yet(self, workflow):
        text = "repositories: [alpha]\nruns: [ruff]\nmatching:\n  engine: luna\n"
        assert problem(workflow, text) == (
            "config/config.yaml:4: matching.engine: found 'luna', but this version has no "
            "model engine for the stage; expected 'heuristic'"
        )


class TestRuns:
    @pytest.mark.parametrize(
        ("run", "expected"),
        [
            (
                "{kind: analyser, tool: ruff, languages: [python]}",
                "config/runs.yaml:1: one.kind: found 'analyser', expected 'analyzer', 'agent', 'cli', "
                "'model', 'sarif'; did you mean 'analyzer'?",
            ),
            (
                "{tool: ruff}",
                "config/runs.yaml:1: one: found a mapping, expected a key 'kind' that says what "
                "it is",
            ),
            (
                "{kind: analyzer, tool: ruf, languages: [python], rules: [F]}",
                "config/runs.yaml:1: one.tool: found 'ruf', expected 'ruff', 'pylint', 'pyrefly' "
                "or 'oxlint'; did you mean 'ruff'?",
            ),
            (
                "{kind: analyzer, tool: ruff, languages: [python], rules: [F], ignored: [F]}",
                "config/runs.yaml:1: one.ignored: unknown key; did you mean 'ignore'?",
            ),
            (
                "{kind: analyzer, tool: ruff, languages: [], rules: [F]}",
                "config/runs.yaml:1: one.languages: found an empty list, expected a list of at least 1",
            ),
            (
                "{kind: analyzer, tool: ruff, languages: [python], rules: [F], timeout_s: -1}",
                "config/runs.yaml:1: one.timeout_s: found -1, expected at least 1",
            ),
            (
                "{kind: sarif, path: 'imports/{run}.sarif'}",
                "config/runs.yaml:1: one.path: found 'imports/{run}.sarif', expected a file name in "
                "which only {repo} is replaced",
            ),
            ("ruff", "config/runs.yaml:1: one: found 'ruff', expected a mapping"),
            ("", "config/runs.yaml:1: one: found nothing, expected a mapping"),
        ],
    )
    def test_wrong_run(self, workflow, run, expected):
        workflow.write("config/runs.yaml", f"one: {run}\n")
        assert problem(workflow) == expected

    @pytest.mark.parametrize("name", ["Ruff", "ru.ff", "ru ff", "-ruff", "../x", "é", "a" * 61])
    def test_bad_name(self, workflow, name):
        workflow.write("config/runs.yaml", f"'{name}': {{kind: sarif, path: a}}\n")
        found = problem(workflow)
        assert found.startswith("config/runs.yaml:1: ")
        assert repr(name) in found

    @pytest.mark.parametrize("name", ["environment", "reference", "snapshot", "all"])
    def test_reserved_name(self, workflow, name):
        workflow.write("config/runs.yaml", f"{name}: {{kind: sarif, path: a}}\n")
        assert f"'{name}' is reserved for a folder or target" in problem(workflow)

    def test_a_run_given_twice(self, workflow):
        run = "{kind: sarif, path: a}"
        workflow.write("config/runs.yaml", f"ruff: {run}\noxlint: {run}\nruff: {run}\n")
        assert problem(workflow) == (
            "config/runs.yaml:3: ruff: given twice (first in line 1); keep one of the two"
        )


class TestModels:
    def test_a_model_is_read(self, workflow):
        workflow.write("config/models.yaml", "luna: {litellm_id: provider/luna}\n")
        assert workflow.load().models["luna"].litellm_id == "provider/luna"

    def test_a_server_of_ones_own_needs_a_line_only(self, workflow):
        workflow.write(
            "config/models.yaml",
            'own: {litellm_id: openai/qwen, api_base: "http://127.0.0.1:8000/v1", price: free}\n',
        )
        entry = workflow.load().models["own"]
        assert entry.free
        assert entry.max_output_tokens < entry.context_tokens

    def test_a_price_has_a_date(self, workflow):
        line = "luna: {litellm_id: a/b, price: {input: 0.2, output: 1.2, as_of: 2026-12-01}}\n"
        workflow.write("config/models.yaml", line)
        assert workflow.load().models["luna"].price.cache_read is None
        workflow.write("config/models.yaml", line.replace(", as_of: 2026-12-01", ""))
        assert "luna.price" in problem(workflow)
        assert "as_of: required, but missing" in problem(workflow)

    @pytest.mark.parametrize(
        ("entry", "expected"),
        [
            ("{litellm_id: luna}", "luna.litellm_id: found 'luna'"),
            ("{litellm_id: a/b, price: cheap}", "luna.price"),
            ("{litellm_id: a/b, price: 0}", "luna.price"),
            ("{litellm_id: a/b, api_key: sk-1}", "luna.api_key: unknown key"),
            ("{litellm_id: a/b, effort: hard}", "luna.effort: found 'hard', expected 'none'"),
            ("{litellm_id: a/b, context_tokens: 2048}", "leaves no room for a prompt"),
            ("{litellm_id: a/b, max_output_tokens: 0}", "found 0, expected at least 16"),
        ],
    )
    def test_wrong_model(self, workflow, entry, expected):
        workflow.write("config/models.yaml", f"luna: {entry}\n")
        assert (said := problem(workflow)).startswith("config/models.yaml:1: luna")
        assert expected in said

    def test_two_servers_do_not_share_answers(self, workflow):
        line = 'NAME: {litellm_id: openai/m, api_base: "http://127.0.0.1:PORT"}\n'
        one, two = (line.replace("NAME", name).replace("PORT", port) for name, port in ("a1", "b2"))
        workflow.write("config/models.yaml", one + two)
        assert "b: has the litellm_id 'openai/m' of 'a' at another api_base" in problem(workflow)
        workflow.write("config/models.yaml", one + two.replace("{", "{revision: q4, "))
        assert set(workflow.load().models) == {"a", "b"}

    def test_a_run_of_an_unknown_model(self, workflow):
        runs = "ruff: {kind: model, model: luna}\noxlint: {kind: model,\n  model: lun}\n"
        workflow.write("config/runs.yaml", runs)
        workflow.write("config/models.yaml", "luna: {litellm_id: provider/luna}\n")
        assert problem(workflow) == (
            "config/runs.yaml:3: oxlint.model: unknown model 'lun'; did you mean 'luna'? "
            "(models are defined in config/models.yaml)"
        )

    def test_heuristic_is_no_model(self, workflow):
        workflow.write("config/models.yaml", "heuristic: {litellm_id: a/b}\n")
        assert problem(workflow).startswith(
            "config/models.yaml:1: heuristic: 'heuristic' is reserv"
        )


def test_the_last_file_that_gives_a_value_is_named(workflow):
    first = workflow.write("first.yaml", "repositories: [alpha]\nplan: {token_budget: x}\n")
    second = workflow.write("second.yaml", "runs: [ruff]\n\nplan:\n  token_budget: y\n")
    merged = {"repositories": ["alpha"], "runs": ["ruff"], "plan": {"token_budget": "y"}}
    with pytest.raises(ConfigError, match=r"^second\.yaml:4: plan\.token_budget: found 'y'"):
        load_config(merged, workflow.root, [first, second])


def test_numbers_of_the_command_line_get_their_type(workflow):
    # as Snakemake hands `--config 'budget={usd: 5}' 'calls={replay: true}'` over
    benchmark = workflow.load(budget={"usd": "5"}, calls={"replay": "true", "folder": "paid"})
    assert benchmark.settings.budget.usd == 5
    assert benchmark.settings.calls.replay is True
    assert benchmark.settings.calls.folder == "paid"
    assert "found 'much', expected a number" in problem(workflow, budget={"usd": "much"})
    quoted = "repositories: [alpha]\nruns: [ruff]\nbudget: {usd: '5'}\n"
    assert "budget.usd: found '5', expected a number" in problem(workflow, quoted)
