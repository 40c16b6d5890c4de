import os
from pathlib import Path

import pytest
from builders import HistoryBuilder

from probe.errors import GitError
from probe.git.process import git_environment, pipe_git, run_git, stream_git


@pytest.fixture
def history(tmp_path: Path) -> HistoryBuilder:
    history = HistoryBuilder(tmp_path / "repo")
    history.commit({"a": "1\n"})
    return history


def test_an_error_is_one_line_with_gits_own_words(history: HistoryBuilder) -> None:
    with pytest.raises(GitError) as caught:
        run_git(history.path, "rev-parse", "--verify", "nonsense")
    assert "fatal: Needed a single revision" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_stream_checks_the_exit_code_after_the_body(history: HistoryBuilder) -> None:
    read = []
    with (
        pytest.raises(GitError, match="cat-file"),
        stream_git(history.path, "cat-file", "--batch-check=%(nonsense)") as stream,
    ):
        read += stream.readlines()
        read.append(b"read to the end")
    assert read == [b"read to the end"]


def test_much_input_and_much_output_do_not_wait_for_each_other(history: HistoryBuilder) -> None:
    fed = b"HEAD\n" * 20_000
    with stream_git(history.path, "cat-file", "--batch-check", stdin=fed) as stream:
        lines = stream.readlines()
    assert len(lines) == 20_000


def test_leaving_a_stream_early_kills_git(history: HistoryBuilder) -> None:
    fed = b"HEAD\n" * 20_000

    def first_line() -> bytes:
        with stream_git(history.path, "cat-file", "--batch-check", stdin=fed) as stream:
            line = stream.readline()
            raise KeyboardInterrupt(line)

    with pytest.raises(KeyboardInterrupt):
        first_line()


def test_the_users_settings_do_not_count(
    history: HistoryBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "gitconfig"
    settings.write_text("[probe]\n\tvalue = theirs\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    command = ("config", "--default=none", "--get", "probe.value")
    assert run_git(history.path, *command) == b"none\n"
    assert run_git(history.path, *command, user_config=True) == b"theirs\n"


def test_the_environment_forbids_prompts_and_lazy_fetches() -> None:
    environment = git_environment()
    assert environment["GIT_TERMINAL_PROMPT"] == "0"
    assert environment["GIT_NO_LAZY_FETCH"] == "1"
    assert environment["PATH"] == os.environ["PATH"]


def test_git_missing_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="install git"):
        run_git(None, "version")


def test_either_end_of_a_pipe_may_fail(history: HistoryBuilder, tmp_path: Path) -> None:
    other = HistoryBuilder(tmp_path / "other")
    with pytest.raises(GitError, match="pack-objects"):
        pipe_git(
            (history.path, "pack-objects", "--stdout", "--quiet"),
            (other.path, "index-pack", "--stdin"),
            stdin=b"0" * 40 + b"\n",
        )
    with pytest.raises(GitError, match="index-pack"):
        pipe_git(
            (history.path, "rev-parse", "HEAD"),
            (other.path, "index-pack", "--stdin"),
            stdin=b"",
        )
