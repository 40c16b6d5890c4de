import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from builders import HistoryBuilder

from probe.errors import GitError
from probe.git.log import iter_window
from probe.git.mirror import check_local, fetch_mirror, forget_mirror, is_pinned
from probe.git.process import run_git
from probe.records import History


class Case:
    """A source with dated commits and a mirror to be made of it."""

    def __init__(self, folder: Path) -> None:
        self.source = HistoryBuilder(folder / "source")
        self.mirror = folder / "results" / "demo" / "history.git"
        self.dated = [
            self.source.commit({"a": f"{day}\n"}, date=f"2024-03-{day:02}T12:00:00")
            for day in (1, 5, 9)
        ]

    def fetch(self, t0: str, t1: str, url: str | None = None, branch: str | None = None) -> History:
        where = str(self.source.path) if url is None else url
        return fetch_mirror(where, self.mirror, t0=t0, t1=t1, branch=branch, repo="demo")

    def refused(self, t0: str, t1: str, branch: str | None = None) -> str:
        """The one line that both the mirror and the early check say."""
        url = str(self.source.path)
        with pytest.raises(GitError) as late:
            self.fetch(t0, t1, branch=branch)
        with pytest.raises(GitError) as early:
            check_local(url, t0, t1, branch, "demo")
        assert str(early.value) == str(late.value)
        assert str(late.value).startswith("demo: ")
        assert "\n" not in str(late.value)
        return str(late.value)


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path)


class TestPins:
    def test_dates_mean_the_last_commit_before_that_day(self, case: Case) -> None:
        first, second, third = case.dated
        history = case.fetch("2024-03-05", "2024-03-09")
        assert (history.t0, history.t1) == (first, second)
        assert history.default_branch == "main"
        assert history.url == str(case.source.path)
        assert case.fetch("2024-03-06", "2030-01-01").t1 == third
        check_local(str(case.source.path), "2024-03-06", "2030-01-01", None, "demo")

    def test_midnight_itself_is_not_before(self, case: Case) -> None:
        at_midnight = case.source.commit({"a": "x"}, date="2024-03-12T00:00:00")
        assert case.fetch("2024-03-05", "2024-03-12").t1 == case.dated[-1]
        assert case.fetch("2024-03-05", "2024-03-13").t1 == at_midnight

    def test_commits_full_or_abbreviated(self, case: Case) -> None:
        first, _, third = case.dated
        history = case.fetch(first, third[:8].upper())
        assert (history.t0, history.t1) == (first, third)

    def test_the_dates_of_merged_branches_do_not_count(self, case: Case) -> None:
        case.source.branch("topic")
        case.source.commit({"t": "1"}, date="2024-03-10")
        case.source.switch("main")
        merge = case.source.merge("topic", date="2024-04-01")
        history = case.fetch("2024-03-11", merge)
        assert history.t0 == case.dated[-1]

    def test_a_branch_that_was_rewritten_changes_nothing(self, case: Case) -> None:
        before = case.fetch("2024-03-05", "2024-04-01")
        case.source.git("update-ref", "refs/heads/main", case.dated[0])
        case.source.git("prune", "--expire=now")
        assert case.fetch("2024-03-05", "2024-04-01") == before
        assert len(list(iter_window(case.mirror, before.t0, before.t1))) == 2

    def test_a_pinned_row_needs_no_source(self, case: Case) -> None:
        before = case.fetch("2024-03-05", "2024-03-09")
        shutil.rmtree(case.source.path)
        assert case.fetch("2024-03-05", "2024-03-09") == before
        with pytest.raises(GitError, match="no such folder"):
            case.fetch("2024-03-05", "2024-03-10")

    def test_a_later_end_fetches_more_and_keeps_the_start(self, case: Case) -> None:
        before = case.fetch("2024-03-05", "2024-03-09")
        newest = case.source.commit({"a": "new"}, date="2024-03-20")
        after = case.fetch("2024-03-05", newest)
        assert (after.t0, after.t1) == (before.t0, newest)
        commits = list(iter_window(case.mirror, after.t0, after.t1))
        assert [commit.sha for commit in commits] == [*case.dated[1:], newest]

    def test_another_source_is_not_answered_with_old_pins(self, case: Case, tmp_path: Path) -> None:
        before = case.fetch("2024-03-05", "2024-03-09")
        other = HistoryBuilder(tmp_path / "other")
        shas = [other.commit({"b": f"{day}"}, date=f"2024-03-0{day}") for day in (2, 7)]
        after = case.fetch("2024-03-05", "2024-03-09", url=str(other.path))
        assert [after.t0, after.t1] == shas
        assert case.fetch("2024-03-05", "2024-03-09") == before

    def test_a_branch_by_name(self, case: Case) -> None:
        case.source.branch("stable", at=case.dated[1])
        end = case.source.commit({"s": "1"}, date="2024-05-01")
        history = case.fetch("2024-03-05", "2024-06-01", branch="stable")
        assert (history.t1, history.default_branch) == (end, "stable")

    def test_only_the_branch_comes_and_no_tags(self, case: Case) -> None:
        case.source.git("tag", "v1", case.dated[0])
        case.source.branch("huge")
        stray = case.source.commit({"h": "1"})
        case.fetch("2024-03-05", "2024-03-09")
        names = run_git(case.mirror, "for-each-ref", "--format=%(refname)").decode().split()
        assert "refs/heads/main" in names
        assert not [name for name in names if "tags" in name or "huge" in name]
        with pytest.raises(GitError):
            run_git(case.mirror, "cat-file", "-e", stray)

    def test_what_a_killed_git_left_behind_is_removed(self, case: Case) -> None:
        case.fetch("2024-03-05", "2024-03-09")
        for name in ("HEAD.lock", "refs/heads/main.lock", "objects/info/commit-graph.lock"):
            (case.mirror / name).write_text("")
        assert case.fetch("2024-03-05", "2024-03-10").t1 == case.dated[-1]

    def test_two_processes_wait_for_each_other(self, case: Case) -> None:
        code = (
            "import sys; from pathlib import Path; from probe.git.mirror import fetch_mirror; "
            "print(fetch_mirror(sys.argv[1], Path(sys.argv[2]), t0='2024-03-05', "
            "t1='2024-03-09', repo='demo').t1)"
        )
        command = [sys.executable, "-c", code, str(case.source.path), str(case.mirror)]
        started = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(3)]
        answers = [process.communicate()[0].decode().strip() for process in started]
        assert answers == [case.dated[1]] * 3


