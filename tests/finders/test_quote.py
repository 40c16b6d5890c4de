"""Lines that a model names, held against the text that it quotes."""

import pytest
from audits import Project, item
from hypothesis import assume, given
from hypothesis import strategies as st

from probe.errors import FinderError
from probe.finders.locate import SnapshotTree
from probe.finders.quote import MIN_QUOTE, Quoted, Span, check_quote, squeeze
from probe.finders.session import SessionEnd, read_items, session_result
from probe.models.base import NOT_SERVED
from probe.records import Provenance, Usage

SOURCE = """def load(path):
    with open(path) as stream:
        return parse(stream.read())


def load_all(paths):
    for path in paths:
        with open(path) as stream:
            yield parse(stream.read())
"""
FILE = squeeze(SOURCE.split("\n"))


@pytest.mark.parametrize(
    ("quote", "first", "last", "expected"),
    [
        ("        return parse(stream.read())", 3, 3, Quoted("agrees", None)),
        ("return   parse( stream.read() )", 2, 4, Quoted("agrees", None)),
        ("parse(stream.read())", 9, 9, Quoted("agrees", None)),
        ("for path in paths:", 2, 2, Quoted("moved", Span(7, 7))),
        ("for path in paths:", None, None, Quoted("moved", Span(7, 7))),
        ("for path in paths:", 7_000, 7_001, Quoted("moved", Span(7, 7))),
        ("with open(path) as stream:", 1, 1, Quoted("moved", Span(2, 2))),
        ("with open(path) as stream:", 7, 7, Quoted("moved", Span(8, 8))),
        ("with open(path) as stream:", None, None, Quoted("unknown", None)),
        ("path in\n\n paths", 1, 1, Quoted("moved", Span(7, 7))),
        ("7|    for path in paths:\n8|        with open(path)", 1, 1, Quoted("moved", Span(7, 8))),
        ("  7: for path in paths:", 1, 1, Quoted("moved", Span(7, 7))),
        ("-    for path in paths:", 1, 1, Quoted("moved", Span(7, 7))),
        ("```python\nfor path in paths:\n```", 1, 1, Quoted("moved", Span(7, 7))),
        ("def load_all(paths):\n    ...\n    yield parse(", 1, 1, Quoted("moved", Span(6, 9))),
        ("def load(path):\n# ...\nreturn nothing", 1, 1, Quoted("unknown", None)),
        ("for each in paths:", 2, 2, Quoted("unknown", None)),
        ("def", 5, 5, Quoted("unknown", None)),
        ("yield", 5, 5, Quoted("moved", Span(9, 9))),
        ("   \n", 2, 2, Quoted("unknown", None)),
        ("", 2, 2, Quoted("unknown", None)),
        ("...", 2, 2, Quoted("unknown", None)),
    ],
)
def test_the_quote_decides(quote, first, last, expected):
    assert check_quote(quote, FILE, first, last) == expected


TEXT = st.lists(st.text("ab{ \t.|-#", max_size=6), min_size=1, max_size=12)
PLAIN = st.lists(st.text("ab{ \t", max_size=6), min_size=1, max_size=12)


