"""What an agent is given, what it may use, and what comes of it."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel

from probe.models.base import Model
from probe.records import PassStatus, Usage
from probe.records.transcript import AgentStatus, LimitName

S = TypeVar("S", bound=BaseModel)


@dataclass(frozen=True)
class AgentTask(Generic[S]):
    """One pass: who works, on what, and what is to be handed in."""

    model: Model
    """Who works."""
    system: str
    """The system prompt; how tools are used is added where the model has no tool calls."""
    user: str
    """The first user message."""
    submit: type[S]
    """What is to be handed in; its JSON schema, docstrings included, is shown to the model."""
    content_sha256: str
    """Hash of all that the sandbox was opened with: outputs of another content are never reused."""
    sample: int = 1
    """Number of the repeat."""
    purpose: str = ""
    """What it is for, for people and the ledger: ``audit sqlglot/luna/batch-003``."""


@dataclass(frozen=True)
class AgentLimits:
    """What a pass may use; checked before each call, so that one call can pass a limit at most."""

    turns: int = 60
    """Answers of the model, those of the last chance included."""
    working_s: float | None = 1_800
    """Seconds of the model and of commands together; waiting for rate limits is not counted, and
    a remembered answer counts what it took when it was bought."""
    output_tokens: int | None = None
    """Output tokens of all answers, reasoning included."""
    total_tokens: int | None = None
    """Prompt and output tokens of all answers, cached ones included."""
    usd: float | None = None
    """US dollars of this pass; ``budget.usd`` holds for the whole workflow besides."""
    command_s: float = 120
    """Seconds of one command; a command may ask for less."""
    shown_tokens: int = 4_000
    """Tokens of one command's output that the model sees; less in a window too small for it."""
    keep_outputs: int = 3
    """Latest outputs that stay when older ones are dropped."""
    final_turns: int = 2
    """Turns that are kept for the last chance to submit."""
    corrections: int = 2
    """Submissions that may fail their schema before the pass fails."""
    reminders: int = 2
    """Answers in a row without anything to carry out before the pass fails."""
    commands_a_turn: int = 8
    """Commands of one answer that are run."""


@dataclass(frozen=True)
class AgentResult(Generic[S]):
    """How a pass ended."""

    status: AgentStatus
    """In a word."""
    reason: str | None
    """The limit's name (``turns``) or the failure's kind (``dead_sandbox``); None when submitted."""
    detail: str | None
    """One line for people, with the limit's value; None when submitted."""
    answer: S | None
    """What was handed in; None exactly when the status is another than ``submitted``."""
    last_chance: LimitName | None
    """The limit whose nearness ended the work early, also where an answer was handed in."""
    usage: Usage
    """Sum over all answers, each at what it cost when it was bought."""
    turns: int
    """Answers that came."""
    commands: int
    """Commands that ran."""
    working_s: float
    """Seconds of the model and of commands."""
    calls: tuple[str, ...]
    """Cache keys of all answers, in order."""
    served_model: str | None
    """Model name as served with the last answer."""

    @property
    def pass_status(self) -> PassStatus:
        """The status in a pass's record: only a submission is ``ok``."""
        if self.status == "submitted":
            return "ok"
        if self.status == "limit":
            return "timeout" if self.reason == "time" else "limit"
        return self.status

    @property
    def error(self) -> str | None:
        """One line for a pass's record; None exactly when its status is ``ok``."""
        return None if self.status == "submitted" else f"{self.reason}: {self.detail}"
