"""The patch parser against content made to look like a patch."""

import tempfile
from io import BytesIO
from pathlib import Path

import pytest
from builders import Content, HistoryBuilder, executable, link, submodule
from hypothesis import given, settings
from hypothesis import strategies as st

from probe.errors import GitError
from probe.git.diff import CommitDiff, FileDiff, Hunk
from probe.git.log import diff_between, iter_diffs
from probe.git.patch import LINE_BYTES, parse_raw, read_blocks


@pytest.fixture
def history(tmp_path: Path) -> HistoryBuilder:
    return HistoryBuilder(tmp_path / "repo")


def diff_of(history: HistoryBuilder, sha: str, **options: int) -> CommitDiff:
    (diff,) = iter_diffs(history.path, [sha], **options)  # type: ignore[arg-type]
    assert diff.sha == sha
    return diff


def only_file(history: HistoryBuilder, before: Content, after: Content) -> FileDiff:
    history.commit({"f": before})
    (file,) = diff_of(history, history.commit({"f": after})).files
    return file


def test_hunks_have_git_numbers(history: HistoryBuilder) -> None:
    file = only_file(history, "a\nb\nc\nd\n", "0\na\nc\nD\n")
    assert file.hunks == (
        Hunk(0, 0, 1, 1, (), ("0",)),
        Hunk(2, 1, 2, 0, ("b",), (), "a"),
        Hunk(4, 1, 4, 1, ("d",), ("D",), "c"),
    )
    assert (file.change.added, file.change.deleted) == (2, 2)


@pytest.mark.parametrize(
    "content",
    [
        "-- a/x\n++ b/x\n@@ -1 +1 @@\n",
        "diff --git a/f b/f\n= 0000\n",
        "\\ No newline at end of file\n",
        "Binary files a and b differ\n",
        ":100644 100644 a b M\tf\n",
    ],
)
def test_content_that_looks_like_a_patch_stays_content(
    history: HistoryBuilder, content: str
) -> None:
    lines = tuple(content.splitlines())
    assert only_file(history, "x\n", content).hunks == (Hunk(1, 1, 1, len(lines), ("x",), lines),)
    assert only_file(history, content, "x\n").hunks == (Hunk(1, len(lines), 1, 1, lines, ("x",)),)


def test_a_missing_last_newline_is_no_line(history: HistoryBuilder) -> None:
    assert only_file(history, "a", "b").hunks == (Hunk(1, 1, 1, 1, ("a",), ("b",)),)
    assert only_file(history, "a\n", "a").hunks == (Hunk(1, 1, 1, 1, ("a",), ("a",)),)
    assert only_file(history, "a", "a\nb").hunks == (Hunk(1, 1, 1, 2, ("a",), ("a", "b")),)


def test_carriage_returns_belong_to_the_line(history: HistoryBuilder) -> None:
    file = only_file(history, b"a\r\nb\rc\n", b"a\nb\rd\n")
    assert file.hunks == (Hunk(1, 2, 1, 2, ("a\r", "b\rc"), ("a", "b\rd")),)


def test_bytes_that_are_not_utf8_are_replaced(history: HistoryBuilder) -> None:
    file = only_file(history, b"caf\xe9\n", b"caf\xc3\n\xa9\n")
    assert file.hunks[0].removed == ("caf�",)
    assert file.hunks[0].added == ("caf�", "�")


def test_unusual_paths(history: HistoryBuilder) -> None:
    history.commit({"seed": "1"})
    names: dict[str | bytes, Content] = {
        'tab\tnew\nline"': "1\n",
        "ä b.py": "1\n",
        b"caf\xe9.py": "1\n",
        "a => b": "1\n",
    }
    diff = diff_of(history, history.commit(names))
    assert {file.change.path for file in diff.files} == {
        'tab\tnew\nline"',
        "ä b.py",
        "caf\\xe9.py",
        "a => b",
    }
    assert all(file.hunks for file in diff.files)


def test_binary_files_have_no_counts(history: HistoryBuilder) -> None:
    file = only_file(history, b"\0\1", b"\0\2")
    assert file.change.binary
    assert file.change.added is None
    assert file.hunks == ()


