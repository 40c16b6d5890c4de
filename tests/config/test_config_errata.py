"""errata.tsv: what it says, and the one line for every mistake in it."""

import datetime

import pytest

from probe.errors import ConfigError
from probe.records import Location

HEADER = "bug\taction\tfield\tvalue\treason\tdate"
BUG = "alpha:0123456789ab-1"
OTHER = "alpha@2025-07:0123456789ab-2"


def rows(*cells: tuple[str, ...]) -> str:
    return "\n".join([HEADER, *("\t".join(row) for row in cells)]) + "\n"


def problem(workflow, text: str) -> str:
    workflow.write("config/errata.tsv", text)
    with pytest.raises(ConfigError) as caught:
        workflow.load()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_rows_go_to_their_repository_or_variant_only(workflow):
    withdraw = (BUG, "withdraw", "", "", "no defect", "2026-12-02")
    correct = (OTHER, "correct", "title", r"a\tb\\n", "typo", "2026-12-03")
    workflow.write("config/errata.tsv", rows(withdraw, correct))
    benchmark = workflow.load()
    (first,) = benchmark.errata_of("alpha")
    assert first == {
        "bug": BUG, "action": "withdraw", "field": None, "value": None,
        "reason": "no defect", "date": "2026-12-02",
    }  # fmt: skip
    (second,) = benchmark.errata_of("alpha@2025-07")
    assert second["value"] == "a\tb\\n"
    assert benchmark.errata[1].date == datetime.date(2026, 12, 3)
    assert benchmark.errata_of("beta") == []
    # a row of one repository changes nothing of another, wherever it stands in the file
    workflow.write("config/errata.tsv", rows(correct, withdraw))
    assert workflow.load().errata_of("alpha") == [first]


def test_a_file_of_a_header_and_a_missing_default_have_none(workflow):
    assert workflow.load().errata == ()
    workflow.write("config/errata.tsv", HEADER + "\n# a remark\n\n")
    assert workflow.load().errata == ()


def test_a_file_that_is_named_must_exist(workflow):
    text = "repositories: [alpha]\nruns: [ruff]\nerrata: config/mine.tsv\n"
    with pytest.raises(ConfigError) as caught:
        workflow.load(text)
    assert str(caught.value) == (
        "config/config.yaml:3: errata: no file 'config/mine.tsv'; correct the path, or leave the "
        "key out"
    )
    workflow.write("config/mine.tsv", rows((BUG, "withdraw", "", "", "x", "2026-12-02")))
    assert len(workflow.load(text).errata) == 1


def test_a_place_is_read(workflow):
    cells = (BUG, "correct", "primary", "src/a:b.py:10-12", "wrong place", "2026-12-02")
    workflow.write("config/errata.tsv", rows(cells))
    assert workflow.load().errata[0].place == Location(path="src/a:b.py", first=10, last=12)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (("alpha", "withdraw", "", "", "x", "2026-12-02"),
         "bug: found 'alpha', expected the id of a bug, REPOSITORY:COMMIT-NUMBER"),
        (("gamma:0123456789ab-1", "withdraw", "", "", "x", "2026-12-02"),
         "bug: unknown repository 'gamma'; known: alpha, beta"),
        (("alhpa:0123456789ab-1", "withdraw", "", "", "x", "2026-12-02"),
         "bug: unknown repository 'alhpa'; did you mean 'alpha'?"),
        (("alpha@soon:0123456789ab-1", "withdraw", "", "", "x", "2026-12-02"),
         "bug: variant 'alpha@soon' has no snapshot"),
        ((BUG, "withdrawn", "", "", "x", "2026-12-02"),
         "action: found 'withdrawn', expected 'withdraw' or 'correct'; did you mean 'withdraw'?"),
        ((BUG, "", "", "", "x", "2026-12-02"), "action: required, but missing"),
        ((BUG, "withdraw", "title", "", "x", "2026-12-02"), "row: a withdrawn bug has no field"),
        ((BUG, "correct", "", "", "x", "2026-12-02"), "row: a correction needs a field"),
        ((BUG, "correct", "title", "", "x", "2026-12-02"), "row: a correction needs a field"),
        ((BUG, "correct", "titel", "y", "x", "2026-12-02"), "did you mean 'title'?"),
        ((BUG, "correct", "fix_rank", "1", "x", "2026-12-02"), "field: found 'fix_rank', expected"),
        ((BUG, "correct", "severity", "bad", "x", "2026-12-02"),
         "row: found severity 'bad', expected low, medium, high, critical"),
        ((BUG, "correct", "primary", "src/a.py:3", "x", "2026-12-02"),
         "row: found place 'src/a.py:3', expected path:first-last"),
        ((BUG, "correct", "primary", "src/a.py:5-3", "x", "2026-12-02"),
         "row: found place 'src/a.py:5-3': src/a.py: last line 3 comes before first 5"),
        ((BUG, "correct", "primary", "../a.py:1-3", "x", "2026-12-02"), "'../a.py' is not relative"),
        ((BUG, "correct", "primary", "a.py:0-3", "x", "2026-12-02"), "found 0, expected at least 1"),
        ((BUG, "correct", "title", r"a\d", "x", "2026-12-02"),
         r"value: found '\\d'; write a backslash as \\, a line break as \n, a tab as \t"),
        ((BUG, "correct", "title", "a\\", "x", "2026-12-02"), "value: found '\\\\'"),
        ((BUG, "withdraw", "", "", "", "2026-12-02"), "reason: required, but missing"),
        ((BUG, "withdraw", "", "", "x", "2 December"), "date: found '2 December'"),
        ((BUG, "withdraw", "", "", "x", "2026-02-30"), "date: found '2026-02-30'"),
        ((BUG, "withdraw", "", "", "x", ""), "date: required, but missing"),
        ((BUG, "withdraw", "", "", "x", "2026-12-02", "y"), "7 cells in 6 columns"),
    ],
)  # fmt: skip
def test_a_bad_cell_is_named_with_its_line(workflow, cells, expected):
    fine = (OTHER, "withdraw", "", "", "x", "2026-12-02")
    found = problem(workflow, rows(fine, cells))
    assert found.startswith("config/errata.tsv:3: ")
    assert expected in found


def test_rows_that_contradict_or_repeat_each_other(workflow):
    withdraw = (BUG, "withdraw", "", "", "x", "2026-12-02")
    again = (BUG, "withdraw", "", "", "y", "2026-12-03")
    title = (BUG, "correct", "title", "t", "x", "2026-12-02")
    for second in (again, title):
        assert problem(workflow, rows(withdraw, second)) == (
            f"config/errata.tsv:3: bug: '{BUG}' is already withdrawn in line 2; remove one of the "
            "two rows"
        )
    assert "3: the same row as line 2; remove one of the two" in problem(
        workflow, rows(title, title)
    )
    better = (BUG, "correct", "title", "u", "x", "2026-12-04")
    workflow.write("config/errata.tsv", rows(title, better, withdraw))
    assert len(workflow.load().errata) == 3


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (
            "bug\taction\tfield\tvalue\treson\tdate",
            "unknown column 'reson'; did you mean 'reason'?",
        ),
        ("bug\taction\tfield\tvalue\treason", "column 'date' is missing"),
        ("bug\tbug\taction\tfield\tvalue\treason\tdate", "column 'bug' is given twice"),
        ("", "is empty; expected a header line with the columns bug, action"),
    ],
)
def test_a_bad_header(workflow, header, expected):
    assert expected in problem(workflow, header + "\n")
