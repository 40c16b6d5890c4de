"""Command-line agents as the gateway's suites run them: with all that the finders switch off."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from modelserver import Tool

from probe.finders.cli_base import HOME, MODULES, script
from probe.finders.cli_install import install_agents
from probe.gateway import client_environment

LISTED = Path(__file__).parents[2] / "envs" / "agents"
PROMPT = "Read secret.txt and tell me the magic word."
_URLS = client_environment()


@dataclass(frozen=True)
class Agent:
    """A command-line agent with the settings that lead it to the gateway."""

    provider: str
    command: Sequence[str]
    shell: str
    """Its tool that runs a command."""
    argument: str
    """The tool's parameter for the command."""
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    search: Tool | None = None
    """Its tool by which the provider searches the web, where it is a tool of the model."""

    def run(self, command: str) -> Tool:
        """The model's call that runs a command."""
        return Tool(self.shell, {self.argument: command, "description": "look"})


_CODEX = "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"
"""The program itself; ``.bin/codex`` starts it with Node.js, which a Python image lacks."""

_CODEX_PROVIDER = (
    f'{{name="probe", base_url="{_URLS["OPENAI_BASE_URL"]}", env_key="OPENAI_API_KEY",'
    ' wire_api="responses"}'
)

AGENTS = {
    "codex": Agent(
        provider="openai",
        command=(
            *(f"{MODULES}/{_CODEX}", "exec", "--json", "--skip-git-repo-check"),
            "--dangerously-bypass-approvals-and-sandbox",
            *("-c", "model_provider=probe", "-c", f"model_providers.probe={_CODEX_PROVIDER}"),
            *("-m", "asked-model", PROMPT),
        ),
        shell="exec_command",
        argument="cmd",
    ),
    "claude-code": Agent(
        provider="anthropic",
        command=(
            *(f"{MODULES}/@anthropic-ai/claude-code-linux-x64/claude", "-p", PROMPT),
            *("--output-format", "json", "--allowedTools", "Bash,WebSearch"),
        ),
        shell="Bash",
        argument="command",
        environment={
            "ANTHROPIC_MODEL": "asked-model",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
        search=Tool("WebSearch", {"query": "the fix"}),
    ),
    "gemini-cli": Agent(
        provider="gemini",
        command=(
            *script("@google/gemini-cli/bundle/gemini.js", "x64"),
            *("-p", PROMPT, "-m", "asked-model"),
            *("--yolo", "--skip-trust", "--output-format", "json"),
        ),
        shell="run_shell_command",
        argument="command",
        files={
            f"{HOME}/.gemini/settings.json": json.dumps(
                {
                    "security": {"auth": {"selectedType": "gemini-api-key"}},
                    "privacy": {"usageStatisticsEnabled": False},
                }
            )
        },
        search=Tool("google_web_search", {"query": "the fix"}),
    ),
}


def installed() -> Path:
    """The agents, installed once for each lock, outside the checkout."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "probe-tests"
    return install_agents(LISTED, cache)
