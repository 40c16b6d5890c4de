"""One session of a command-line agent in a sandbox: its turns, their native output, the transcript.

Everything that a tool prints goes to files inside, not through the sandbox's own output, which is cut
at a megabyte; so it is there as well when the time runs out.
"""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from probe.errors import FinderError, SandboxError
from probe.finders.cli_answer import Answer, read_answer
from probe.finders.cli_base import INSIDE, PLACE, CliTool, Launch, Spoken, parse_events
from probe.gateway import through
from probe.models.secrets import scrub
from probe.records.store import atomic_writer
from probe.sandbox import Sandbox

_OUTPUT_BYTES = 256_000_000
"""Of a turn's native output; more is no answer but a fault."""

_STDERR_BYTES = 200_000
_STARTER = f"{INSIDE}/start"
_NODE = f"{INSIDE}/node"

AGAIN = """Your last message could not be read: {problem}

Hand in again, now: your last message must be the JSON object of the form that you were given, with all of
your reports, and nothing before or after it."""
"""What an agent is told once, when its answer does not fit."""


class Turn(NamedTuple):
    """One start of the tool, to its end."""

    exit: int | None
    """Its exit status; None where its time ran out."""
    output: str
    """Its native output."""
    stderr: str
    """Its other output, the last part."""
    spoken: Spoken
    """What its native output says."""
    answer: Answer | None
    """What was handed in; None where nothing was that can be read."""
    problem: str | None
    """Why there is no answer, or what of it does not fit; None where all is well."""

    @property
    def whole(self) -> bool:
        """Whether the tool ended by itself, and well."""
        well = self.exit == 0 or (self.exit is not None and self.spoken.misfit)
        return well and self.spoken.error is None


class Talk(NamedTuple):
    """A session to its end."""

    turns: Sequence[Turn]
    """One, or two where the answer had to be asked for again."""
    death: str | None = None
    """Why the sandbox died; None where it lives."""

    @property
    def answered(self) -> Turn | None:
        """The last turn that handed in something that can be read."""
        return next((t for t in reversed(self.turns) if t.whole and t.answer is not None), None)


def talk(box: Sandbox, tool: CliTool, launch: Launch, prompt: str, working_s: float) -> Talk:
    """Let the tool work to its end, and once more where its answer does not fit the form.

    Args:
        box: the sandbox, with the agents and the gateway's socket.
        tool: which one.
        launch: how it is started.
        prompt: what it is told.
        working_s: seconds for all of it.
    """
    deadline = time.monotonic() + working_s
    turns: list[Turn] = []
    try:
        for path, text in launch.files.items():
            box.write(path, text.encode())
        turns.append(_turn(box, tool, launch.command, prompt, deadline))
        first = turns[0]
        if first.whole and first.problem and first.spoken.session:
            again = launch.again(first.spoken.session)
            turns.append(_turn(box, tool, again, AGAIN.format(problem=first.problem), deadline))
    except SandboxError as error:
        return Talk(turns, str(error))
    return Talk(turns)


def _turn(
    box: Sandbox, tool: CliTool, command: Sequence[str], prompt: str, deadline: float
) -> Turn:
    """Start the tool and read what it says.

    Raises:
        SandboxError: the sandbox died.
    """
    box.write(f"{PLACE}/prompt.txt", prompt.encode("utf-8", errors="replace"))
    quiet = f'exec "$@" <{PLACE}/prompt.txt >{PLACE}/output 2>{PLACE}/stderr'
    inner = ["sh", "-c", quiet, "sh", _STARTER, *command]
    left = max(deadline - time.monotonic(), 0.001)
    done = box.run(through(inner, node=_NODE), left)
    output = _read(box, f"{PLACE}/output", _OUTPUT_BYTES)
    stderr = (_read(box, f"{PLACE}/stderr", _STDERR_BYTES) + done.stderr)[-_STDERR_BYTES:]
    if len(output) >= _OUTPUT_BYTES:
        spoken = Spoken(None, None, f"more than {_OUTPUT_BYTES // 10**6} MB of output")
    else:
        spoken = tool.read(parse_events(output))
    answer, problem = _answer(spoken)
    return Turn(None if done.timed_out else done.exit, output, stderr, spoken, answer, problem)


def _answer(spoken: Spoken) -> tuple[Answer | None, str | None]:
    if spoken.answer is None:
        return None, "there is no last message"
    try:
        answer = read_answer(spoken.answer)
    except FinderError as error:
        return None, str(error)
    return answer, answer.problem


def _read(box: Sandbox, path: str, most: int) -> str:
    try:
        return box.read(path, most).decode("utf-8", errors="replace")
    except FileNotFoundError:
        return ""


def shown_command(launch: Launch, schema: str) -> list[str]:
    """The command line for records, without the schema that some tools take in it."""
    return ["{schema}" if part == schema else part for part in launch.command]


def write_transcript(path: Path, header: dict[str, object], prompt: str, session: Talk) -> None:
    """Keep what the tool printed, line by line as it came, keys masked.

    Lines that PROBE adds have a ``type`` that begins with ``probe.``: what was started, what it was
    told, what it printed beside its events, and how it ended.

    Raises:
        RecordError: it cannot be written.
    """
    with atomic_writer(path) as stream:

        def add(line: object) -> None:
            stream.write(scrub(json.dumps(line, ensure_ascii=False)).encode() + b"\n")

        add({"type": "probe.session", **header})
        told = prompt
        for turn in session.turns:
            add({"type": "probe.prompt", "text": told})
            told = AGAIN.format(problem=turn.problem)
            for line in turn.output.split("\n"):
                if parse_events(line):
                    stream.write(scrub(line).encode(errors="replace") + b"\n")
                elif line.strip():
                    add({"type": "probe.text", "text": line})
            add({"type": "probe.stderr", "text": turn.stderr})
            add({"type": "probe.end", "exit": turn.exit, "problem": turn.problem})
        if session.death:
            add({"type": "probe.death", "text": session.death})