def test_a_text_attribute_in_the_tree_does_not_hide_a_change(history: HistoryBuilder) -> None:
    history.commit({".gitattributes": "* -diff\n", "f": "1\n"})
    (file,) = diff_of(history, history.commit({"f": "2\n"})).files
    assert file.hunks == (Hunk(1, 1, 1, 1, ("1",), ("2",)),)


def test_modes_links_submodules_and_empty_files(history: HistoryBuilder) -> None:
    history.commit({"run": "1\n", "link": link("run"), "sub": submodule("a" * 40), "void": ""})
    sha = history.commit(
        {
            "run": executable("1\n"),
            "link": "now a file\n",
            "sub": submodule("b" * 40),
            "void": None,
            "empty": "",
        }
    )
    files = {file.change.path: file for file in diff_of(history, sha).files}
    assert (files["run"].change.status, files["run"].hunks) == ("M", ())
    assert files["run"].change.added == 0
    assert files["link"].change.status == "T"
    assert [hunk.removed or hunk.added for hunk in files["link"].hunks] == [
        ("run",),
        ("now a file",),
    ]
    assert files["sub"].change.submodule
    assert (files["sub"].change.added, files["sub"].hunks) == (None, ())


def test_a_pure_rename_and_a_changed_one(history: HistoryBuilder) -> None:
    text = "".join(f"line {n}\n" for n in range(20))
    history.commit({"old.py": text, "same.py": text * 2})
    history.rename("same.py", "moved.py")
    sha = history.rename("old.py", "new.py", text + "more\n")
    (file,) = diff_of(history, sha).files
    assert (file.change.status, file.change.old_path) == ("R", "old.py")
    assert file.hunks == (Hunk(20, 0, 21, 1, (), ("more",), "line 19"),)


def test_root_empty_and_merge_commits(history: HistoryBuilder) -> None:
    root = history.commit({"a": "1\n"})
    empty = history.commit()
    history.branch("topic")
    history.commit({"t": "1\n"})
    history.switch("main")
    history.commit({"m": "1\n"})
    merge = history.merge("topic")
    diffs = list(iter_diffs(history.path, [merge, empty, root]))
    assert [diff.sha for diff in diffs] == [merge, empty, root]
    assert [[file.change.path for file in diff.files] for diff in diffs] == [["t"], [], ["a"]]


def test_huge_files_are_cut_but_counted(history: HistoryBuilder) -> None:
    history.commit({"seed": ""})
    long = 100 * LINE_BYTES - 2  # the sign and the line's end count too
    sha = history.commit(
        {"big": "x\n" * 500, "small": "y\n", "wide": "w" * long, "z" * 50: "z" * 2_000_000}
    )
    files = {file.change.path: file for file in diff_of(history, sha, max_file_lines=100).files}
    assert (files["big"].cut, files["big"].hunks, files["big"].change.added) == (True, (), 500)
    assert files["small"].hunks
    assert len(files["wide"].hunks[0].added[0]) == long
    bundle = files["z" * 50]
    assert (bundle.cut, bundle.hunks, bundle.change.added) == (True, (), 1)


def test_a_commit_of_many_files_is_cut_as_a_whole(history: HistoryBuilder) -> None:
    history.commit({"seed": ""})
    sha = history.commit({f"f{n:02}": "x\n" * 10 for n in range(30)})
    diff = diff_of(history, sha, max_file_lines=10)
    kept = [file for file in diff.files if not file.cut]
    assert len(kept) == 25
    assert all(file.change.added == 10 for file in diff.files)


def test_cutting_reads_over_a_missing_newline(history: HistoryBuilder) -> None:
    history.commit({"f": "a\n" * 50 + "end", "g": "1\n"})
    sha = history.commit({"f": "b\n" * 50 + "END", "g": "2\n"})
    first, second = diff_of(history, sha, max_file_lines=10).files
    assert first.cut
    assert second.hunks == (Hunk(1, 1, 1, 1, ("1",), ("2",)),)


def test_any_two_commits_can_be_compared(history: HistoryBuilder) -> None:
    first = history.commit({"f": "1\n"})
    history.commit({"f": "2\n"})
    third = history.commit({"f": "3\n"})
    diff = diff_between(history.path, first, third)
    assert diff.files[0].hunks == (Hunk(1, 1, 1, 1, ("1",), ("3",)),)


