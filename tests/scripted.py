"""A model that follows a script: what agents' tests let the server answer, turn by turn."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from modelserver import ModelServer, Reply, Tool

Step = Reply | str | tuple[str, ...] | Mapping[str, Any] | list[Any] | Callable[[str], Any]
"""An answer; text alone; commands; a submission; the reports of one; one of these made of the last
message."""


def play(server: ModelServer, *steps: Step) -> None:
    """Let the server follow a script; the step is chosen by how far the conversation is."""

    def answer(body: dict[str, Any]) -> Reply | str:
        messages = body["messages"]
        turn = sum(message["role"] == "assistant" for message in messages)
        step: Any = steps[turn]
        if callable(step) and not isinstance(step, Reply):
            step = step(str(messages[-1]["content"]))
        if isinstance(step, tuple):
            calls = [
                Tool("bash", {"command": command}, f"call-{turn}-{number}")
                for number, command in enumerate(step)
            ]
            return Reply(tool_calls=calls)
        if isinstance(step, list):
            step = {"findings": step}
        if isinstance(step, Mapping):
            return Reply(tool_calls=[Tool("submit", json.dumps(step), f"call-{turn}")])
        return step

    server.answer(answer)
