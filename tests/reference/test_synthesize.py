from pathlib import Path

import pytest
from builders import HistoryBuilder

from probe.code.paths import SourceScope
from probe.code.units import find_units
from probe.git.log import iter_window
from probe.git.objects import ObjectReader
from probe.records import Candidate, Dropped, Location, Report
from probe.reference.candidates import build_candidates
from probe.reference.mirror import Snapshot
from probe.reference.presences import judge_presences
from probe.reference.reports import write_reports
from probe.reference.synthesize import GAP, MAX_SNIPPET, cut_snippet, write_report
from probe.reference.titles import defect_title, plain_title


@pytest.mark.parametrize(
    ("subject", "title"),
    [
        ("fix(parser)!: handle truncated tables (#123)", "Does not handle truncated tables"),
        ("BUG: Fix KeyError when reading forms (#12)", "KeyError when reading forms"),
        ("[3.x] gh-99: properly close the file", "Does not properly close the file"),
        ("Fix crash on empty input, closes #7", "Crash on empty input"),
        (":bug: prevent double free", "Does not prevent double free"),
        ("fix: don't drop the last row", "Drops the last row"),
        ("fix: use floor instead of bitwise or", "Uses bitwise or"),
        ("fix: remove equal sign from comments", "Wrongly keeps equal sign from comments"),
        ("Fixed an issue where rows are lost", "Rows are lost"),
        ("fixed CONVERT round trip", "Wrong behaviour of CONVERT round trip"),
        ("hotfix #3", ""),
        ("🐛 解析错误 (#12)", "Wrong behaviour of 解析错误"),
        ("Merge commit from fork", ""),
        ("wide cells are no longer cut", "Wrongly: wide cells are cut"),
        ("Leave other lines alone", "Does not leave other lines alone"),
        ("Small fix for the schema of views", "Wrong behaviour of the schema of views"),
        ("Fixups", ""),
        ("refactor parsing of names", ""),
        ("update toolchain and fix abort handling", "Wrong behaviour of abort handling"),
        ("More robust date formats", "Lacks robust date formats"),
        ("Consistent range syntax parsing", "Lacks consistent range syntax parsing"),
        ("Week/quarter support", "Lacks week/quarter support"),
        ("Parsing of null engines", "Wrong parsing of null engines"),
        ("Parsing error of null engines", "Parsing error of null engines"),
        ("should return 304 for weak etags", "Does not return 304 for weak etags"),
        ("should not return a stale result", "Returns a stale result"),
        ("properly alias generated series", "Does not properly alias generated series"),
        ("Properly quoted names get lost", "Properly quoted names get lost"),
        ("the file will be lost on exit", "The file is lost on exit"),
        ("unnest_all loses rows [CLAUDE]", "unnest_all loses rows"),
        ("Don't retry a poll that is closed", "Retries a poll that is closed"),
        ("fix: do not try to be clever", "Tries to be clever"),
        ("never cached twice", "Wrongly: cached twice"),
        ("add support for half hours", "Does not support half hours"),
        ("add missing export to the index", "Lacks export in the index"),
        ("(fix): resume after a pause", "Does not resume after a pause"),
        ("joins has multiple issues fixes #51 (#52)", "Joins has multiple issues"),
        ("fix list with tabs", "Wrong behaviour of list with tabs"),
        ("fix ParseError in lists", "ParseError in lists"),
    ],
)
def test_titles_say_what_is_wrong(subject, title):
    assert defect_title(subject) == title


def test_plain_titles_keep_the_commit_s_own_words():
    assert plain_title("Fix(x)!: handle a and b (#1, #2)") == "handle a and b"
    assert plain_title("Merge commit from fork") == "Merge commit from fork"


def test_a_title_of_a_title_is_the_same():
    once = plain_title("fix(parser): handle truncated tables (#123)")
    assert plain_title(once) == once


LINES = [f"line_{n}" for n in range(1, 101)]


def place(first: int, last: int, path: str = "a.py") -> Location:
    return Location(path=path, first=first, last=last)


def test_a_snippet_has_context_and_stays_inside_the_file():
    assert cut_snippet(LINES, place(10, 11), None).split("\n") == LINES[6:14]
    assert cut_snippet(LINES, place(1, 1), None).split("\n") == LINES[:4]
    assert cut_snippet(LINES, place(100, 100), None).split("\n") == LINES[96:]


def test_a_snippet_shows_the_head_of_its_unit():
    text = "class A:\n    def run(\n        self,\n    ):\n" + "".join(
        f"        step_{n}()\n" for n in range(20)
    )
    unit = find_units("python", text.encode(), [20])[-1]
    lines = cut_snippet(text.splitlines(), place(20, 20), unit).split("\n")
    assert lines[:4] == ["    def run(", "        self,", "    ):", GAP]
    assert lines[4:] == [f"        step_{n}()" for n in range(12, 19)]