@given(PLAIN, st.data())
def test_what_is_copied_from_a_file_is_found_there(lines, data):
    first = data.draw(st.integers(1, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    quote = "\n".join(lines[first - 1 : last])
    assume(quote.strip())
    assert check_quote(quote, squeeze(lines), first, last) == Quoted("agrees", None)
    shifted = ["zz", *lines]
    moved = check_quote(quote, squeeze(shifted), 1, 1)
    if moved.outcome == "unknown":
        assert len("".join(quote.split())) < MIN_QUOTE
    else:
        assert moved.outcome == "moved"
        there = "".join("".join(shifted[moved.span.first - 1 : moved.span.last]).split())
        assert "".join(quote.split()) in there


@given(TEXT, st.text("ab{ \t.|-#\n", max_size=20), st.integers(-2, 20), st.integers(-2, 20))
def test_any_quote_leads_to_lines_of_the_file(lines, quote, first, last):
    found = check_quote(quote, squeeze(lines), first, last)
    assert (found.span is None) == (found.outcome != "moved")
    if found.span is not None:
        assert 1 <= found.span.first <= found.span.last <= len(lines)


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def placed(project, *items):
    """What becomes of an agent's items."""
    read, rejected = read_items({"findings": list(items)})
    context = project.context(project.session("http://127.0.0.1:1"))
    end = SessionEnd(
        "ok", None, Usage(), Provenance(engine="stub", engine_version=NOT_SERVED, probe_version="1"),
        0.0, read, rejected,
    )  # fmt: skip
    return session_result(context, SnapshotTree(project.root, project.rows), end)


def test_findings_are_placed_by_what_they_quote(project):
    result = placed(
        project,
        item(),
        item(first_line=5, last_line=5, title="Wrong line"),
        item(first_line=70, last_line=71, title="No such line"),
        item(snippet="return item[0]", title="Misquoted"),
        item(snippet="", title="No quote"),
        item(snippet="return sum(xs) /", first_line=6, last_line=6, title="Part of a line"),
    )
    assert [(one.title, one.first, one.last, one.placing) for one in result.findings] == [
        ("Misquoted", 2, 2, "as_reported"),
        ("No quote", 2, 2, "as_reported"),
        ("No such line", 2, 2, "relocated"),
        ("Wrong line", 2, 2, "relocated"),
        ("`first` fails on an empty list", 2, 2, "as_reported"),
        ("Part of a line", 6, 6, "as_reported"),
    ]
    assert {one.unit for one in result.findings} == {"first", "mean"}
    assert all(one.snippet in project.files["pkg/a.py"] for one in result.findings)
    assert result.oddities == {"quote_not_found": 1, "relocated": 2}
    assert result.rejected == ()


def test_what_is_in_no_place_is_rejected_and_counted(project):
    result = placed(
        project,
        item(path="pkg/none.py"),
        item(path="/etc/passwd"),
        item(path="/work/../etc/passwd"),
        item(path="../tree/pkg/a.py"),
        item(path=""),
        item(first_line=70, last_line=71, snippet="return nothing"),
        item(first_line=70, last_line=71, snippet=""),
    )
    assert [one.reason for one in result.rejected] == [
        "no_such_file", "outside_snapshot", "outside_snapshot", "outside_snapshot", "no_location",
        "no_such_line", "no_such_line",
    ]  # fmt: skip
    assert result.findings == ()
    assert result.oddities == {}


@pytest.mark.parametrize(
    "path",
    ["/work/pkg/a.py", "./pkg/a.py", "a/pkg/a.py", "b/pkg/a.py", "/work/./pkg/a.py", "`pkg/a.py`",
     "pkg/a.py:2", "pkg/a.py:2-3", "pkg/a.py#L2", "file:///work/pkg/a.py", "pkg/../pkg/a.py"],
)  # fmt: skip
def test_paths_are_read_as_agents_write_them(project, path):
    [found] = placed(project, item(path=path)).findings
    assert (found.path, found.first) == ("pkg/a.py", 2)


def test_a_real_folder_named_a_is_not_taken_for_a_diff(tmp_path):
    project = Project(tmp_path, {"a/x.py": "y = 1\n", "x.py": "z = 2\n"})
    [found] = placed(project, item(path="a/x.py", first_line=1, last_line=1, snippet="")).findings
    assert found.path == "a/x.py"


def test_findings_elsewhere_in_the_checkout_count_and_are_counted(project):
    result = placed(
        project, item(path="tests/test_a.py", first_line=3, last_line=3, snippet=""), item()
    )
    assert [one.path for one in result.findings] == ["pkg/a.py", "tests/test_a.py"]
    assert result.oddities == {"outside_pass": 1}


def test_items_of_half_an_answer_are_judged_one_by_one(project):
    broken = [item(confidence=1.5), {"path": "pkg/a.py"}, "pkg/a.py:2", item(severity="blocker")]
    result = placed(project, *broken, item())
    assert [one.title for one in result.findings] == ["`first` fails on an empty list"]
    assert [one.reason for one in result.rejected] == ["malformed"] * 4
    assert result.rejected[0].detail.startswith("confidence: ")
    assert result.oddities == {"malformed": 4}


@pytest.mark.parametrize("value", [None, [], "findings", {"bugs": []}, {"findings": {}}])
def test_an_answer_of_another_form_is_no_answer(value):
    with pytest.raises(FinderError, match="no object with a list 'findings'"):
        read_items(value)
