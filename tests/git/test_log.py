from datetime import UTC, datetime
from pathlib import Path

import pytest
from builders import HistoryBuilder, submodule

from probe.errors import GitError
from probe.git import log
from probe.git.log import iter_diffs, iter_history, iter_window
from probe.git.times import commit_time
from probe.records import Commit, FileChange


@pytest.fixture
def history(tmp_path: Path) -> HistoryBuilder:
    return HistoryBuilder(tmp_path / "repo")


def window(history: HistoryBuilder, t0: str) -> list[Commit]:
    return list(iter_window(history.path, t0, history.tip("main")))


def test_a_commit_record_in_full(history: HistoryBuilder) -> None:
    start = history.commit({"a.py": "1\n2\n", "b": "x\n"})
    sha = history.commit(
        {"a.py": "1\n3\n4\n", "b": None},
        "fix: count\nfrom three\n\nBecause.\n\nCloses #1\n",
        date="2024-05-01T12:00:00+02:00",
        committer_date="2024-05-02T00:00:00+00:00",
    )
    assert window(history, start) == [
        Commit(
            sha=sha,
            position=0,
            step=sha,
            parents=(start,),
            author_time=datetime(2024, 5, 1, 10, tzinfo=UTC),
            committer_time=datetime(2024, 5, 2, tzinfo=UTC),
            subject="fix: count from three",
            body="Because.\n\nCloses #1",
            files=(
                FileChange(path="a.py", status="M", added=2, deleted=1),
                FileChange(path="b", status="D", added=0, deleted=1),
            ),
        )
    ]


def test_merges_are_no_members_and_squashes_are(history: HistoryBuilder) -> None:
    start = history.commit({"a": "0\n"})
    history.branch("topic")
    member = history.commit({"t": "1\n"}, "Merge commit from fork")
    history.switch("main")
    merge = history.merge("topic", message="fix: not a member")
    squash = history.commit({"s": "1\n"}, "Merge pull request #7\n\n* fix one\n* fix two")
    commits = window(history, start)
    assert [(c.sha, c.position, c.step) for c in commits] == [
        (member, 0, merge),
        (squash, 1, squash),
    ]
    assert commits[0].subject == "Merge commit from fork"


def test_a_later_end_only_appends(history: HistoryBuilder) -> None:
    start = history.commit({"a": "0\n"})
    history.branch("topic", at=start)
    history.commit({"t": "1\n"}, date="2030-01-01")
    history.switch("main")
    history.commit({"a": "1\n"})
    history.merge("topic")
    before = window(history, start)
    history.switch("topic")
    history.commit({"t": "2\n"}, date="2001-01-01")
    history.switch("main")
    history.merge("topic")
    after = window(history, start)
    assert after[: len(before)] == before
    assert len(after) == len(before) + 1


def test_empty_submodule_and_root_commits(history: HistoryBuilder) -> None:
    start = history.commit({"a": "0\n", "sub": submodule("a" * 40)})
    empty = history.commit(message="ci: again")
    pointer = history.commit({"sub": submodule("b" * 40)}, "fix: bump")
    history.orphan("vendored")
    root = history.commit({"lib/x.js": "1\n"}, "Squashed 'json/' content")
    history.switch("main")
    history.merge("vendored")
    commits = window(history, start)
    assert [c.sha for c in commits] == [empty, pointer, root]
    assert commits[0].files == ()
    assert commits[1].files == (
        FileChange(path="sub", status="M", added=None, deleted=None, submodule=True),
    )
    assert commits[2].parents == ()
    assert commits[2].files == (FileChange(path="lib/x.js", status="A", added=1, deleted=0),)


def test_text_in_any_encoding_becomes_a_record(history: HistoryBuilder) -> None:
    start = history.commit({"a": "0\n"})
    history.commit({b"caf\xe9": b"\xe9\n"}, b"caf\xe9\n\nbody \xff\r\nmore")
    (commit,) = window(history, start)
    assert commit.subject == "caf�"
    assert commit.body == "body �\r\nmore"
    assert commit.files[0].path == "caf\\xe9"
    assert Commit.model_validate_json(commit.model_dump_json()) == commit