def test_a_snippet_is_bounded():
    lines = cut_snippet(LINES, place(5, 95), None).split("\n")
    assert len(lines) == MAX_SNIPPET + 1
    assert lines[-1] == GAP


@pytest.fixture
def history(tmp_path: Path) -> HistoryBuilder:
    return HistoryBuilder(tmp_path / "repo")


OLD = "class Reader:\n    def rows(self, x):\n        total = x.one + x.two\n        return total\n"


def reported(history: HistoryBuilder, new: str, message: str) -> tuple[Candidate, Report]:
    t0 = history.commit({"a.py": OLD})
    fix = history.commit({"a.py": new}, message)
    fixes = list(iter_window(history.path, t0, fix))
    candidates, _ = build_candidates(history.path, t0, fix, fixes, SourceScope())
    presences = judge_presences(history.path, t0, candidates)
    (report,), _ = write_reports(history.path, t0, candidates, presences)
    return candidates[0], report


def test_a_report_cites_the_snapshot_and_never_the_fix(history):
    candidate, report = reported(
        history, OLD.replace("+", "-"), "fix(reader): add rows up correctly (#42)\n\nCloses #41."
    )
    assert report.candidate == candidate.id
    assert (report.unit, report.primary) == ("Reader.rows", place(3, 3))
    assert report.title == "Does not add rows up correctly"
    assert report.description == (
        "Does not add rows up correctly. The code at line 3 of `Reader.rows` in a.py behaves this way."
    )
    assert (
        report.snippet
        == "    def rows(self, x):\n        total = x.one + x.two\n        return total"
    )
    assert report.severity == "medium"
    assert "x.one - x.two" in report.suggested_fix
    shown = report.title + report.description + report.snippet
    assert not any(
        word in shown for word in ("#42", "#41", "fix", candidate.commit[:7], "x.one - x")
    )


def test_an_additive_fix_is_framed_as_an_omission(history):
    _, report = reported(
        history,
        OLD.replace("        return", "        check(total)\n        return"),
        "fix: reject negative totals",
    )
    assert report.title == "Does not reject negative totals"
    assert report.description.endswith(
        "`Reader.rows` in a.py lacks the code for this case near lines 3-4."
    )


def test_a_subject_that_only_says_that_it_fixes_is_replaced(history):
    _, report = reported(history, OLD.replace("+", "-"), "hotfix")
    assert report.title == "Wrong behaviour in `Reader.rows`"


def test_a_candidate_without_a_place_gives_no_report(history):
    candidate, _ = reported(history, OLD.replace("+", "-"), "fix: it")
    t0 = history.git("rev-list", "--max-parents=0", "HEAD").decode().strip()
    with ObjectReader(history.path) as reader:
        snapshot = Snapshot(history.path, t0, SourceScope(), reader)
        for places in ((), (place(99, 99),), (place(1, 1, "none.py"),)):
            lost = candidate.model_copy(update={"snapshot_locations": places})
            found = write_report(lost, snapshot)
            assert found == Dropped(
                commit=candidate.commit,
                stage="synthesize",
                candidate=candidate.id,
                reason="no place in the snapshot",
            )


def test_only_kept_candidates_are_written_up(history):
    candidate, _ = reported(history, OLD.replace("+", "-"), "fix: it")
    t0 = history.git("rev-list", "--max-parents=0", "HEAD").decode().strip()
    assert write_reports(history.path, t0, [candidate], []) == ([], [])


NEWER = OLD.replace("return total", "return clamp_total(total)")


@pytest.mark.parametrize(
    ("message", "title"),
    [
        ("fix: keep the sign with clamp_total", "Does not keep the sign"),
        ("fix: use clamp_total", "Wrong behaviour in `Reader.rows`"),
        ("fix: rows, see `clamp_total()`", "Wrong behaviour of rows"),
        ("Fix rows of Reader (#12)", "Wrong behaviour of rows of Reader"),
    ],
)
def test_a_title_never_has_a_name_of_the_fix(history, message, title):
    _, report = reported(history, NEWER, message)
    assert report.title in {title, "Wrong behaviour in `Reader.rows`"}
    assert "clamp_total" not in report.title + report.description
    assert report.leaks == ()


def test_a_name_that_the_snapshot_has_anywhere_stays(history):
    history.commit({"docs/names.md": "Use clamp_total.\n"})
    _, report = reported(history, NEWER, "fix: keep the sign with clamp_total")
    assert report.title == "Does not keep the sign with clamp_total"


def test_a_subject_that_says_nothing_of_an_omission_is_replaced(history):
    new = OLD.replace("        return", "        check(total)\n        return")
    _, report = reported(history, new, "hotfix")
    assert report.title == "Missing case in `Reader.rows`"
