"""Variants in the workflow: several snapshots of one row, kept apart, with one cache."""

import csv
import json
import subprocess

import pytest
from builders import HistoryBuilder
from histories import BEFORE, CLAMP_FIXED, FIRST_FIXED, MEAN_FIXED, RUFF, row

from probe.cli import main
from probe.records import (
    Bug,
    CellMetrics,
    Classification,
    Commit,
    History,
    LedgerLine,
    read_json,
    read_jsonl,
)
from probe.report.tables import read_records_csv

pytestmark = pytest.mark.workflow

COMMITS = [
    ({"pkg/__init__.py": "", "pkg/stats.py": BEFORE}, "Add statistics", "2025-01-10"),
    ({"pkg/stats.py": MEAN_FIXED}, "fix: mean of an empty list raises", "2025-02-10"),
    ({"README.md": "More.\n"}, "docs: explain", "2025-03-10"),
    ({"pkg/stats.py": CLAMP_FIXED}, "fix: clamp returns the wrong bound", "2025-04-10"),
    ({"pkg/stats.py": FIRST_FIXED}, "fix: first shares its default", "2025-05-10"),
]


@pytest.fixture
def dated(workflow, tmp_path):
    """A commit a month from January to May 2025; the row's own window is all after the first."""
    history = HistoryBuilder(tmp_path / "origin.git")
    workflow.history = history
    workflow.shas = [
        history.commit(files, message, date=f"{day}T00:00:00Z") for files, message, day in COMMITS
    ]
    workflow.row = row("small", history, "2025-02-01", "2025-06-01")
    return workflow


def configure(workflow, repositories, models=None, **settings):
    workflow.configure(
        [workflow.row], {"ruff": RUFF}, models, repositories=repositories, **settings
    )


def window_of(workflow, name):
    folder = workflow.folder / "results" / name
    history = read_json(folder / "history.json", History)
    commits = read_jsonl(folder / "reference/commits.jsonl", Commit)
    return history.t0, history.t1, [commit.sha for commit in commits]


def bugs_of(workflow, name):
    return read_jsonl(workflow.folder / f"results/{name}/reference/bugs.jsonl", Bug)


def test_variants_are_built_apart(dated, monkeypatch, capsys):
    first, second, third, fourth, fifth = dated.shas
    early = {"t0": first, "t1": "2025-04-01"}
    names = ["small", "small@2025-04", "small@early"]
    configure(dated, names, windows={"small@early": early})
    dated.run()
    assert window_of(dated, "small") == (first, fifth, [second, third, fourth, fifth])
    assert window_of(dated, "small@2025-04") == (third, fifth, [fourth, fifth])
    assert window_of(dated, "small@early") == (first, third, [second, third])
    ids = {name: [bug.id for bug in bugs_of(dated, name)] for name in names}
    assert ids == {
        "small": [f"small:{sha[:12]}-1" for sha in (second, fourth, fifth)],
        "small@2025-04": [f"small@2025-04:{sha[:12]}-1" for sha in (fourth, fifth)],
        "small@early": [f"small@early:{second[:12]}-1"],
    }
    cells = read_records_csv(dated.folder / "results/metrics.csv", CellMetrics)
    assert [(cell.repo, cell.bugs) for cell in cells] == [
        ("small", 3), ("small@2025-04", 2), ("small@early", 1)
    ]  # fmt: skip
    saved = json.loads(dated.read("results/small@2025-04/ruff/config.json"))
    assert saved["repository"]["t0"] == "2025-04-01"
    assert "Nothing to be done" in dated.run("-n").stdout

    # a target needs no listing, and the base's mirror may go
    subprocess.run(["rm", "-rf", dated.folder / "results/small"], check=True)
    target = "results/small@2025-03-15/ruff.metrics.csv"
    assert "table_funnel" in dated.jobs(target)
    assert window_of(dated, "small@2025-03-15") == (third, fifth, [fourth, fifth])
    explains(dated, monkeypatch, capsys, target, fourth)


def explains(dated, monkeypatch, capsys, target, sha):
    monkeypatch.chdir(dated.folder)
    assert main(["explain", target]) == 0
    assert "2 commits → 2 fixes" in capsys.readouterr().out
    name = bugs_of(dated, "small@2025-04")[0].id
    assert main(["explain", name]) == 0
    assert f"commit {sha} of 2025-04-10" in capsys.readouterr().out
    assert main(["explain", sha[:10]]) == 0
    said = capsys.readouterr().out
    assert f"in small@2025-03-15:\ncommit {sha}" in said
    assert f"in small@2025-04:\ncommit {sha}" in said
    assert main(["cells"]) == 0
    assert "small@2025-04" in capsys.readouterr().out


