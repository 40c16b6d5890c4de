"""Records of an agent's transcript: one line for everything that happened in a pass, in order.

A transcript holds what no rule can derive (prompts, answers, what commands printed, times) and, to
be checked against, what the loop made of it. The text of every request follows from the lines
above it: replaying them rebuilds each request, and its key proves that nothing is missing.
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, RootModel

from probe.errors import RecordError
from probe.records.audit import SandboxUse
from probe.records.base import Record, UtcTime
from probe.records.calls import Answer, Failure, Usage
from probe.records.store import iter_jsonl

LimitName = Literal["time", "turns", "output_tokens", "total_tokens", "usd", "context"]
"""What a pass can run out of; ``context`` is the model's window."""

AgentStatus = Literal["submitted", "limit", "failed", "budget"]
"""submitted: a valid answer was handed in, however little it says. limit: the pass ran out of
something of its own. failed: something broke, or the model refused or never answered usefully.
budget: the money of the whole workflow is spent."""


class _Line(Record):
    time: UtcTime
    """When it was written; no part of what a replay compares."""


class HeaderLine(_Line):
    """What the pass is: another header is another pass."""

    kind: Literal["header"] = "header"
    format: Literal[1] = 1
    """Version of these records."""
    probe_version: str
    """PROBE's own version."""
    model: str
    """Key of the model in ``models.yaml``."""
    settings: dict[str, object]
    """What can change its answers, as in the requests' identity."""
    context_tokens: int
    """The model's window, prompt and answer together."""
    style: Literal["tools", "schema", "prompt"]
    """Native tool calls, actions that the provider holds to a schema, or a schema in the prompt."""
    limits: dict[str, int | float | None]
    """Of the loop, by name; None where there is none."""
    sandbox: SandboxUse
    """Where commands run."""
    system: str
    """The system prompt as the stage gave it."""
    user: str
    """The first user message."""
    submit_schema: dict[str, object]
    """JSON schema of a submission."""
    content_sha256: str
    """Hash of what the sandbox was opened with."""
    sample: int
    """Number of the repeat."""
    purpose: str
    """What it is for, for people."""


class RequestLine(_Line):
    """The model is asked; the messages follow from the lines above."""

    kind: Literal["request"] = "request"
    turn: int = Field(ge=1)
    """Counted from 1."""
    key: str
    """Cache key: SHA-256 of the whole request."""
    messages: int
    """Messages in it."""
    tokens: int
    """Its estimated size."""
    final: bool
    """Whether only a submission is accepted."""


class AnswerLine(_Line):
    """What came of a request: exactly one of ``answer``, ``failure`` and ``budget`` is there."""

    kind: Literal["answer"] = "answer"
    answer: Answer | None = None
    """What the model said."""
    failure: Failure | None = None
    """Why there is no answer, after the client's retries."""
    budget: str | None = None
    """Why the call was refused: the workflow's money is spent."""
    served_model: str | None = None
    """Model name as the provider gives it."""
    usage: Usage = Usage()
    """What the answer cost when it was bought."""
    latency_s: float = Field(default=0.0, ge=0)
    """Seconds that the model took when it was bought."""
    waiting_s: float = Field(default=0.0, ge=0)
    """Seconds that this process spent on pacing and failed attempts."""
    attempts: int = 0
    """HTTP requests that this process sent."""
    cached: bool = False
    """Whether the answer came from the cache."""


class CommandLine(_Line):
    """A command that ran in the sandbox."""

    kind: Literal["command"] = "command"
    number: int = Field(ge=1)
    """Counted from 1."""
    call: str
    """Id of the tool call; empty for an action."""
    command: str
    """As run with ``bash -c``."""
    timeout_s: float = Field(gt=0)
    """Seconds that it was given."""
    exit: int | None = None
    """Exit status; None where the time ran out or the sandbox died."""
    timed_out: bool = False
    """Whether the time ran out."""
    truncated: bool = False
    """Whether the sandbox itself cut the output."""
    stdout_chars: int = 0
    """Characters of stdout before the cut."""
    stderr_chars: int = 0
    """Characters of stderr before the cut."""
    shown: str = ""
    """What the model is shown of it."""
    wall_s: float = Field(default=0.0, ge=0)
    """Seconds that it took."""
    dead: str | None = None
    """How the sandbox was found dead; None while it lives. The model never sees such output."""


class NoticeLine(_Line):
    """The loop tells the model something of its own."""

    kind: Literal["notice"] = "notice"
    reason: Literal["last_chance", "no_action", "refused", "invalid_submission"]
    """last_chance: a limit is near. no_action: the answer asked for nothing. refused: a call or
    action that is not carried out. invalid_submission: it does not fit the schema."""
    call: str | None = None
    """Id of the tool call that it answers; None for a message."""
    text: str
    """As the model reads it."""


class DropLine(_Line):
    """Old output is replaced by a short note, so that the next request fits the window."""

    kind: Literal["drop"] = "drop"
    commands: tuple[int, ...]
    """Numbers of the commands, oldest first."""
    tokens: int
    """Estimated tokens that this frees."""


class ResumedLine(_Line):
    """A pass that was killed or failed goes on: what is above was taken over, not asked again."""

    kind: Literal["resumed"] = "resumed"
    lines: int
    """Lines above that were taken over."""


class RerunLine(_Line):
    """The commands above were run again in a new sandbox, for their effects on its files alone."""

    kind: Literal["rerun"] = "rerun"
    commands: int
    """How many."""
    differing: tuple[int, ...]
    """Numbers of those that ended with another exit status than recorded."""


class EndLine(_Line):
    """How the pass ended."""

    kind: Literal["end"] = "end"
    status: AgentStatus
    """In a word."""
    reason: str | None
    """The limit's name or the failure's kind; None for a submission."""
    detail: str | None
    """One line, with the limit's value; None for a submission."""
    last_chance: LimitName | None
    """The limit whose nearness ended the work early; None where none did."""
    answer: dict[str, object] | None
    """The submission as JSON values; None where there is none."""
    usage: Usage
    """Sum over all answers."""
    turns: int
    """Answers that came."""
    commands: int
    """Commands that ran."""
    working_s: float
    """Seconds of the model and of commands."""


Line = (
    HeaderLine
    | RequestLine
    | AnswerLine
    | CommandLine
    | NoticeLine
    | DropLine
    | ResumedLine
    | RerunLine
    | EndLine
)


class _Entry(RootModel[Annotated[Line, Field(discriminator="kind")]]):
    """A line of any kind."""


def read_transcript(path: Path) -> list[Line]:
    """All whole lines of a transcript; a last line that a kill cut short is left out.

    Raises:
        RecordError: the file is missing, or a line is not of a transcript.
    """
    lines: list[Line] = []
    try:
        for entry in iter_jsonl(path, _Entry):
            lines.append(entry.root)
    except RecordError:
        if not path.exists() or len(lines) < path.read_bytes().count(b"\n"):
            raise
    return lines
