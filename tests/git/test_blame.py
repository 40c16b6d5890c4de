from pathlib import Path

import pytest
from builders import HistoryBuilder
from hypothesis import given
from hypothesis import strategies as st

from probe.errors import GitError
from probe.git.blame import BlamedLine, blame, parse_porcelain
from probe.git.carry import carry_line, shift_line
from probe.git.diff import Hunk

BODY = [f"value_{n} = compute({n})\n" for n in range(12)]


@pytest.fixture
def history(tmp_path: Path) -> HistoryBuilder:
    return HistoryBuilder(tmp_path / "repo")


def test_lines_of_the_boundary_and_of_the_window(history: HistoryBuilder) -> None:
    old = history.commit({"f.py": "a = 1\nb = 2\n"})
    start = history.commit({"g.py": ""})
    new = history.commit({"f.py": "new = 0\na = 1\nb = 3\n"})
    assert old != start
    assert blame(history.path, new, "f.py", boundary=start) == [
        BlamedLine(1, new, False, "f.py", 1),
        BlamedLine(2, start, True, "f.py", 1),
        BlamedLine(3, new, False, "f.py", 3),
    ]


def test_renames_and_white_space_are_seen_through(history: HistoryBuilder) -> None:
    start = history.commit({"old name.py": "".join(BODY)})
    history.rename("old name.py", "ä.py")
    end = history.commit({"ä.py": "".join("    " + line for line in BODY)})
    lines = blame(history.path, end, "ä.py", boundary=start, ranges=[(3, 4), (4, 5)])
    assert lines == [BlamedLine(n, start, True, "old name.py", n) for n in (3, 4, 5)]


def test_paths_that_are_not_utf8(history: HistoryBuilder) -> None:
    start = history.commit({b"caf\xe9.py": "1\n"})
    end = history.commit({b"caf\xe9.py": "1\n2\n"})
    assert blame(history.path, end, "caf\\xe9.py", boundary=start)[0] == BlamedLine(
        1, start, True, "caf\\xe9.py", 1
    )


def test_a_line_from_before_an_old_fork_is_carried_to_the_boundary(
    history: HistoryBuilder,
) -> None:
    fork = history.commit({"f.py": "".join(BODY)})
    history.branch("stable")
    stable = history.commit({"f.py": "".join([*BODY, "stable = 1\n"])})
    history.switch("main")
    history.rename("f.py", "moved.py", "".join(["first = 0\n", *BODY[:5], "changed\n", *BODY[6:]]))
    start = history.tip()
    lines = {b.line: b for b in blame(history.path, stable, "f.py", boundary=start)}
    assert lines[1] == BlamedLine(1, start, True, "moved.py", 2)
    assert lines[6] == BlamedLine(6, fork, False, "f.py", 6)
    assert lines[7] == BlamedLine(7, start, True, "moved.py", 8)
    assert lines[13] == BlamedLine(13, stable, False, "f.py", 13)


def test_a_commit_older_than_the_boundary_is_carried_forward(history: HistoryBuilder) -> None:
    old = history.commit({"f.py": "a = 1\nb = 2\n"})
    start = history.commit({"f.py": "first = 0\na = 1\nb = 3\n"})
    assert blame(history.path, old, "f.py", boundary=start) == [
        BlamedLine(1, start, True, "f.py", 2),
        BlamedLine(2, old, False, "f.py", 2),
    ]


def test_no_ranges_means_no_lines(history: HistoryBuilder) -> None:
    start = history.commit({"f.py": "1\n"})
    end = history.commit({"f.py": "2\n"})
    assert blame(history.path, end, "f.py", boundary=start, ranges=[]) == []


def test_what_cannot_be_blamed_is_one_line(history: HistoryBuilder) -> None:
    start = history.commit({"f.py": "1\n"})
    end = history.commit({"f.py": "2\n"})
    with pytest.raises(GitError, match=r"nothing\.py at .*no such path") as caught:
        blame(history.path, end, "nothing.py", boundary=start)
    assert "\n" not in str(caught.value)
    with pytest.raises(GitError, match="has only 1 line"):
        blame(history.path, end, "f.py", boundary=start, ranges=[(5, 6)])


def test_a_blob_missing_elsewhere_does_not_matter(history: HistoryBuilder) -> None:
    start = history.commit({"f.py": "1\n", "big": "v0\n"})
    middle = history.commit({"f.py": "1\n2\n", "big": "v1\n"})
    end = history.commit({"f.py": "1\n2\n3\n"})
    history.lose_blob(middle, "big")
    lines = blame(history.path, end, "f.py", boundary=start)
    assert [line.commit for line in lines] == [start, middle, end]


def test_a_missing_blob_on_the_way_is_an_error(history: HistoryBuilder) -> None:
    start = history.commit({"f.py": "1\n"})
    middle = history.commit({"f.py": "1\n2\n"})
    end = history.commit({"f.py": "1\n2\n3\n"})
    history.lose_blob(middle, "f.py")
    with pytest.raises(GitError, match=r"f\.py at .*cannot be blamed"):
        blame(history.path, end, "f.py", boundary=start)


@pytest.mark.parametrize(("line", "moved"), [(1, 2), (2, None), (3, 3), (4, 4), (5, 7), (6, 8)])
def test_shift_line(line: int, moved: int | None) -> None:
    hunks = (
        Hunk(0, 0, 1, 1, (), ("new",)),
        Hunk(2, 1, 2, 0, ("gone",), ()),
        Hunk(4, 0, 5, 2, (), ("p", "q")),
    )
    assert shift_line(hunks, line) == moved


def test_carry_line(history: HistoryBuilder) -> None:
    old = history.commit({"kept": "1\n", "gone": "1\n"})
    new = history.commit({"gone": None})
    assert carry_line(history.path, old, new, "kept", 1) == ("kept", 1)
    assert carry_line(history.path, old, new, "gone", 1) is None
    assert carry_line(history.path, old, old, "gone", 1) == ("gone", 1)


SHAS = ["a" * 40, "b" * 40, "c" * 64]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(SHAS), st.integers(1, 9), st.binary(max_size=9), st.sampled_from("xyä")
        ),
        max_size=12,
    ),
    st.sets(st.sampled_from(SHAS)),
)
def test_porcelain_round_trip(lines: list[tuple[str, int, bytes, str]], edges: set[str]) -> None:
    """Whatever the content, and although facts are printed once a commit."""
    printed: list[bytes] = []
    shown: dict[str, str] = {}
    for number, (sha, source, content, path) in enumerate(lines, 1):
        printed.append(f"{sha} {source} {number} 1".encode())
        if sha not in shown:
            printed += [b"author A", b"summary boundary"]
            printed += [b"boundary"] if sha in edges else []
        if shown.get(sha) != path:
            quoted = {"ä": b'"\\303\\244"'}.get(path, path.encode())
            printed += [b"previous " + b"d" * 40 + b" p", b"filename " + quoted]
            shown[sha] = path
        printed.append(b"\t" + content.replace(b"\n", b""))
    assert parse_porcelain([*printed, b""]) == [
        BlamedLine(number, sha, sha in edges, path, source)
        for number, (sha, source, _, path) in enumerate(lines, 1)
    ]


@given(st.lists(st.binary(max_size=30).filter(lambda line: b"\n" not in line), max_size=6))
def test_any_other_text_is_an_error_or_nothing(lines: list[bytes]) -> None:
    try:
        found = parse_porcelain(lines)
    except GitError as error:
        assert "git blame" in str(error)
    else:
        assert found == []
