"""What the test server says to an agent: a script, chosen by how far the conversation is."""

import io
import json
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from agent_fakes import STYLES, Result
from modelserver import Reply, Tool

from probe.agent import AgentTask
from probe.config import ModelEntry
from probe.models.base import Model

CODE = "def last(items):\n    return items[len(items)]\n"
Step = Reply | str | Callable[[list[dict[str, Any]]], Reply | str]


def pack(path: Path) -> Path:
    """A snapshot of one file with one bug."""
    with tarfile.open(path, "w") as archive:
        member = tarfile.TarInfo("src/a.py")
        member.size = len(CODE)
        archive.addfile(member, io.BytesIO(CODE.encode()))
    return path


def audit(url: str, style: str = "tools", **entry: object) -> AgentTask[Result]:
    settings = {
        "litellm_id": "openai/stub",
        "api_base": url,
        "price": "free",
        "supports": STYLES[style],
        "max_attempts": 2,
        **entry,
    }
    model = Model("stub", ModelEntry.model_validate(settings))
    return AgentTask(model, "You audit code.", "Look at src/a.py.", Result, content_sha256="0" * 64)


def run(*commands: str) -> Reply:
    return Reply(tool_calls=[Tool("bash", {"command": command}) for command in commands])


def done(*bugs: str) -> Reply:
    return Reply(tool_calls=[Tool("submit", {"bugs": list(bugs), "sure": 0.5})])


def script(*steps: Step) -> Callable[[dict[str, Any]], Reply | str]:
    """The step of as many answers as the conversation has."""

    def answer(body: dict[str, Any]) -> Reply | str:
        messages = body["messages"]
        step = steps[sum(message["role"] == "assistant" for message in messages)]
        return step(messages) if callable(step) else step

    return answer


def action(**fields: object) -> str:
    return json.dumps(fields)


def last(messages: Sequence[dict[str, Any]]) -> str:
    return str(messages[-1]["content"])
