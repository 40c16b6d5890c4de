import pytest
from audits_of import LATER, Case
from builders import HistoryBuilder

from probe.isolation.unknown import HEX, find_needles, learn, references
from probe.records import Candidate, Provenance

LINE = "        raise ValueError('the mean of no values is unknown')"


def candidate(commit, *added):
    return Candidate(
        id=f"{commit[:12]}-1", commit=commit, title="t", root_cause="", parent_locations=(),
        snapshot_locations=(), anchoring="lost", anchored_lines=0, faulty_lines=0,
        suggested_fix="--- a/x\n+++ b/x\n-old\n" + "".join(f"+{line}\n" for line in added),
        provenance=Provenance.of_heuristic("1"),
    )  # fmt: skip


def test_the_window_is_learnt_and_the_past_is_not(case):
    unknown = learn(case.history.path, case.pins, [candidate(case.t1, LINE)], case.archive)
    assert unknown.commits == {case.t1[:7]: (case.t1,)}
    assert case.t0[:7] in unknown.old
    assert (unknown.last, unknown.newest, unknown.slug) == (42, 57, "ada/little")
    assert unknown.seen.numbers == {41, 120}
    assert [n.shown for found in unknown.needles.values() for n in found] == [LINE.strip()]


def test_lines_that_anyone_could_write_are_not_looked_for(tmp_path):
    long = "const measured = averageOfAllValues(values, weights);"
    case = Case(tmp_path, {"old.js": f"    {long}  // as ever\n"})
    shas = [f"{n:040x}" for n in (1, 2, 3)]
    everywhere = "if (values === undefined || values === null) return [];"
    fixes = [
        candidate(case.t1, "}", "return x", long, "import { aaaaaaaa, bbbbbbbb, cccccccc } from 'somewhere'"),
        *(candidate(sha, everywhere) for sha in shas),
    ]  # fmt: skip
    assert not learn(case.history.path, case.pins, fixes, case.archive).needles


def test_a_line_is_found_whatever_stands_around_it(case):
    needles = learn(case.history.path, case.pins, [candidate(case.t1, LINE)], case.archive).needles
    for shown in (
        LINE,
        f"+{LINE}",
        f"  12\t{LINE}",
        f"sums/core.py:3:{LINE} # later",
        LINE.replace(" ", "\t"),
    ):
        assert [needle.commit for needle in find_needles(shown, needles)] == [case.t1]
    assert not list(find_needles(LINE.replace("unknown", "known"), needles))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("fixes #12.", [(12, None)]),
        ("ada/little#12", [(12, "ada/little")]),
        ("https://github.com/Ada/Little/pull/12#issuecomment-1", [(12, "ada/little")]),
        ("see issues/12 and GH-13", [(12, None), (13, None)]),
        ("colour: #123abc; a&#39; x#7", []),
        ("#fff #1234567 version 1#2.3", []),
    ],
)
def test_references_to_issues(text, found):
    assert [(one.number, one.slug) for one in references(text)] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("commit 0414dbfe (HEAD)", ["0414dbfe"]),
        ("0414dbfe-4c64-4ce1-8290-ff0e491666db", []),  # a UUID
        ("sha256:" + "ab" * 32, []),
        ("x0414dbfe 0414dbfez aW50/0414dbfe= deadbeef. app.0414dbfe.js", ["deadbeef"]),
        ("1234567..89abcde", ["1234567", "89abcde"]),
        ("https://x.org/a/commit/0414dbfe#L1 v1.0414dbfe", ["0414dbfe"]),
    ],
)
def test_words_that_can_name_a_commit(text, found):
    assert HEX.findall(text) == found


def test_a_number_of_another_tracker_is_not_the_last(tmp_path):
    history = HistoryBuilder(tmp_path / "m.git")
    for number in (9, 38898, 30, 31, 32, 33):
        tip = history.commit({"a": str(number)}, f"Change (#{number})")
    case = Case(tmp_path / "c")
    pins = case.pins.model_copy(
        update={"t0": tip, "t1": history.commit({"a": "z"}, "x (#40)", date=LATER)}
    )
    unknown = learn(history.path, pins, [], case.archive)
    assert (unknown.last, unknown.newest) == (33, 40)


def test_a_project_without_numbers(tmp_path):
    history = HistoryBuilder(tmp_path / "m.git")
    t0 = history.commit({"a": "1"}, "Begin")
    case = Case(tmp_path / "c")
    pins = case.pins.model_copy(
        update={"t0": t0, "t1": history.commit({"a": "2"}, "Go on"), "url": "/srv/little"}
    )
    unknown = learn(history.path, pins, [], case.archive)
    assert (unknown.last, unknown.slug) == (None, "/little")


def test_a_line_without_an_end_is_read_in_one_go():
    # snakemake's tests have data in lines of a megabyte: looking back through all of it took minutes
    assert [one.number for one in references("a.b-c/" * 200_000 + " #12")] == [12]
