"""What a model is shown of a commit: bounded, valid, deterministic, the production files first."""

import pytest
from builders import HistoryBuilder, link, submodule
from classify_samples import GUARD, sample
from hypothesis import example, given, settings
from hypothesis import strategies as st

from probe.code.tokens import count_tokens
from probe.git.diff import CommitDiff
from probe.git.log import iter_history
from probe.reference.classify_text import clean, cut_middle, diff_text, statistics_text

LINES = st.lists(
    st.text(max_size=60) | st.sampled_from(["", "    return x", "é" * 40]), max_size=60
)
TEXTS = LINES.map("\n".join) | st.builds(
    lambda part, times: part * times, st.text(min_size=1, max_size=20), st.integers(1, 400)
)


@given(text=TEXTS, budget=st.integers(0, 300))
@example(text=" " * 60_000, budget=200)
@example(text="x=1;" * 20_000, budget=200)
@example(text="\n" * 20_000, budget=200)
@example(text="\U0001f41b" * 5_000, budget=50)
@settings(deadline=None)
def test_a_cut_text_never_exceeds_its_budget(text: str, budget: int) -> None:
    cut = cut_middle(text, budget)
    assert count_tokens(cut) <= budget
    assert cut == cut_middle(text, budget)
    if count_tokens(text) <= budget:
        assert cut == text


@given(text=TEXTS, budget=st.integers(60, 300))
@settings(deadline=None)
def test_a_cut_text_is_head_gap_and_tail(text: str, budget: int) -> None:
    cut = cut_middle(text, budget)
    if cut == text:
        return
    head, rest = cut.split("[... ", 1)
    note, tail = rest.split(" left out here ...]\n", 1)
    missing = int(note.split(" ", 1)[0])
    assert text.startswith((head, head.removesuffix("\n")))
    assert text.endswith(tail)
    kept = len(head) + len(tail)
    assert missing in (len(text) - kept, len(text) - kept + 1)
    assert missing > 0


def test_whole_lines_are_kept_and_the_gap_is_counted() -> None:
    lines = [f"line {number:04}" for number in range(1000)]
    cut = cut_middle("\n".join(lines), 300).split("\n")
    [gap] = [place for place, line in enumerate(cut) if line.startswith("[...")]
    head, tail = cut[:gap], cut[gap + 1 :]
    assert head == lines[: len(head)]
    assert tail == lines[-len(tail) :]
    lost = 1000 - len(head) - len(tail)
    assert cut[gap] == f"[... {lost * 10} characters in {lost} lines left out here ...]"
    assert len(tail) < len(head) < 3 * len(tail)


def test_a_line_that_fills_the_budget_alone_is_cut_inside() -> None:
    cut = cut_middle("short\n" + "word " * 5_000 + "\nlast", 200)
    assert cut.startswith("short\nword word ")
    assert cut.endswith("word \nlast")
    assert 150 < count_tokens(cut) <= 200


@given(st.text(st.characters(codec=None, categories=None)))
def test_clean_text_can_be_sent(text: str) -> None:
    cleaned = clean(text)
    assert cleaned.encode("utf-8").decode("utf-8") == cleaned
    assert not set(cleaned) & {chr(code) for code in range(32) if code not in (9, 10, 13)}


def test_a_small_repair_beside_a_huge_lock_file_is_seen() -> None:
    lock = ([f'"a{n}": "1"' for n in range(6500)], [f'"a{n}": "2"' for n in range(6500)])
    _, diff = sample("chore: update", {"a.lock": [lock], "lib/first.py": [GUARD], "z.json": [lock]})
    shown = cut_middle(diff_text(diff), 2_000)
    assert shown.startswith("--- a/lib/first.py\n+++ b/lib/first.py\n@@ -1,1 +1,3 @@\n")
    assert "+    if not items:" in shown


@pytest.fixture
def history(tmp_path):
    repo = HistoryBuilder(tmp_path / "repo")
    first = repo.commit(
        {"src/a.py": "def f(x):\n    return x\n", "src/old.py": "a\nb\nc\nd\n", "gone.txt": "x\n",
         "logo.png": b"\x89PNG\0\1", "lib": submodule("1" * 40), "odd.txt": b"caf\xe9\n"},
    )  # fmt: skip
    second = repo.commit(
        {"src/a.py": "def f(x):\n    return x + 1\n", "src/old.py": None, "src/new.py": "a\nb\nc\nD\n",
         "gone.txt": None, "logo.png": b"\x89PNG\0\2", "lib": submodule("2" * 40),
         "odd.txt": b"caf\xe9 \x01\x02\n", "tests/test_a.py": "assert f(1) == 2\n", "to": link("src")},
    )  # fmt: skip
    [(commit, diff)] = iter_history(repo.path, first, second)
    return commit, diff


def test_every_kind_of_change_is_shown(history) -> None:
    _, diff = history
    assert diff_text(diff) == (
        "--- a/src/a.py\n+++ b/src/a.py\n@@ -2,1 +2,1 @@ def f(x):\n"
        "-    return x\n+    return x + 1\n"
        "--- a/src/old.py\n+++ b/src/new.py\n@@ -4,1 +4,1 @@ c\n-d\n+D\n"
        "--- /dev/null\n+++ b/tests/test_a.py\n@@ -0,0 +1,1 @@\n+assert f(1) == 2\n"
        "--- a/gone.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n"
        "--- a/lib\n+++ b/lib\n[submodule pointer changed]\n"
        "--- a/logo.png\n+++ b/logo.png\n[binary file changed]\n"
        "--- a/odd.txt\n+++ b/odd.txt\n@@ -1,1 +1,1 @@\n-caf\ufffd\n+caf\ufffd \ufffd\ufffd\n"
        "--- /dev/null\n+++ b/to\n@@ -0,0 +1,1 @@\n+src"
    )


def test_statistics_name_every_path(history) -> None:
    commit, _ = history
    assert statistics_text(commit).split("\n") == [
        "8 files, +5 -4",
        "src/a.py +1 -1",
        "src/new.py +1 -1 (renamed from src/old.py)",
        "tests/test_a.py +1 -0 (new file)",
        "gone.txt +0 -1 (deleted)",
        "lib (submodule pointer)",
        "logo.png (binary)",
        "odd.txt +1 -1",
        "to +1 -0 (new file)",
    ]


def test_a_diff_that_is_not_there_says_so() -> None:
    missing = "[the diff cannot be read: its content is missing from the repository]"
    assert diff_text(None) == missing
    assert diff_text(CommitDiff("1" * 40, (), problem="a blob is gone")) == missing
    assert diff_text(CommitDiff("1" * 40, ())) == "[no content changes]"


def test_a_diff_that_was_cut_while_reading_says_so(tmp_path) -> None:
    repo = HistoryBuilder(tmp_path / "repo")
    first = repo.commit({"a.py": "x\n"})
    second = repo.commit({"a.py": "x\n" + "y\n" * 50})
    [(_, diff)] = iter_history(repo.path, first, second, max_file_lines=10)
    assert diff_text(diff).endswith("[further changes of this file are too many to show]")
