"""Command-line agents for the finders' tests: installed, scripted and run on a small project."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from audits import ROOT, SETTINGS, Project
from modelserver import ModelServer, Reply, Tool

from probe.finders.cli_check import tool_of
from probe.finders.cli_install import install_agents
from probe.finders.run import run_session
from probe.finders.session import Session
from probe.models.ledger import Ledger
from probe.records import PassResult

LISTED = ROOT / "envs" / "agents"
KEY = "sk-real-0123456789abcdefghij"
KEY_ENV = "CLI_SUITE_SECRET_PLACE"
NAMES = {"openai": "gpt-real", "anthropic": "claude-real", "gemini": "gemini-real"}
_PROVIDERS = {"messages": "anthropic", "gemini": "gemini"}


class Ways(NamedTuple):
    """How a model works with an agent's tools."""

    shell: str
    argument: str
    hands_in: str = ""
    """The tool for a structured answer; empty where it is the last message."""


WAYS = {
    "codex": Ways("exec_command", "cmd"),
    "claude-code": Ways("Bash", "command", "StructuredOutput"),
    "gemini-cli": Ways("run_shell_command", "command"),
    "opencode": Ways("bash", "command"),
    "pi": Ways("bash", "command"),
    "qwen-code": Ways("run_shell_command", "command", "structured_output"),
}


def installed() -> Path:
    """The agents, installed once for each lock, outside the checkout."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "probe-tests"
    return install_agents(LISTED, cache)


def cli_session(project: Project, server: ModelServer, tool: str, **more: Any) -> Session:
    """A session of an agent with a priced model at the test server."""
    provider = _PROVIDERS.get(tool_of(tool).protocol, "openai")
    bases = {"openai": server.openai, "anthropic": server.url, "gemini": f"{server.url}/v1beta"}
    entry = {
        "litellm_id": f"{provider}/{NAMES[provider]}",
        "key_env": KEY_ENV,
        "price": {"input": 2.0, "output": 10.0, "as_of": "2026-12-01"},
        "context_tokens": 200_000,
        **more.pop("entry", {}),
    }
    ledger = more.pop("ledger", None) or Ledger(project.folder / "state", more.pop("budget", 100.0))
    fields = {"ledger": ledger, **more}
    return project.session(bases[provider], entry=entry, **fields)


def run_cli(project: Project, session: Session, tool: str, **settings: Any) -> PassResult:
    """One pass, through the same door as the workflow's."""
    given = SETTINGS | {"kind": "cli", "tool": tool, "memory_mb": 8_000} | settings
    return run_session(
        "demo", "one", given, "a", files=project.list, passes=project.plan, session=session
    )


def play_cli(
    server: ModelServer, tool: str, command: str, *answers: dict[str, Any] | str
) -> Callable[[], str]:
    """Let the model run a command and then give these answers, one each time that it is asked to.

    Returns:
        What the model has been told so far.
    """
    ways = WAYS[tool]

    def answer(body: dict[str, Any]) -> Reply | str:
        said = json.dumps(body)
        if f'"{ways.shell}"' not in json.dumps(body.get("tools", "")):
            return "a title"
        if command and "_turn_0_" not in said and "functionResponse" not in said:
            call = {ways.argument: command, "description": "look"}
            return Reply(tool_calls=[Tool(ways.shell, call, "call_turn_0_")])
        last = answers[min(said.count("could not be read"), len(answers) - 1)]
        if isinstance(last, str):
            return last
        if ways.hands_in:
            return Reply(tool_calls=[Tool(ways.hands_in, last, "call_turn_1_")])
        return json.dumps(last)

    server.answer(answer)
    return lambda: json.dumps([request.body for request in server.requests])