def test_overlapping_windows_buy_once_what_they_share(dated, server):
    models = {"stub": {"litellm_id": "openai/stub", "api_base": server.openai, "price": "free"}}
    reference = {"block_size": 2, "classify": {"engine": "stub"}}
    configure(dated, ["small", "small@2025-03"], models, reference=reference)
    classified = "results/{}/reference/funnel.csv"
    dated.run(classified.format("small"))
    assert len(server.bought) == 4
    # small@2025-03 has the last three of the four, in other blocks
    jobs = dated.jobs(classified.format("small@2025-03"))
    assert jobs.count("ask_classifications") == 2
    assert len(server.bought) == 4

    # and the other way: a variant that begins before its row buys the one commit that is new
    dated.row["t0"] = "2025-03-01"
    configure(
        dated, ["small@all"], models, reference=reference,
        windows={"small@all": {"t0": dated.shas[0], "t1": dated.history.commit(
            {"pkg/stats.py": "x = 1\n"}, "feat: begin anew", date="2025-05-20T00:00:00Z")}},
    )  # fmt: skip
    dated.run(classified.format("small@all"))
    assert len(server.bought) == 5
    ledger = read_jsonl(dated.folder / "cache/ledger.jsonl", LedgerLine)
    bought = [line.purpose for line in ledger if line.event == "settle"]
    assert bought.count("classify small@all/0002") == 1
    assert not [purpose for purpose in bought if "small@2025-03" in purpose]
    verdicts = {
        name: {
            one.commit: one.provenance.calls
            for path in (dated.folder / f"results/{name}/reference/blocks").glob("*/classif*")
            for one in read_jsonl(path, Classification)
        }
        for name in ("small", "small@2025-03", "small@all")
    }
    shared = set.intersection(*(set(calls) for calls in verdicts.values()))
    assert shared == set(dated.shas[2:])
    for sha in shared:
        assert len({verdicts[name][sha] for name in verdicts}) == 1


def refused(workflow, *arguments):
    """The one line that a dry run and a run end with."""
    lines = set()
    for dry in (["-n"], []):
        done = workflow.run(*dry, *arguments, check=False)
        assert done.returncode != 0
        assert "Traceback" not in done.stderr + done.stdout
        said = [line for line in done.stderr.splitlines() if line.startswith("probe: ")]
        assert len(said) == 1, done.stderr
        lines.add(said[0])
    assert not (workflow.folder / "results/small/history.json").exists()
    (line,) = lines
    return line.removeprefix("probe: ")


@pytest.mark.parametrize(
    ("target", "window", "expected"),
    [
        ("small@2024-12", None,
         "small@2024-12: T0 2024-12-01: before the first commit of branch main (2025-01-10); choose "
         "a later date"),
        ("small@2025-07", None, "t1 (2025-06-01) must come after t0 (2025-07-01); choose an earlier"),
        ("small@late", {"t0": 4, "t1": 1},
         "(2025-02-10) comes before T0 {4} (2025-05-10); exchange them or choose a later T1"),
        ("small@off", {"t0": "side"},
         "not on the first-parent line of branch main; choose a commit of that line"),
        ("small@none", {"t0": "f" * 40}, "no such commit on branch main; check the sha"),
        ("small@some", None, "variant 'small@some' has no snapshot: its label is no month or day"),
        ("smal@2025-03", None, "unknown repository 'smal' of variant 'smal@2025-03'; did you mean "
         "'small'?"),
    ],
)  # fmt: skip
def test_a_window_that_is_none_is_one_line(dated, target, window, expected):
    dated.history.branch("topic", at=dated.shas[1])
    side = dated.history.commit({"side": "1"}, "aside", date="2025-03-01T00:00:00Z")
    shas = {"side": side, **dict(enumerate(dated.shas))}
    ends = {key: shas.get(end, end) for key, end in (window or {}).items()}
    configure(dated, ["small"], windows={target: ends} if ends else {})
    said = refused(dated, f"results/{target}/ruff.metrics.csv")
    assert expected.format(*(sha[:12] for sha in dated.shas)) in said
    assert target in said


def test_an_unquoted_day_in_the_file_is_a_day(dated):
    configure(dated, ["small@one"])
    file = dated.folder / "config/test.yaml"
    file.write_text(file.read_text() + "windows:\n  small@one: {t0: 2025-04-01}\n")
    dated.run("results/small@one/history.json")
    assert read_json(dated.folder / "results/small@one/history.json", History).t0 == dated.shas[2]


def test_labels_score_the_row_and_a_variant_only_when_asked(dated, tmp_path, monkeypatch, capsys):
    _, second, _, fourth, _ = dated.shas
    configure(dated, ["small", "small@2025-04"])
    dated.run("reference")
    labels = tmp_path / "labels"
    labels.mkdir()
    columns = [
        "repo",
        "sha",
        "is_bug_fix",
        "confidence",
        "n_bugs",
        "files",
        "present_at_T0",
        "reason",
    ]
    rows = [["o/small", sha, "yes", "high", "1", "", "yes", "r"] for sha in (second, fourth)]
    with (labels / "commits.tsv").open("w") as stream:
        csv.writer(stream, delimiter="\t", lineterminator="\n").writerows([columns, *rows])
    head = "expected\trepo\tsha\tsha_b\tfiles\tconfidence\treason\n"
    (labels / "presence.tsv").write_text(head)
    monkeypatch.chdir(dated.folder)
    assert main(["score", str(labels)]) == 0
    assert "presence (commits.tsv): 2 of 2 right" in capsys.readouterr().out
    assert main(["score", str(labels), "--repository", "small@2025-04"]) == 0
    assert "presence (commits.tsv): 1 of 1 right" in capsys.readouterr().out
    given = ["--configfile", "config/config.yaml", "--configfile", "config/test.yaml"]
    assert main(["score", str(labels), "--masked", *given]) == 0
    out = capsys.readouterr().out
    assert out.startswith("masked\n") and "o/small" in out
    both = ["--repository", "small", "--repository", "small@2025-04"]
    assert main(["score", str(labels), *both]) == 1
    assert "variants of 'small' share commits and cannot be scored" in capsys.readouterr().err
    assert main(["score", str(labels), "--repository", "smal"]) == 1
    assert "results/smal: not built; did you mean 'small'?" in capsys.readouterr().err
