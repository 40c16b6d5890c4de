import hashlib
from itertools import count
from pathlib import Path

import pytest
from builders import HistoryBuilder

from probe.git.ignored import IGNORE_FILES, Ignored, read_ignored


@pytest.fixture
def history(tmp_path: Path) -> HistoryBuilder:
    return HistoryBuilder(tmp_path / "repo")


def test_entries_are_taken_one_by_one(history: HistoryBuilder) -> None:
    first = history.commit({"a": "1\n"})
    second = history.commit({"a": "2\n"})
    third = history.commit({"a": "3\n"})
    blob = history.git("rev-parse", f"{third}:a").decode().strip()
    text = (
        f"\ufeff# Formatter\r\n{first}\r\n\n  {second[:10]}  # black\n{'0' * 40}\n"
        f"{blob}\n{third.upper()} ruff\nmain\nnot a hash\n"
    )
    tip = history.commit({".git-blame-ignore-revs": text})
    found = read_ignored(history.path, tip)
    assert found.revs == {first, second, third}
    assert found.files == (".git-blame-ignore-revs",)
    assert found.shortened == 1
    assert found.unknown == ("0" * 40, blob, "main", "not")


def test_several_lists_are_joined(history: HistoryBuilder) -> None:
    shas = [history.commit({"a": f"{n}\n"}) for n in range(len(IGNORE_FILES))]
    tip = history.commit({name: f"{sha}\n" for name, sha in zip(IGNORE_FILES, shas, strict=True)})
    assert read_ignored(history.path, tip) == Ignored(frozenset(shas), IGNORE_FILES)


def test_no_list_is_no_error(history: HistoryBuilder) -> None:
    assert read_ignored(history.path, history.commit({"a": "1\n"})) == Ignored()


def test_an_ambiguous_hash_is_unknown(history: HistoryBuilder) -> None:
    tree = history.git("mktree").decode().strip()
    seen: dict[str, bytes] = {}
    for number in count():  # two of 65,536 are equal among a few hundred
        person = f"A <a@example.org> {number} +0000"
        raw = f"tree {tree}\nauthor {person}\ncommitter {person}\n\n".encode()
        start = hashlib.sha1(b"commit %d\0" % len(raw) + raw).hexdigest()[:4]
        if start in seen:
            break
        seen[start] = raw
    for commit in (seen[start], raw):
        history.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=commit)
    tip = history.commit({".git-blame-ignore-revs": f"{start}\n"})
    assert read_ignored(history.path, tip) == Ignored(
        frozenset(), (".git-blame-ignore-revs",), 0, (start,)
    )
