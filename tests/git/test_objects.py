from pathlib import Path

import pytest
from builders import HistoryBuilder, executable, link, submodule

from probe.errors import GitError
from probe.git.objects import ObjectReader, TreeEntry, list_tree


@pytest.fixture
def history(tmp_path: Path) -> HistoryBuilder:
    history = HistoryBuilder(tmp_path / "repo")
    history.commit(
        {
            "a b.txt": "one\n",
            "bin": b"\0\n\xff",
            "dir/run.sh": executable("#!\n"),
            "empty": "",
            "link": link("a b.txt"),
            "new\nline": "2\n",
            "sub": submodule("c" * 40),
            b"caf\xe9": "latin\n",
        }
    )
    return history


def test_list_tree(history: HistoryBuilder) -> None:
    entries = {entry.path: entry for entry in list_tree(history.path, "main")}
    assert entries["dir/run.sh"] == TreeEntry(
        "100755",
        "blob",
        history.git("rev-parse", "main:dir/run.sh").decode().strip(),
        3,
        "dir/run.sh",
    )
    assert entries["sub"] == TreeEntry("160000", "commit", "c" * 40, None, "sub")
    assert (entries["link"].mode, entries["link"].size) == ("120000", 7)
    assert entries["caf\\xe9"].size == 6
    assert len(entries) == 8


def test_read(history: HistoryBuilder) -> None:
    with ObjectReader(history.path) as reader:
        assert reader.read("main", "a b.txt") == b"one\n"
        assert reader.read("main", "bin") == b"\0\n\xff"
        assert reader.read("main", "empty") == b""
        assert reader.read("main", "link") == b"a b.txt"
        assert reader.read("main", "new\nline") == b"2\n"
        assert reader.read("main", "other\nline") is None
        assert reader.read("main", "caf\\xe9") == b"latin\n"


def test_what_is_no_file_is_none(history: HistoryBuilder) -> None:
    with ObjectReader(history.path) as reader:
        assert reader.read("main", "dir") is None
        assert reader.read("main", "sub") is None
        assert reader.read("main", "nothing here 12") is None
        assert reader.read("nowhere", "a b.txt") is None
        assert reader.blob("0" * 40) is None
        assert reader.blob(history.tip()) is None
        assert reader.read("main", "a b.txt") == b"one\n"


def test_missing_blobs_are_none(history: HistoryBuilder) -> None:
    sha = history.lose_blob("main", "a b.txt")
    with ObjectReader(history.path) as reader:
        assert reader.read("main", "a b.txt") is None
        assert reader.blob(sha) is None
    assert [e.size for e in list_tree(history.path, "main") if e.path == "a b.txt"] == [None]


def test_misuse_is_said_so(history: HistoryBuilder) -> None:
    with pytest.raises(GitError, match="with statement"):
        ObjectReader(history.path).blob("0" * 40)
    with pytest.raises(GitError, match="cat-file"), ObjectReader(history.path / "none") as reader:
        reader.blob("0" * 40)
    with pytest.raises(GitError, match="ls-tree"):
        list_tree(history.path, "nowhere")
