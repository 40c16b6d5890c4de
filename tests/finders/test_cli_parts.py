"""Parts of the command-line agents' finder that need no agent: answers, checks, the install."""

import json
import shutil

import pytest
from audits import item
from cli_audits import LISTED
from hypothesis import given
from hypothesis import strategies as st

from probe.config import ModelEntry
from probe.errors import ConfigError, FinderError, ModelError
from probe.finders import cli_install
from probe.finders.base import tools_of
from probe.finders.cli import open_ledger
from probe.finders.cli_answer import read_answer
from probe.finders.cli_base import parse_events, urls
from probe.finders.cli_check import check_cli, check_cli_model, tool_of
from probe.finders.cli_install import agents_folder, install_agents, tool_version

GOOD = json.dumps({"findings": [item()]})
OPENAI = ModelEntry(litellm_id="openai/gpt")


@given(before=st.text(max_size=20), after=st.text(max_size=20))
def test_an_answer_is_never_searched_for_in_prose(before, after):
    if not (before + after).strip(" \t\r\n,"):
        return
    with pytest.raises(FinderError):
        read_answer(before + GOOD + after)


@given(cut=st.integers(1, len(GOOD) - 1))
def test_an_answer_that_was_cut_is_none(cut):
    with pytest.raises(FinderError, match="no JSON object alone"):
        read_answer(GOOD[:cut])


def test_answers_may_be_fenced_and_items_are_judged_one_by_one():
    assert read_answer(f"```json\n{GOOD}\n```\n").problem is None
    mixed = read_answer(json.dumps({"findings": [item(), item(confidence=1.5), 7]}))
    assert (len(mixed.items), [r.reason for r in mixed.rejected]) == (1, ["malformed"] * 2)
    assert mixed.problem.startswith("findings.1.confidence: ")
    assert read_answer('{"findings": []}') == ((), (), None)
    for none in ("[]", "null", '{"findings": {}}', "[" * 100_000):
        with pytest.raises(FinderError):
            read_answer(none)


@pytest.mark.parametrize("name", tools_of("cli"))
def test_output_that_says_nothing_is_no_answer(name):
    read = tool_of(name).read
    for output in ("", "Segmentation fault", '{"type": "result"', "[1]\n7\nnull", '{"type": 3}'):
        spoken = read(parse_events(output))
        assert spoken.answer is None
        assert spoken.error


def test_a_tool_and_a_model_that_share_no_protocol():
    check_cli_model("codex", "luna", OPENAI)
    check_cli_model("pi", "mine", ModelEntry(litellm_id="groq/x", api_base="http://127.0.0.1/v1"))
    with pytest.raises(
        ConfigError, match=r"codex speaks OpenAI's responses .* 'opus' is anthropic/"
    ):
        check_cli_model("codex", "opus", ModelEntry(litellm_id="anthropic/opus"))
    with pytest.raises(ConfigError, match="claude-code speaks Anthropic's messages"):
        check_cli_model("claude-code", "luna", OPENAI)
    with pytest.raises(ModelError, match="no address of groq"):
        check_cli_model("pi", "mine", ModelEntry(litellm_id="groq/x"))


def test_settings_that_a_tool_cannot_be_told():
    entry = OPENAI.model_copy(update={"effort": "high"})
    check_cli_model("codex", "luna", entry)
    gemini = ModelEntry(litellm_id="gemini/pro", effort="high")
    with pytest.raises(ConfigError, match="gemini-cli cannot be told effort: high"):
        check_cli_model("gemini-cli", "pro", gemini)
    cold = OPENAI.model_copy(update={"temperature": 0.0, "seed": 1})
    with pytest.raises(ConfigError, match="codex cannot be told temperature, seed"):
        check_cli_model("codex", "luna", cold)


def test_a_project_sees_the_variables_of_one_protocol_only():
    assert set(urls("messages")) == {"ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"}
    assert set(urls("gemini")) == {"GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"}


def test_agents_that_cannot_be_installed(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(FinderError, match=r"npm is missing: install Node\.js with npm"):
        check_cli("codex", LISTED, tmp_path)
    with pytest.raises(FinderError, match="npm is missing"):
        install_agents(LISTED, tmp_path)
    with pytest.raises(FinderError, match=r"package\.json: cannot be read"):
        install_agents(tmp_path, tmp_path)
    monkeypatch.setattr(cli_install.platform, "machine", lambda: "riscv64")
    with pytest.raises(FinderError, match="not for riscv64"):
        check_cli("codex", LISTED, tmp_path)


def test_a_damaged_folder_of_agents_is_named(tmp_path):
    folder = agents_folder(LISTED, tmp_path)
    folder.mkdir()
    with pytest.raises(
        FinderError, match=r"'codex' is not installed in .*: remove it and run again"
    ):
        check_cli("codex", LISTED, tmp_path)
    with pytest.raises(FinderError, match="'pi' is not installed"):
        tool_version(tool_of("pi"), folder)


@pytest.mark.npm
def test_a_registry_out_of_reach_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:1")
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
    state = tmp_path / "state"
    with pytest.raises(FinderError, match=r"npm ci: .*ECONNREFUSED.*check the registry") as caught:
        install_agents(LISTED, state)
    assert "\n" not in str(caught.value)
    assert [left.name for left in state.iterdir()] == ["agents.lock"]


def test_what_an_installation_is_named_by(tmp_path):
    listed = tmp_path / "listed"
    shutil.copytree(LISTED, listed)
    before = agents_folder(listed, tmp_path)
    assert before == agents_folder(LISTED, tmp_path)
    lock = listed / "package-lock.json"
    lock.write_text(lock.read_text().replace("0.171.0", "0.171.1"))
    assert agents_folder(listed, tmp_path) != before


def test_every_package_of_the_lock_is_exact_and_hashed():
    packages = json.loads((LISTED / "package-lock.json").read_text())["packages"]
    assert all(entry.get("integrity") for path, entry in packages.items() if path)
    asked = packages[""]["dependencies"] | packages[""]["optionalDependencies"]
    assert not [version for version in asked.values() if version[0] in "^~*<>"]


def test_replay_mode_knows_no_command_line_agents():
    from probe.config import Settings

    settings = Settings.model_validate(
        {"repositories": ("demo",), "runs": ("x",), "calls": {"replay": True}}
    )
    with pytest.raises(ModelError, match=r"calls\.replay is on, and a command-line agent cannot"):
        open_ledger(settings)