def test_no_message_and_strange_dates(history: HistoryBuilder) -> None:
    start = history.commit({"a": "0\n"})
    history.commit({"a": "1\n"}, "", date="1970-01-01", committer_date="9999-12-31")
    (commit,) = window(history, start)
    assert (commit.subject, commit.body) == ("", "")
    assert commit.author_time == datetime(1970, 1, 1, tzinfo=UTC)
    assert commit.committer_time.year == 9999


def test_a_date_beyond_the_calendar_becomes_the_epoch() -> None:
    assert commit_time(b"99999999999999999") == datetime(1970, 1, 1, tzinfo=UTC)
    assert commit_time(b"") == datetime(1970, 1, 1, tzinfo=UTC)


def test_the_rename_limit_is_noticed(
    history: HistoryBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "RENAME_LIMIT", 2)
    monkeypatch.setattr(log, "_DIFF", (*log._DIFF[:-1], "-l2"))
    text = ["".join(f"{n} line {k}\n" for k in range(20)) for n in range(3)]
    start = history.commit({f"old{n}": text[n] for n in range(3)})
    two = {f"old{n}": None for n in range(2)} | {f"mid{n}": text[n] + "x\n" for n in range(2)}
    history.commit(two)
    gone = {"mid0": None, "mid1": None, "old2": None}
    history.commit(gone | {f"new{n}": text[n] + "y\n" for n in range(3)})
    within, beyond = window(history, start)
    assert [file.status for file in within.files] == ["R", "R"]
    assert not within.renames_limited
    assert sorted(file.status for file in beyond.files) == ["A", "A", "A", "D", "D", "D"]
    assert beyond.renames_limited


def test_one_pass_equals_two(history: HistoryBuilder) -> None:
    start = history.commit({"a": "0\n" * 30})
    history.commit({"b": "1\n"})
    history.rename("a", "c", "0\n" * 31)
    end = history.commit({"b": b"\0"})
    commits = window(history, start)
    diffs = list(iter_diffs(history.path, [commit.sha for commit in commits]))
    assert list(iter_history(history.path, start, end)) == list(zip(commits, diffs, strict=True))
    assert all(
        tuple(file.change for file in diff.files) == commit.files
        for commit, diff in zip(commits, diffs, strict=True)
    )


def test_another_algorithm_gives_the_same_files(history: HistoryBuilder) -> None:
    start = history.commit({"a": "}\n\n}\n"})
    end = history.commit({"a": "}\n\n{\n}\n\n}\n"})
    (commit,) = window(history, start)
    (diff,) = iter_diffs(history.path, [end], algorithm="histogram")
    assert [file.change.path for file in diff.files] == [file.path for file in commit.files]


def test_unknown_commits_are_errors(history: HistoryBuilder) -> None:
    history.commit({"a": "0\n"})
    with pytest.raises(GitError):
        list(iter_diffs(history.path, ["1" * 40]))
    assert list(iter_diffs(history.path, [])) == []


def test_many_commits_come_in_order_from_any_number_of_processes(
    history: HistoryBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "_RUN", 2)
    shas = [history.commit({"a": f"{n}\n"}) for n in range(11)]
    for count in (1, 2, 3, 8):
        monkeypatch.setattr(log, "available_processors", lambda count=count: count)
        diffs = list(iter_diffs(history.path, shas))
        assert [diff.sha for diff in diffs] == shas
        assert [diff.files[0].hunks[0].added for diff in diffs] == [(f"{n}",) for n in range(11)]
    history.lose_blob(shas[5], "a")
    marks = [diff.missing for diff in iter_diffs(history.path, shas)]
    assert marks == [n in (5, 6) for n in range(11)]


