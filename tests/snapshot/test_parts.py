"""A pass in parts: nothing is lost, nothing is too long, and cuts are where a reader would make them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.code.tokens import count_tokens
from probe.snapshot.material import numbered
from probe.snapshot.parts import LEAST_ROOM, OVERLAP_LINES, NoPartError, line_costs, split_pass

LINES = st.one_of(
    st.text(st.characters(exclude_characters="\n"), max_size=60),
    st.sampled_from(
        ["", "    ", "def f(x):", "class A:", "    def g(self):", "        return 1", "\t"]
    ),
)
FILES = st.lists(st.lists(LINES, min_size=1, max_size=60).map("\n".join), min_size=1, max_size=4)


@given(FILES, st.integers(LEAST_ROOM, 1500))
def test_every_line_is_shown_and_no_part_is_too_long(texts, room):
    sources = {f"pkg/{number}.py": text for number, text in enumerate(texts)}
    parts = split_pass(sources, room)
    shown = {path: set() for path in sources}
    for part in parts:
        text = "".join(
            f"FILE: {piece.path}\n{piece.text(sources[piece.path])}\n\n" for piece in part
        )
        assert count_tokens(text) <= room
        assert len(part) == 1 or all(piece.whole for piece in part)
        for piece in part:
            new = set(range(piece.first + piece.repeated, piece.last + 1))
            assert new
            assert not new & shown[piece.path]
            assert piece.repeated <= OVERLAP_LINES
            shown[piece.path] |= new
            whole = numbered(sources[piece.path]).split("\n")
            lines = [line for line in piece.text(sources[piece.path]).split("\n") if "|" in line]
            assert set(whole[piece.first - 1 : piece.last]) <= set(lines)
    assert shown == {path: set(range(1, text.count("\n") + 2)) for path, text in sources.items()}
    assert [piece.path for part in parts for piece in part] == sorted(
        piece.path for part in parts for piece in part
    )


@given(st.lists(LINES, min_size=1, max_size=60).map("\n".join))
def test_the_tokens_of_lines_add_up_to_those_of_the_text(text):
    assert sum(line_costs(text)) == count_tokens(numbered(text) + "\n")


def module(functions: int, lines: int) -> str:
    """Functions of ``lines`` lines each, at the top of a file, one after another."""
    body = ["    total = total + 1 * 2 - 3 / 4"] * (lines - 2)
    return "\n".join(
        line for n in range(functions) for line in (f"def function_{n}(total):", *body, "")
    )


def test_a_long_file_is_cut_between_units_with_some_lines_twice():
    text = module(12, 30)
    parts = split_pass({"a.py": text}, 1500)
    assert len(parts) > 3
    assert {len(part) for part in parts} == {1}
    pieces = [part[0] for part in parts]
    lines = text.split("\n")
    for before, after in pairwise(pieces):
        assert lines[before.last].startswith("def ")
        assert after.first + after.repeated == before.last + 1
        assert after.repeated > 0
    assert pieces[0].text(text).endswith(f"\n(lines {pieces[0].last + 1} to 360 are not shown)")
    assert pieces[1].text(text).startswith(f"(lines 1 to {pieces[1].first - 1} are not shown)\n")


def test_a_class_is_cut_between_its_methods():
    body = "\n".join(f"    {line}" for line in module(12, 20).split("\n"))
    text = f"class Everything:\n{body}\n"
    pieces = [piece for [piece] in split_pass({"a.py": text}, 1200)]
    lines = text.split("\n")
    assert len(pieces) > 2
    assert all("def " in lines[piece.last] for piece in pieces[:-1])


def test_files_stay_whole_and_in_order_as_long_as_one_fits():
    sources = {f"{name}.py": module(1, 20) for name in "abcde"}
    parts = split_pass(sources, 900)
    assert [[piece.path for piece in part] for part in parts] == [
        ["a.py", "b.py"],
        ["c.py", "d.py"],
        ["e.py"],
    ]
    assert all(piece.whole for part in parts for piece in part)


def test_text_without_units_is_cut_all_the_same():
    text = "\n".join("some words of no language, " * 3 for _ in range(200))
    pieces = [piece for [piece] in split_pass({"notes.txt": text}, 1000)]
    assert len(pieces) > 3
    assert pieces[-1].last == 200


def test_what_cannot_be_cut_is_said():
    with pytest.raises(NoPartError, match=r"^a\.py:2 alone has \d+ tokens, but there is room for"):
        split_pass({"a.py": "x = 1\ny = '" + "word " * 900 + "'\n"}, 600)
    with pytest.raises(NoPartError, match="there is room for 0 tokens of files"):
        split_pass({"a.py": "x = 1"}, -5)