@pytest.mark.parametrize(
    "line", [b":100644 M\tx\n", b":100644 100644 a b M\n", b":100644 100644 a b R1\ta\tb\tc\td\te"]
)
def test_malformed_raw_lines_are_errors(line: bytes) -> None:
    with pytest.raises(GitError, match="raw line"):
        parse_raw(line if line.count(b"\t") < 3 else line.replace(b"\t", b" "))


HEADER = b"a" * 40 + b"\0\0" + b"1\0" + b"1\0s\0b\0\n\n"
ENTRY = b":100644 100644 a b M\tf\n\ndiff --git a/f b/f\n--- a/f\n+++ b/f\n"
MARK = b"= " + b"a" * 40 + b"\n"


@pytest.mark.parametrize(
    ("printed", "problem"),
    [
        (HEADER + ENTRY + b"@@ -1 +1 @@\n-a\n b\n" + MARK, "start with"),
        (HEADER + ENTRY + b"@@ nonsense @@\n" + MARK, "hunk header"),
        (HEADER + b"nonsense\n" + MARK, "cannot read the line"),
        (HEADER + b"= " + b"b" * 40 + b"\n", "mark"),
        (HEADER + b":100644 100644 a b M\tf\n" + MARK, "1 changed paths but 0 diffs"),
        (HEADER + b"diff --git a/f b/f\n" + MARK, "0 changed paths but 1 diffs"),
    ],
)
def test_output_unlike_gits_is_an_error(printed: bytes, problem: str) -> None:
    with pytest.raises(GitError, match=problem):
        list(read_blocks(BytesIO(printed), max_file_lines=100))


def test_every_cut_of_the_stream_ends_before_the_cut_commit() -> None:
    whole = HEADER + ENTRY + b"@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n" + MARK
    for length in range(len(whole)):
        blocks = list(read_blocks(BytesIO(whole + whole[:length]), max_file_lines=100))
        assert len(blocks) == 1


LINES = st.lists(
    st.sampled_from([b"a", b"b", b"", b"-- x", b"++ y", b"@@ -1 +1 @@", b"\r", b"\xff", b"\\ No"]),
    max_size=8,
)


def rebuilt(old: list[str], hunks: tuple[Hunk, ...]) -> list[str]:
    """Apply hunks to lines, by their numbers alone."""
    new: list[str] = []
    at = 0
    for hunk in hunks:
        start = hunk.old_start - 1 if hunk.old_count else hunk.old_start
        new += old[at:start]
        assert tuple(old[start : start + hunk.old_count]) == hunk.removed
        assert len(new) == (hunk.new_start - 1 if hunk.new_count else hunk.new_start)
        new += hunk.added
        at = start + hunk.old_count
    return new + old[at:]


@settings(max_examples=10, deadline=None)
@given(st.lists(st.tuples(LINES, LINES, st.booleans(), st.booleans()), min_size=8, max_size=8))
def test_hunks_lead_from_old_to_new(
    cases: list[tuple[list[bytes], list[bytes], bool, bool]],
) -> None:
    def content(lines: list[bytes], ended: bool) -> bytes:
        return b"\n".join(lines) + (b"\n" if ended and lines else b"")

    def shown(raw: bytes) -> list[str]:
        lines = raw.decode(errors="replace").split("\n")
        return lines[:-1] if lines[-1] == "" else lines

    before = {f"f{n}": content(old, ended) for n, (old, _, ended, _) in enumerate(cases)}
    after = {f"f{n}": content(new, ended) for n, (_, new, _, ended) in enumerate(cases)}
    with tempfile.TemporaryDirectory() as folder:
        history = HistoryBuilder(Path(folder) / "repo")
        history.commit(dict(before))
        diff = diff_of(history, history.commit(dict(after)))
    for file in diff.files:
        path = file.change.path
        assert rebuilt(shown(before[path]), file.hunks) == shown(after[path])
    changed = {file.change.path for file in diff.files}
    assert changed == {path for path in before if before[path] != after[path]}