class TestSources:
    def test_a_repository_with_a_work_tree(self, case: Case, tmp_path: Path) -> None:
        tree = tmp_path / "tree"
        subprocess.run(["git", "clone", "-q", str(case.source.path), str(tree)], check=True)
        assert case.fetch("2024-03-05", "2024-03-09", url=f"{tree}/").t1 == case.dated[1]
        check_local(str(tree), "2024-03-05", "2024-03-09", None, "demo")
        subprocess.run(
            ["git", "worktree", "add", "-q", "-b", "w", "../linked"], cwd=tree, check=True
        )
        linked = str(tmp_path / "linked")
        check_local(linked, "2024-03-05", "2024-03-09", "main", "demo")

    def test_paths_in_any_form(
        self, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("HOME", str(tmp_path))
        for url in ("source", "./source", "~/source", f"file://{case.source.path}"):
            assert case.fetch("2024-03-05", "2024-03-09", url=url).url == str(case.source.path)

    def test_bare_bones_without_a_config_file(self, case: Case) -> None:
        for name in ("config", "description", "info", "hooks", "branches"):
            path = case.source.path / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        case.source.git("pack-refs", "--all")
        assert case.fetch("2024-03-05", "2024-03-09").t1 == case.dated[1]

    def test_a_bundle(self, case: Case, tmp_path: Path) -> None:
        bundle = tmp_path / "demo.bundle"
        case.source.git("bundle", "create", "-q", str(bundle), "HEAD", "main")
        url = str(bundle)
        assert case.fetch("2024-03-05", "2024-03-09", url=url, branch="main").t1 == case.dated[1]
        check_local(url, "2024-03-05", "2024-03-09", None, "demo")

    def test_a_remote(self, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        url = remote(case, tmp_path, monkeypatch)
        history = case.fetch("2024-03-05", "2024-03-09", url=url)
        assert (history.t1, history.url) == (case.dated[1], f"host:{case.source.path}")
        check_local(url, "nonsense", "nonsense", None, "demo")

    def test_a_shallow_remote(
        self, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        url = remote(case, tmp_path, monkeypatch)
        (case.source.path / "shallow").write_text(case.dated[1] + "\n")
        with pytest.raises(GitError, match=r"demo: host:.*: a shallow clone"):
            case.fetch("2024-03-08", "2024-03-10", url=url)

    def test_credentials_are_not_shown(self, case: Case) -> None:
        with pytest.raises(
            GitError, match=r"demo: https://127\.0\.0\.1:9/x: cannot be reached"
        ) as e:
            case.fetch("2024-03-05", "2024-03-09", url="https://ada:secret@127.0.0.1:9/x")
        assert "secret" not in str(e.value)
        assert "\n" not in str(e.value)

    def test_blobs_missing_at_the_source(self, case: Case) -> None:
        lost = case.source.lose_blob(case.dated[1], "a")
        history = case.fetch("2024-03-05", "2024-03-10")
        assert history.missing_blobs == 1
        commits = list(iter_window(case.mirror, history.t0, history.t1))
        assert [commit.truncated for commit in commits] == [True, True]
        assert case.fetch("2024-03-05", "2024-03-10") == history
        newest = case.source.commit({"a": "new"}, date="2024-03-20")
        assert case.fetch("2024-03-05", newest).missing_blobs == 1
        assert (
            lost
            not in run_git(case.mirror, "cat-file", "--batch-all-objects", "--batch-check").decode()
        )

    def test_a_blob_missing_before_the_window_does_not_count(self, case: Case) -> None:
        case.source.lose_blob(case.dated[0], "a")
        history = case.fetch("2024-03-06", "2024-03-10")
        assert history.missing_blobs == 0


class TestRefusals:
    def test_dates_outside_the_history(self, case: Case) -> None:
        assert "before the first commit of branch main (2024-03-01)" in case.refused(
            "2024-03-01", "2024-03-09"
        )
        assert "T0 2024-03-20: after the last commit of branch main (2024-03-09)" in case.refused(
            "2024-03-20", "2024-04-01"
        )

    def test_backward_windows(self, case: Case) -> None:
        assert "T1 " + case.dated[0][:12] + " (2024-03-01) comes before T0" in case.refused(
            case.dated[1], case.dated[0]
        )
        assert "comes before" in case.refused("2024-03-09", "2024-03-05")

    def test_what_names_no_commit(self, case: Case) -> None:
        assert "T0 f00f00f: no such commit on branch main" in case.refused("f00f00f", "2024-03-09")
        assert "T1 v1.0: neither a commit nor a date" in case.refused("2024-03-09", "v1.0")
        assert "T1 2024-02-31: no such day" in case.refused("2024-03-09", "2024-02-31")
        blob = case.source.git("rev-parse", "main:a").decode().strip()
        assert "no such commit" in case.refused(blob, "2024-03-09")

    def test_commits_off_the_line(self, case: Case) -> None:
        case.source.branch("topic")
        member = case.source.commit({"t": "1"})
        case.source.switch("main")
        case.source.merge("topic")
        assert "not on the first-parent line of branch main" in case.refused(
            member, case.source.tip()
        )

    def test_repositories_that_are_none(self, case: Case, tmp_path: Path) -> None:
        for url, problem in [
            (tmp_path / "nowhere", "no such folder"),
            (tmp_path, "not a git repository"),
        ]:
            with pytest.raises(GitError, match=f"demo: {url}: {problem}"):
                case.fetch("2024-03-05", "2024-03-09", url=str(url))
            with pytest.raises(GitError, match=problem):
                check_local(str(url), "2024-03-05", "2024-03-09", None, "demo")

    def test_a_folder_inside_a_repository_is_none(self, case: Case, tmp_path: Path) -> None:
        tree = tmp_path / "tree"
        subprocess.run(["git", "clone", "-q", str(case.source.path), str(tree)], check=True)
        (tree / "inner").mkdir()
        with pytest.raises(GitError, match="not a git repository"):
            check_local(str(tree / "inner"), "2024-03-05", "2024-03-09", None, "demo")

    def test_an_empty_repository(self, case: Case, tmp_path: Path) -> None:
        case.source = HistoryBuilder(tmp_path / "empty")
        assert "an empty repository" in case.refused("2024-03-05", "2024-03-09")

    def test_a_shallow_clone(self, case: Case) -> None:
        (case.source.path / "shallow").write_text(case.dated[1] + "\n")
        assert "a shallow clone" in case.refused("2024-03-08", "2024-03-10")

    def test_branches(self, case: Case) -> None:
        assert "no branch 'gone'; set branch to one of: main" in case.refused(
            "2024-03-05", "2024-03-09", branch="gone"
        )
        case.source.git("symbolic-ref", "HEAD", "refs/heads/gone")
        assert "set branch, one of: main" in case.refused("2024-03-05", "2024-03-09")
        case.source.git("update-ref", "--no-deref", "HEAD", case.dated[0])
        assert "HEAD is detached" in case.refused("2024-03-05", "2024-03-09")
        assert case.fetch("2024-03-05", "2024-03-09", branch="main").t1 == case.dated[1]

    def test_a_mirror_that_cannot_be_written(self, case: Case, tmp_path: Path) -> None:
        (tmp_path / "results").write_text("a file where a folder should be")
        with pytest.raises(GitError, match="cannot write"):
            case.fetch("2024-03-05", "2024-03-09")


def remote(case: Case, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A URL of the source that goes through git's ssh transport, with a shell as the far side."""
    shell = folder / "ssh"
    shell.write_text('#!/bin/sh\nwhile [ "$1" != host ]; do shift; done\nshift\nexec sh -c "$*"\n')
    shell.chmod(0o755)
    monkeypatch.setenv("GIT_SSH", str(shell))
    return f"host:{case.source.path}"


def test_pins_are_known_and_forgotten_with_their_mirror(tmp_path):
    history = HistoryBuilder(tmp_path / "origin.git")
    first = history.commit({"a.py": "x = 1\n"}, "one")
    last = history.commit({"a.py": "x = 2\n"}, "two")
    url, mirror = str(history.path), tmp_path / "history.git"
    ends = {"t0": first, "t1": last, "branch": None}
    assert not is_pinned(url, mirror, **ends)
    fetch_mirror(url, mirror, repo="x", **ends)
    assert is_pinned(url, mirror, **ends)
    assert not is_pinned(url, mirror, t0=first, t1="2030-01-01", branch=None)
    forget_mirror(mirror)
    assert not is_pinned(url, mirror, **ends)
    forget_mirror(mirror)
    assert fetch_mirror(url, mirror, repo="x", **ends).t1 == last
