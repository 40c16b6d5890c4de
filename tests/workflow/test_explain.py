"""`probe explain` on the built demo: from a number to commits, verdicts and commands."""

import csv

import pytest

from probe.cli import main

pytestmark = pytest.mark.workflow


@pytest.fixture
def explain(demo_build, monkeypatch, capsys):
    monkeypatch.chdir(demo_build.folder)

    def said(target: str, status: int = 0) -> str:
        assert main(["explain", target]) == status
        output = capsys.readouterr()
        return output.err if status else output.out

    return said


def first_match(demo_build):
    with (demo_build.folder / "results/demo/ruff/matches.csv").open(newline="") as stream:
        return next(csv.DictReader(stream))


def test_from_a_cell_to_a_bug_to_its_commit(demo_build, explain):
    match = first_match(demo_build)
    cell = explain("results/demo/ruff.metrics.csv")
    assert "recall     5 of 31 = 16.1% reference bugs" in cell
    assert "67 commits → 38 fixes" in cell
    assert f"{match['finding']} ~ {match['bug']}: match (" in cell
    bug = explain(match["bug"])
    sha = match["fix_commits"].split()[0]
    assert f"commit {sha} of " in bug
    assert "classified as a fix (" in bug
    assert "presence: keep (" in bug
    assert f"matched by {match['finding']}" in bug
    commit = explain(sha[:9])
    assert commit.startswith(f"commit {sha}")
    assert match["finding_title"] in explain(match["finding"])


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("demo:ruff:all:999", "run 'ruff' has no such finding"),
        ("demo:none-1", "neither a {run}.metrics.csv file nor the id of a bug, finding, candidate"),
        ("deadbeef", "neither a {run}.metrics.csv file nor the id of a bug, finding, candidate"),
        ("results/demo/none.metrics.csv", "cannot read: No such file"),
    ],
)
def test_what_is_not_there_is_one_line(explain, target, expected):
    said = explain(target, status=1)
    assert said.startswith(f"probe: {target}: ")
    assert expected in said
    assert said.count("\n") == 1
