"""Command-line agents as the gateway's suites run them: how each is installed, started and told."""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from modelserver import Tool

from probe.gateway import client_environment

LISTED = Path(__file__).parent / "agents"
"""Exact versions, with the hashes of all they depend on."""

INSIDE = "/opt/agents"
MODULES = f"{INSIDE}/node_modules"
HOME = "/tmp/home"
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
            *(f"{MODULES}/.bin/gemini", "-p", PROMPT, "-m", "asked-model"),
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
    "opencode": Agent(
        provider="openai",
        command=(
            *(f"{MODULES}/opencode-linux-x64-baseline/bin/opencode", "run"),
            *("-m", "probe/asked-model", PROMPT),
        ),
        shell="bash",
        argument="command",
        files={
            f"{HOME}/.config/opencode/opencode.json": json.dumps(
                {
                    "share": "disabled",
                    "autoupdate": False,
                    "permission": "allow",
                    "provider": {
                        "probe": {
                            "npm": "@ai-sdk/openai-compatible",
                            "options": {
                                "baseURL": _URLS["OPENAI_BASE_URL"],
                                "apiKey": _URLS["OPENAI_API_KEY"],
                            },
                            "models": {"asked-model": {}},
                        }
                    },
                }
            )
        },
    ),
}


def installed() -> Path:
    """The folder with the agents: installed once for each lock file, outside the checkout."""
    digest = hashlib.sha256((LISTED / "package-lock.json").read_bytes()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "probe-tests"
    target = cache / f"agents-{digest}"
    if not target.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix=".agents-") as made:
            for name in ("package.json", "package-lock.json"):
                shutil.copy(LISTED / name, made)
            command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
            done = subprocess.run(command, cwd=made, capture_output=True, text=True, timeout=900)
            if done.returncode:
                raise RuntimeError(f"npm ci: {done.stderr[:2_000]}")
            Path(made).chmod(0o755)
            if not target.exists():
                Path(made).rename(target)
                Path(made).mkdir()
    return target
