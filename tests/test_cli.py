import pytest

from probe import __version__
from probe.cli import main
from probe.config import generate
from probe.records import Agreement
from probe.report.tables import write_records_csv


def test_version(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"probe {__version__}\n"


def test_a_missing_file_is_one_line_and_status_1(tmp_path, capsys):
    missing = tmp_path / "none.metrics.csv"
    assert main(["cells", str(missing)]) == 1
    said = capsys.readouterr()
    assert said.err == f"probe: {missing}: cannot read: No such file or directory\n"
    assert said.out == ""


def test_a_table_of_another_kind_is_one_line(tmp_path, capsys):
    other = tmp_path / "agreement.csv"
    row = {"repo": "x", "stage": "bugs", "wrong": "", "precision": None, "recall": None, "f1": None}
    counts = {"true_positives": 0, "false_positives": 0, "false_negatives": 0, "unjudged": 0}
    write_records_csv(other, Agreement, [Agreement(**row, **counts)])
    assert main(["cells", str(other)]) == 1
    assert "agreement.csv:2: " in capsys.readouterr().err


def test_nothing_to_score_says_what_to_build(tmp_path, capsys):
    (tmp_path / "commits.tsv").write_text(
        "repo\tsha\tis_bug_fix\tconfidence\tn_bugs\tfiles\tpresent_at_T0\treason\n"
    )
    (tmp_path / "presence.tsv").write_text(
        "expected\trepo\tsha\tsha_b\tfiles\tconfidence\tintroduced_or_touched_by\tdifficulty\treason\n"
    )
    assert main(["score", str(tmp_path), "--results", str(tmp_path / "results")]) == 1
    assert "no labelled commit is built there; build it first" in capsys.readouterr().err


def test_generated_documents_are_written_once(tmp_path, capsys):
    assert main(["docs", "--root", str(tmp_path)]) == 0
    written = capsys.readouterr().out.split()
    assert sorted(written) == sorted(str(path) for path in generate(tmp_path))
    assert main(["docs", "--root", str(tmp_path)]) == 0
    assert capsys.readouterr().out == ""
