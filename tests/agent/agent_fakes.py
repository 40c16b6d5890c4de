"""A caller and a sandbox in memory, with the real interfaces and nothing hidden.

The caller remembers answers by key, as the client's cache does, and counts what it buys; the
sandbox keeps the effects of commands, so that a pass which lost them is seen.
"""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, Field

from probe import __version__
from probe.agent import AgentLimits, AgentTask
from probe.config import ModelEntry
from probe.config.models import Supports
from probe.errors import ProbeError, SandboxError
from probe.models.base import Model, Outcome, Request
from probe.records import Answer, Call, Failure, ToolCall, Usage
from probe.sandbox.base import Limits, Output, SandboxInfo

STYLES = {
    "tools": Supports(),
    "schema": Supports(tools=False),
    "prompt": Supports(tools=False, json_schema=False),
}


class Result(BaseModel):
    """The bugs that were found."""

    bugs: list[str] = Field(description="One line each.")
    sure: float = Field(ge=0, le=1)


GOOD = {"bugs": ["off by one"], "sure": 0.5}
Said = Answer | Failure | ProbeError | Callable[[Request], Answer]


def task(style: str = "tools", **entry: object) -> AgentTask[Result]:
    settings = {"litellm_id": "openai/stub", "price": "free", "supports": STYLES[style], **entry}
    model = Model("stub", ModelEntry.model_validate(settings))
    return AgentTask(model, "You audit code.", "Look at a.py.", Result, content_sha256="0" * 64)


def calls(
    *named: tuple[str, object], finish: str = "tool_calls", text: str | None = None
) -> Answer:
    """An answer with native tool calls; arguments as JSON values, or as raw text."""
    made = [
        ToolCall(
            id=f"id{number}",
            name=name,
            arguments=given if isinstance(given, str) else json.dumps(given),
        )
        for number, (name, given) in enumerate(named)
    ]
    return Answer(content=text, tool_calls=tuple(made), finish_reason=finish)


def says(text: str | None, finish: str = "stop", refusal: str | None = None) -> Answer:
    return Answer(content=text, finish_reason=finish, refusal=refusal)


def bash(*commands: str, style: str = "tools") -> Answer:
    if style == "tools":
        return calls(*(("bash", {"command": command}) for command in commands))
    return says(json.dumps({"action": "bash", "command": commands[0], "timeout_s": None}))


def submit(answer: object = GOOD, style: str = "tools") -> Answer:
    if style == "tools":
        return calls(("submit", answer))
    return says(json.dumps({"action": "submit", "answer": answer}))


class ScriptedCaller:
    """Says the next answer of a script to each new question, and the same one when asked again."""

    def __init__(self, *script: Said, usage: Usage | None = None, latency_s: float = 1.0) -> None:
        self.script = list(script)
        self.usage = usage or Usage(calls=1, input_tokens=100, output_tokens=10, usd=0.01)
        self.latency_s = latency_s
        self.asked: list[Request] = []
        self.bought: list[str] = []
        self.cache: dict[str, Call] = {}

    def call(self, request: Request) -> Outcome:
        self.asked.append(request)
        if request.key in self.cache:
            return Outcome(self.cache[request.key], cached=True)
        said = self.script.pop(0)
        if isinstance(said, Exception):
            raise said
        if isinstance(said, Failure):
            return Outcome(None, said, waiting_s=3.0, attempts=6)
        answer = said if isinstance(said, Answer) else said(request)
        call = Call(
            key=request.key,
            request=request.identity,
            answer=answer,
            served_model="stub-served",
            usage=self.usage,
            raw_usage={},
            latency_s=self.latency_s,
            time=datetime(2026, 12, 1, tzinfo=UTC),
            probe_version=__version__,
        )
        self.cache[request.key] = call
        self.bought.append(request.key)
        return Outcome(call, attempts=1)

    def seen(self) -> list[str]:
        """Content of the last message of each request."""
        return [str(request.messages[-1]["content"]) for request in self.asked]


class MemorySandbox:
    """Understands a few commands: ``echo``, ``fail``, ``count`` (keeps a number), ``big``, ``die`` …"""

    info = SandboxInfo("bubblewrap", "0", "memory", Limits())

    def __init__(self, wall_s: float = 0.25, outputs: Sequence[str] = ()) -> None:
        self.wall_s = wall_s
        self.counted = 0
        self.ran: list[str] = []
        self.timeouts: list[float] = []
        self.dead = False
        self.changing = list(outputs)
        """What ``now`` prints, one after the other."""

    def run(self, command: str | Sequence[str], timeout_s: float = 120) -> Output:
        if self.dead:
            raise SandboxError("the sandbox is gone")
        text = command if isinstance(command, str) else " ".join(command)
        self.ran.append(text)
        self.timeouts.append(timeout_s)
        word, _, rest = text.partition(" ")
        if word == "vanish":
            self.dead = True
            raise SandboxError("the sandbox is gone")
        return getattr(self, f"_{word}")(rest)

    def _output(self, stdout: str = "", stderr: str = "", status: int | None = 0) -> Output:
        return Output(status, stdout, stderr, False, status is None, self.wall_s)

    def _echo(self, rest: str) -> Output:
        return self._output(rest + "\n")

    def _fail(self, rest: str) -> Output:
        return self._output("", rest, 1)

    def _count(self, rest: str) -> Output:
        self.counted += 1
        return self._output(f"{self.counted}\n")

    def _now(self, rest: str) -> Output:
        return self._output(self.changing.pop(0))

    def _big(self, rest: str) -> Output:
        return self._output("".join(f"{rest} line {n}\n" for n in range(2_000)))

    def _sleep(self, rest: str) -> Output:
        return self._output("started\n", "", None)

    def _die(self, rest: str) -> Output:
        self.dead = True
        return self._output("", "cannot fork", 137)

    def alive(self) -> bool:
        return not self.dead

    def write(self, path: str, content: bytes) -> None:
        raise NotImplementedError

    def read(self, path: str, max_bytes: int = 1_000_000) -> bytes:
        raise NotImplementedError

    def close(self) -> None:
        return None


NO_LIMITS = AgentLimits(turns=50, working_s=None)


def cut_file(path: Path, lines: int, extra: bytes = b"") -> None:
    """Leave the first lines, and some bytes of the next."""
    kept = path.read_bytes().splitlines(keepends=True)[:lines]
    path.write_bytes(b"".join(kept) + extra)
