"""A git that fails over one commit: that one is named, the others are as before."""

from pathlib import Path

import pytest
from badgit import calls, wrap_git
from builders import HistoryBuilder

from probe.errors import GitError
from probe.git.blame import blame
from probe.git.log import iter_diffs, iter_window
from probe.git.objects import ObjectReader


@pytest.fixture
def history(tmp_path: Path) -> HistoryBuilder:
    return HistoryBuilder(tmp_path / "repo")


@pytest.fixture
def shas(history: HistoryBuilder) -> list[str]:
    return [history.commit({"a.py": f"x = {n}\n"}, f"Say {n}") for n in range(6)]


def test_the_window_keeps_the_commit_with_its_message(history, shas, tmp_path, monkeypatch):
    before = list(iter_window(history.path, shas[0], shas[-1]))
    wrap_git(tmp_path, monkeypatch, "diff-tree", over=shas[3])
    commits = list(iter_window(history.path, shas[0], shas[-1]))
    assert [c.sha for c in commits] == shas[1:]
    assert [c for c in commits if c.sha != shas[3]] == [c for c in before if c.sha != shas[3]]
    failed = commits[2]
    assert (failed.subject, failed.files, failed.truncated) == ("Say 3", (), True)
    assert failed.unread.endswith("fatal: broken on purpose")
    assert failed.author_time == before[2].author_time


def test_diffs_keep_the_commit(history, shas, tmp_path, monkeypatch):
    before = list(iter_diffs(history.path, shas))
    wrap_git(tmp_path, monkeypatch, "diff-tree", over=shas[5])
    diffs = list(iter_diffs(history.path, shas))
    assert diffs[:5] == before[:5]
    assert (diffs[5].sha, diffs[5].missing, diffs[5].listed) == (shas[5], True, False)


def test_contents_that_cannot_be_diffed_are_listed(history, shas, tmp_path, monkeypatch):
    """git lists the paths, and dies over their contents: an object's file is damaged."""
    blob = history.git("rev-parse", f"{shas[2]}:a.py").decode().strip()
    path = history.path / "objects" / blob[:2] / blob[2:]
    path.chmod(0o644)
    path.write_bytes(b"no object")
    diffs = {diff.sha: diff for diff in iter_diffs(history.path, shas)}
    assert [diffs[sha].missing for sha in shas] == [False, False, True, True, False, False]
    assert diffs[shas[2]].listed
    assert [file.change.path for file in diffs[shas[2]].files] == ["a.py"]


def test_a_commit_without_even_a_message_is_an_error(history, shas, tmp_path, monkeypatch):
    wrap_git(tmp_path, monkeypatch, "diff-tree log", over=shas[3])
    with pytest.raises(GitError, match="broken on purpose"):
        list(iter_window(history.path, shas[0], shas[-1]))


def test_a_failure_that_is_no_commit_s_fault_is_an_error(history, shas):
    with pytest.raises(GitError, match="diff-algorithm"):
        list(iter_diffs(history.path, shas, algorithm="astrology"))


def test_files_behind_the_failure_are_read_all_the_same(history, shas, tmp_path, monkeypatch):
    log = wrap_git(tmp_path, monkeypatch, "cat-file", over=shas[3])
    with ObjectReader(history.path) as reader:
        found = [reader.read(sha, "a.py") for sha in shas]
    assert found == [None if n == 3 else f"x = {n}\n".encode() for n in range(6)]
    assert len(reader.failures) == 1
    assert shas[3] in reader.failures[0]
    assert calls(log)["cat-file"] == 2


def test_blame_of_one_revision_fails_alone(history, shas, tmp_path, monkeypatch):
    wrap_git(tmp_path, monkeypatch, "blame", over=shas[3])
    with pytest.raises(GitError, match=r"a\.py at .*: cannot be blamed: .*broken on purpose"):
        blame(history.path, shas[3], "a.py", boundary=shas[0])
    assert blame(history.path, shas[4], "a.py", boundary=shas[0])[0].commit == shas[4]


def test_processes_do_not_grow_with_commits(history, shas, tmp_path, monkeypatch):
    log = wrap_git(tmp_path, monkeypatch)
    list(iter_window(history.path, shas[0], shas[2]))
    few = calls(log)
    log.write_text("")
    list(iter_window(history.path, shas[0], shas[5]))
    assert calls(log) == few
