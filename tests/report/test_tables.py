import csv

import pytest

from probe.errors import RecordError
from probe.records import Agreement
from probe.report.summary import agreement_text
from probe.report.tables import (
    concatenate_csv,
    read_records_csv,
    text_table,
    write_csv,
    write_records_csv,
)


def agreement(**changes):
    values = {
        "repo": "demo",
        "stage": "classify",
        "true_positives": 1,
        "false_positives": 0,
        "false_negatives": 2,
        "unjudged": 0,
        "precision": 1.0,
        "recall": 1 / 3,
        "f1": 0.5,
        "wrong": "-abc, -def",
    }
    return Agreement(**(values | changes))


def test_unknown_is_an_empty_field_and_comes_back_unknown(tmp_path):
    path = tmp_path / "a.csv"
    write_records_csv(path, Agreement, [agreement(precision=None, f1=None)])
    row = next(csv.DictReader(path.read_text().splitlines()))
    assert (row["precision"], row["recall"], row["f1"]) == ("", "0.333333", "")
    back = read_records_csv(path, Agreement)[0]
    assert (back.precision, back.recall, back.true_positives) == (None, 0.333333, 1)


def test_texts_with_commas_quotes_and_line_breaks_survive(tmp_path):
    path = tmp_path / "a.csv"
    wrong = 'a, "b"\nc'
    write_records_csv(path, Agreement, [agreement(wrong=wrong)])
    assert read_records_csv(path, Agreement)[0].wrong == wrong


def test_a_wrong_field_is_named(tmp_path):
    path = tmp_path / "a.csv"
    write_csv(path, ["repo"], [{"repo": "x"}])
    with pytest.raises(RecordError, match=r"a\.csv:2: stage: Field required"):
        read_records_csv(path, Agreement)


def test_text_table_aligns_numbers_right():
    assert text_table(("name", "n"), [("a", "1"), ("bb", "10")]).splitlines() == [
        "name   n",
        "────  ──",
        "a      1",
        "bb    10",
    ]


def test_agreement_for_people(tmp_path):
    write_records_csv(tmp_path / "a.csv", Agreement, [agreement()])
    assert "demo  classify     3     1   33.3%     100.0%  50.0%" in agreement_text(
        tmp_path / "a.csv"
    )


def test_concatenation_keeps_every_field_as_it_stands(tmp_path):
    parts = [tmp_path / "a.csv", tmp_path / "b.csv"]
    write_records_csv(parts[0], Agreement, [agreement(repo="NA", precision=None)])
    write_records_csv(parts[1], Agreement, [agreement(wrong="001")])
    concatenate_csv(tmp_path / "all.csv", parts)
    lines = [part.read_text().splitlines() for part in parts]
    assert (tmp_path / "all.csv").read_text().splitlines() == [*lines[0], lines[1][1]]


def test_concatenation_refuses_what_does_not_belong_together(tmp_path):
    write_csv(tmp_path / "a.csv", ["x"], [{"x": 1}])
    write_csv(tmp_path / "b.csv", ["y"], [{"y": 1}])
    with pytest.raises(RecordError, match=r"b\.csv: its columns differ"):
        concatenate_csv(tmp_path / "all.csv", [tmp_path / "a.csv", tmp_path / "b.csv"])
    with pytest.raises(RecordError, match="has no cells"):
        concatenate_csv(tmp_path / "all.csv", [])