def test_a_reader_that_stops_early_leaves_no_process(history: HistoryBuilder) -> None:
    shas = [history.commit({"a": f"{n}\n"}) for n in range(3)]
    diffs = iter_diffs(history.path, shas)
    assert next(diffs).sha == shas[0]
    diffs.close()  # type: ignore[attr-defined]
    assert list(diffs) == []


class TestMissingBlobs:
    """A mirror of a partial clone: git dies half-way, the list may not."""

    @pytest.fixture
    def damaged(self, history: HistoryBuilder) -> list[str]:
        text = "".join(f"line {n}\n" for n in range(20))
        shas = [history.commit({"code.py": "1\n", "old.py": text, "big.bin": "v0\n"})]
        shas.append(history.commit({"code.py": "2\n"}))
        moved = {"old.py": None, "new.py": text + "more\n"}
        shas.append(history.commit({"big.bin": "v1\n", "code.py": "3\n", **moved}))
        shas.append(history.commit({"big.bin": "v2\n"}))
        shas.append(history.commit({"code.py": "4\n"}))
        history.lose_blob(shas[2], "big.bin")
        return shas

    def test_the_window_is_whole_and_marked(
        self, history: HistoryBuilder, damaged: list[str]
    ) -> None:
        commits = window(history, damaged[0])
        assert [commit.sha for commit in commits] == damaged[1:]
        assert [commit.truncated for commit in commits] == [False, True, True, False]
        assert [commit.unread for commit in commits] == [
            "", "blobs are missing: big.bin", "blobs are missing: big.bin", "",
        ]  # fmt: skip
        assert commits[1].files == (
            FileChange(path="big.bin", status="M", added=None, deleted=None, binary=True),
            FileChange(path="code.py", status="M", added=1, deleted=1),
            FileChange(path="new.py", old_path="old.py", status="R", added=1, deleted=0),
        )

    def test_the_other_files_keep_their_hunks(
        self, history: HistoryBuilder, damaged: list[str]
    ) -> None:
        diffs = list(iter_diffs(history.path, reversed(damaged)))
        assert [diff.sha for diff in diffs] == damaged[::-1]
        assert [diff.missing for diff in diffs] == [False, True, True, False, False]
        by_path = {file.change.path: file for file in diffs[2].files}
        assert by_path["big.bin"].hunks == ()
        assert by_path["code.py"].hunks[0].added == ("3",)
        assert by_path["new.py"].hunks[0].added == ("more",)

    def test_one_pass_equals_two_here_too(
        self, history: HistoryBuilder, damaged: list[str]
    ) -> None:
        pairs = list(iter_history(history.path, damaged[0], damaged[-1]))
        assert [commit for commit, _ in pairs] == window(history, damaged[0])

    def test_a_missing_blob_in_an_odd_place(self, history: HistoryBuilder) -> None:
        history.commit({"seed": "1\n"})
        sha = history.commit({b":(top)\xe9*": "lost\n", "kept": "1\n"})
        name = history.git("ls-tree", "--object-only", sha).decode().split()[0]
        (history.path / "objects" / name[:2] / name[2:]).unlink()
        (diff,) = iter_diffs(history.path, [sha])
        assert diff.missing
        assert [(file.change.path, len(file.hunks)) for file in diff.files] == [
            (":(top)\\xe9*", 0),
            ("kept", 1),
        ]

    def test_a_missing_tree_leaves_the_message(self, history: HistoryBuilder) -> None:
        start = history.commit({"d/a": "1\n"})
        end = history.commit({"d/a": "2\n"})
        tree = history.git("rev-parse", f"{end}:d").decode().strip()
        (history.path / "objects" / tree[:2] / tree[2:]).unlink()
        (commit,) = iter_window(history.path, start, end)
        assert (commit.sha, commit.subject, commit.files) == (end, "Change", ())
        assert commit.truncated
        assert tree in commit.unread
        (diff,) = iter_diffs(history.path, [end])
        assert (diff.missing, diff.listed) == (True, False)
