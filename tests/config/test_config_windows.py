"""Variants of repositories: which window each has, and the line that says why there is none."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe import paths
from probe.config import Repository, Window
from probe.config.windows import Inventory
from probe.errors import ConfigError

COMMIT = "8c32ab4f42a672782761a82a7b9a8d4b826aaead"
LISTED = "repositories: [alpha@2025-07, alpha]\nruns: [ruff]\n"


def problem(workflow, *args, **kwargs) -> str:
    with pytest.raises(ConfigError) as caught:
        workflow.load(*args, **kwargs)
    message = str(caught.value)
    assert "\n" not in message
    return message


def with_window(name: str, window: str) -> str:
    return f"repositories: [alpha]\nruns: [ruff]\nwindows:\n  {name}: {window}\n"


class TestWindows:
    def test_a_month_or_a_day_needs_no_configuration(self, workflow):
        benchmark = workflow.load(LISTED)
        assert benchmark.cells() == [("alpha@2025-07", "ruff"), ("alpha", "ruff")]
        month = benchmark.repositories["alpha@2025-07"]
        assert (month.name, month.t0, month.t1) == ("alpha@2025-07", "2025-07-01", "2026-07-01")
        assert benchmark.repositories["alpha@2025-07-15"].t0 == "2025-07-15"
        row = benchmark.repositories["alpha"]
        assert month.model_copy(update={"name": row.name, "t0": row.t0}) == row

    def test_a_window_is_given(self, workflow):
        benchmark = workflow.load(with_window("alpha@early", f"{{t0: 2024-01-01, t1: {COMMIT}}}"))
        early = benchmark.repositories["alpha@early"]
        assert (early.t0, early.t1) == ("2024-01-01", COMMIT)
        assert list(benchmark.repositories) == ["alpha", "beta", "alpha@early"]
        assert len(benchmark.repositories) == 3
        # rows and the declared variant are configured apart: it is not built unless it is listed
        assert benchmark.cells() == [("alpha", "ruff")]

    def test_what_is_given_wins_over_the_label(self, workflow):
        text = with_window("alpha@2025-07", f"{{t0: {COMMIT.upper()}}}")
        variant = workflow.load(text).repositories["alpha@2025-07"]
        assert (variant.t0, variant.t1) == (COMMIT, "2026-07-01")

    def test_a_dated_label_may_have_another_end(self, workflow):
        text = with_window("alpha@2025-07", "{t1: 2025-12-01}")
        variant = workflow.load(text).repositories["alpha@2025-07"]
        assert (variant.t0, variant.t1) == ("2025-07-01", "2025-12-01")

    def test_from_the_command_line(self, workflow):
        windows = {"alpha@early": {"t0": "2024-01-01"}}
        assert workflow.load(windows=windows).repositories["alpha@early"].t0 == "2024-01-01"

    def test_a_run_can_be_kept_to_a_variant(self, workflow):
        workflow.write(
            "config/runs.yaml", "mine: {kind: sarif, path: a, repositories: [alpha@2025-07]}\n"
        )
        benchmark = workflow.load("repositories: [alpha, alpha@2025-07]\nruns: [mine]\n")
        assert benchmark.cells() == [("alpha@2025-07", "mine")]

    def test_the_truth_is_about_one_window(self, workflow):
        workflow.write(
            "config/repositories.tsv",
            "name\turl\tlanguages\tt0\tt1\ttruth\n"
            "alpha\t../a\tpython\t2025-01-01\t2026-07-01\ttruth\n",
        )
        text = (
            "repositories: [alpha, alpha@2025-07, alpha@2025-01, alpha@same]\nruns: [ruff]\n"
            "windows: {alpha@same: {t0: 2025-01-01, t1: 2026-07-01}}\n"
        )
        benchmark = workflow.load(text)
        assert paths.agreement_tables(benchmark) == [
            f"results/{name}/reference/agreement.csv"
            for name in ("alpha", "alpha@2025-01", "alpha@same")
        ]
        with pytest.raises(ConfigError, match="nobody labelled the window of 'alpha@2025-07'"):
            benchmark.check_target("results/alpha@2025-07/reference/agreement.csv")

    def test_a_cell_s_configuration_names_the_variant(self, workflow):
        benchmark = workflow.load(LISTED)
        base, variant = (benchmark.cell_config(n, "ruff") for n in ("alpha", "alpha@2025-07"))
        assert variant["repo"] == "alpha@2025-07"
        assert variant["repository"]["t0"] == "2025-07-01"
        assert base["repository"]["t0"] == "2025-01-01"


class TestMistakes:
    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            (
                "alhpa@2025-07",
                "unknown repository 'alhpa' of variant 'alhpa@2025-07'; did you mean 'alpha'? "
                "(repositories are defined in config/repositories.tsv)",
            ),
            (
                "alpha@2025-13",
                "variant 'alpha@2025-13': '2025-13' is no month or day of the calendar",
            ),
            (
                "alpha@2025-02-30",
                "variant 'alpha@2025-02-30': '2025-02-30' is no month or day of the calendar",
            ),
            (
                "alpha@earyl",
                "variant 'alpha@earyl' has no snapshot: its label is no month or day, and no t0 "
                "is given under windows; did you mean 'alpha@early'? (to give one: windows: "
                "{alpha@earyl: {t0: COMMIT or DAY}})",
            ),
            (
                "alpha@2026-07",
                "t1 (2026-07-01) must come after t0 (2026-07-01); choose an earlier label, or "
                "give the variant a later t1 under windows",
            ),
        ],
    )
    def test_wherever_a_variant_is_named(self, workflow, name, expected):
        windows = "windows: {alpha@early: {t0: 2024-01-01}}\n"
        text = f"repositories: [alpha]\nruns: [ruff]\n{windows}"
        with pytest.raises(ConfigError) as caught:
            workflow.load(text).check_target(f"results/{name}/ruff.metrics.csv")
        assert str(caught.value) == f"results/{name}/ruff.metrics.csv: {expected}"
        listed = problem(workflow, text.replace("[alpha]", f"[{name}]"))
        assert listed == f"config/config.yaml:1: repositories[0]: {expected}"
        workflow.write(
            "config/runs.yaml", f"ruff: {{kind: sarif, path: a, repositories: ['{name}']}}\n"
        )
        restricted = problem(workflow, text)
        assert restricted == f"config/runs.yaml:1: ruff.repositories[0]: {expected}"

    @pytest.mark.parametrize(
        ("name", "window", "expected"),
        [
            ("alpha", "{t0: 2024-01-01}", "windows.alpha: 'alpha' names no variant; expected "
             "REPOSITORY@LABEL, for example alpha@2025-07"),
            ("alpha@early", "{}", "windows.alpha@early: variant 'alpha@early' has no snapshot"),
            ("alpha@early", "", "windows.alpha@early: found nothing, expected a mapping"),
            ("alpha@early", "{t2: 2024-01-01}", "windows.alpha@early.t2: unknown key; known: t0, t1"),
            ("alpha@early", "{t0: soon}", "windows.alpha@early.t0: found 'soon', expected a commit"),
            ("alpha@early", "{t0: '2024-02-30'}", "windows.alpha@early.t0: '2024-02-30' is no day"),
            ("alpha@early", "{t0: 2027-01-01}", "windows.alpha@early: t1 (2026-07-01) must come "
             "after t0 (2027-01-01)"),
            ("alpha@early", f"{{t0: {COMMIT}, t1: {COMMIT}}}", "must come after t0"),
            ("gamma@early", "{t0: 2024-01-01}", "windows.gamma@early: unknown repository 'gamma'"),
            ("alpha@Early", "{t0: 2024-01-01}", "windows.alpha@Early: 'Early' is no valid name"),
            ("alpha@a.b", "{t0: 2024-01-01}", "windows.alpha@a.b: 'a.b' is no valid name"),
            ("alpha@", "{t0: 2024-01-01}", "windows.alpha@: '' is no valid name"),
            ("alpha@a@b", "{t0: 2024-01-01}", "windows.alpha@a@b: 'a@b' is no valid name"),
        ],
    )  # fmt: skip
    def test_in_windows(self, workflow, name, window, expected):
        found = problem(workflow, with_window(name, window))
        assert found.startswith("config/config.yaml:4: ")
        assert expected in found

    @pytest.mark.parametrize("name", ["alpha@../x", "alpha@a b", "alpha@A", "alpha@é"])
    def test_labels_are_safe_file_names(self, workflow, name):
        assert "is no valid name" in problem(workflow, f"repositories: ['{name}']\nruns: [ruff]\n")

    def test_a_row_is_no_variant(self, workflow):
        text = (workflow.root / "config/repositories.tsv").read_text()
        workflow.write("config/repositories.tsv", text.replace("alpha\t", "alpha@2025-07\t", 1))
        assert "'alpha@2025-07' is no valid name" in problem(workflow)


ROW = Repository(name="alpha", url="../a", languages=("python",), t0="2025-01-01", t1="2026-07-01")
LABELS = st.text(st.sampled_from("abz019_-"), min_size=1, max_size=12)


@given(LABELS, st.sampled_from(["alpha", "alpha-2", "beta"]))
def test_the_workflow_s_pattern_accepts_what_the_inventory_knows(label, base):
    inventory = Inventory({"alpha": ROW}, {f"alpha@{label}": Window(t0="2020-01-01")}, "x.tsv")
    name = f"{base}@{label}"
    pattern = paths.repository_pattern(type("B", (), {"repositories": inventory}))
    assert "{" not in pattern
    known = name in inventory
    if known:
        assert re.fullmatch(pattern, name)
        assert inventory[name].name == name
    assert known == (inventory.why_not(name) is None)
    if base != "alpha":
        assert not known
        assert not re.fullmatch(pattern, name)
