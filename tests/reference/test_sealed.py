"""Errata applied to a merged set, and the table of it for people."""

import csv
import hashlib
from itertools import product

import pytest
from builders import HistoryBuilder
from hypothesis import given
from hypothesis import strategies as st

from probe.config import Erratum
from probe.errors import ConfigError
from probe.records import Bug, History, Location, Provenance, file_sha256, write_jsonl
from probe.records.cells import safe_cell
from probe.reference.listing import BUG_COLUMNS, bug_rows
from probe.reference.sealed import apply_errata, reference_info
from probe.report.tables import write_csv

MADE = Provenance(engine="heuristic", engine_version="1", probe_version="0")
SOURCE = """import os


def mean(values):
    return sum(values) / len(values)


class Box:
    def size(self):
        return self.width * self.width
"""


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    """A mirror and its T0."""
    history = HistoryBuilder(tmp_path_factory.mktemp("sealed") / "origin.git")
    return history.path, history.commit({"pkg/stats.py": SOURCE}, "Begin")


def bug(number, **more):
    values = {
        "id": f"demo:{number:012d}-1", "repo": "demo", "title": f"Defect {number}",
        "description": "It fails.", "primary": Location(path="pkg/stats.py", first=4, last=5),
        "others": (Location(path="pkg/stats.py", first=10, last=10),), "unit": "mean",
        "snippet": "old", "severity": "medium", "suggested_fix": "diff",
        "candidates": (f"{number:012d}-1",), "fix_commits": (f"{number:040d}",),
        "fix_rank": number, "provenance": MADE,
    }  # fmt: skip
    return Bug(**{**values, **more})


def erratum(number, action="withdraw", field=None, value=None):
    return Erratum(
        bug=f"demo:{number:012d}-1", action=action, field=field, value=value, reason="r",
        date="2026-12-02",
    )  # fmt: skip


def applied(snapshot, bugs, *errata):
    return apply_errata(*snapshot, bugs, errata, "config/errata.tsv")


def test_bugs_are_withdrawn_and_corrected_and_others_stay_as_they_are(snapshot):
    bugs = [bug(number) for number in (1, 2, 3, 4)]
    sealed = applied(
        snapshot,
        bugs,
        erratum(2),
        erratum(3, "correct", "title", "No"),
        erratum(3, "correct", "title", "Yes"),
        erratum(3, "correct", "severity", "high"),
        erratum(3, "correct", "trigger", "an empty list"),
        erratum(4, "correct", "description", "a\nb"),
        erratum(4),
    )
    corrected = {"title": "Yes", "severity": "high", "trigger": "an empty list"}
    assert sealed.bugs == [bugs[0], bugs[2].model_copy(update=corrected)]
    assert (sealed.withdrawn, sealed.corrected, sealed.errata) == (2, 1, 7)


def test_a_corrected_place_brings_its_own_unit_and_snippet(snapshot):
    correction = erratum(1, "correct", "primary", "pkg/stats.py:10-10")
    (changed,) = applied(snapshot, [bug(1)], correction).bugs
    assert changed.primary == Location(path="pkg/stats.py", first=10, last=10)
    assert changed.unit == "Box.size"
    assert changed.snippet == "    def size(self):\n        return self.width * self.width"
    assert changed.others == ()
    # outside of any unit
    top = applied(snapshot, [bug(1)], erratum(1, "correct", "primary", "pkg/stats.py:1-1")).bugs[0]
    assert top.unit is None
    assert top.snippet.startswith("import os\n")
    assert top.others == bug(1).others


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (
            erratum(11),
            "row 'demo:000000000011-1', withdraw, 2026-12-02: the reference set has no such bug; "
            "correct or remove the row; did you mean 'demo:000000000001-1'?",
        ),
        (
            erratum(1, "correct", "primary", "pkg/stat.py:1-2"),
            "row 'demo:000000000001-1', correct primary, 2026-12-02: the snapshot has no file "
            "pkg/stat.py; correct or remove the row",
        ),
        (
            erratum(1, "correct", "primary", "pkg/stats.py:9-11"),
            "row 'demo:000000000001-1', correct primary, 2026-12-02: pkg/stats.py has 10 lines in "
            "the snapshot; correct or remove the row",
        ),
    ],
)
def test_a_row_that_names_nothing_is_one_line(snapshot, row, expected):
    with pytest.raises(ConfigError) as caught:
        applied(snapshot, [bug(1)], row)
    assert str(caught.value) == f"config/errata.tsv: {expected}"


def test_version_and_hash_identify_the_file(snapshot, tmp_path):
    history = History(repo="demo", url="x", default_branch="main", t0="a" * 40, t1="b" * 40)
    infos = []
    for errata in ((), (erratum(1),), (erratum(1), erratum(2, "correct", "title", "T"))):
        sealed = applied(snapshot, [bug(1), bug(2)], *errata)
        write_jsonl(tmp_path / "bugs.jsonl", sealed.bugs)
        sha256 = hashlib.sha256((tmp_path / "bugs.jsonl").read_bytes()).hexdigest()
        assert file_sha256(tmp_path / "bugs.jsonl") == sha256
        infos.append(reference_info(history, sealed, "2026.1", sha256))
    assert [info.version for info in infos] == ["2026.1", "2026.1+1", "2026.1+2"]
    assert [(i.bugs, i.withdrawn, i.corrected) for i in infos] == [(2, 0, 0), (1, 1, 0), (1, 1, 1)]
    assert len({info.sha256 for info in infos}) == 3


NASTY = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r\n=1", " -x", "\x00=1", "\u2028@a"]


@pytest.mark.parametrize("text", NASTY)
def test_no_cell_is_taken_for_a_formula(text):
    assert safe_cell(text)[0] == "'"


def test_harmless_cells_stay_as_they_are():
    for text in ("", "a = b", "1 - 2", "Größe: 5 ≥ 3", "'quoted'"):
        assert safe_cell(text) == text
    assert safe_cell("one\r\ntwo\n\n  three\t!") == "one two three !"


@given(st.text())
def test_any_text_is_one_printable_line(text):
    cell = safe_cell(text)
    assert cell.isprintable()
    assert cell == cell.strip()
    assert not cell.startswith(("=", "+", "-", "@"))


def test_a_row_a_bug_survives_a_spreadsheet_s_reader(tmp_path):
    bugs = [
        bug(number, title=title, description=f'{title}\n\nMore, "quoted".', trigger=trigger)
        for number, (title, trigger) in enumerate(product(NASTY, (None, "x\ny")), 1)
    ]
    write_csv(tmp_path / "bugs.csv", BUG_COLUMNS, bug_rows(bugs))
    text = (tmp_path / "bugs.csv").read_text()
    assert text.count("\n") == len(bugs) + 1, "a row a line"
    rows = list(csv.DictReader(text.splitlines()))
    assert [row["id"] for row in rows] == [one.id for one in bugs]
    assert {(row["first_line"], row["last_line"], row["path"]) for row in rows} == {
        ("4", "5", "pkg/stats.py")
    }
    assert {row["trigger"] for row in rows} == {"", "x y"}
    assert rows[0]["description"] == '\'=1+1 More, "quoted".'
