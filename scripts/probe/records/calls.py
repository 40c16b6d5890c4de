"""Records of model calls: what was asked, what came back, what it cost, and what failed."""

from typing import Literal

from pydantic import Field

from probe.records.base import Record, UtcTime

FailureKind = Literal[
    "missing_key",
    "auth",
    "bad_request",
    "context_length",
    "rate_limited",
    "server_error",
    "connection",
    "timeout",
    "malformed",
    "truncated",
    "empty",
    "reasoning_only",
    "tool_call",
    "refusal",
    "invalid",
    "limit",
    "dead_sandbox",
]
"""Why there is no usable answer. No HTTP answer: ``missing_key`` (never sent), ``auth``,
``bad_request``, ``context_length``, ``rate_limited``, ``server_error``, ``connection``, ``timeout``,
``malformed`` (an HTTP answer that is not of the protocol). An answer that cannot be used: ``truncated`` (finish_reason length), ``empty``,
``reasoning_only``, ``tool_call`` (instead of content), ``refusal``, ``invalid`` (does not fit the
schema, after all repair turns). Of an agent alone: ``limit`` (turns, time, tokens or money of its
pass ran out), ``dead_sandbox``."""


class Failure(Record):
    """Why an item has no answer: it stays unjudged, and never counts as "no"."""

    kind: FailureKind
    """Named, so that failures can be counted."""
    detail: str
    """One line, without keys."""


class Usage(Record):
    """What a pass or call cost. Unknown stays None and adds as None + 3 = 3, None + None = None."""

    calls: int | None = None
    """Answers behind it, cached ones included; None where there is no model."""
    attempts: int | None = None
    """HTTP requests that were sent for them, failed ones included."""
    input_tokens: int | None = None
    """Prompt tokens that were neither read from nor written to the provider's cache."""
    cache_read_tokens: int | None = None
    """Prompt tokens read from the provider's cache."""
    cache_write_tokens: int | None = None
    """Prompt tokens written to the provider's cache."""
    output_tokens: int | None = None
    """Output tokens, reasoning included."""
    reasoning_tokens: int | None = None
    """Of the output tokens, those spent on reasoning; never priced a second time."""
    usd: float | None = None
    """Cost when it was bought; 0 for what costs nothing, None when unknown."""
    working_s: float | None = None
    """Seconds in which a model worked on an answer, summed over calls."""
    waiting_s: float | None = None
    """Seconds spent on pacing, rate limits and failed attempts; no part of ``working_s``."""

    @property
    def prompt_tokens(self) -> int | None:
        """All prompt tokens, cached ones included; None where none of the parts is known."""
        parts = (self.input_tokens, self.cache_read_tokens, self.cache_write_tokens)
        known = [part for part in parts if part is not None]
        return sum(known) if known else None

    def __add__(self, other: "Usage") -> "Usage":
        """Field by field, None being neutral."""
        summed = {name: _sum(getattr(self, name), getattr(other, name)) for name in USAGE_FIELDS}
        return Usage.model_validate(summed)


USAGE_FIELDS = tuple(Usage.model_fields)


def _sum(left: float | None, right: float | None) -> float | None:
    if left is None or right is None:
        return right if left is None else left
    return left + right


class ToolCall(Record):
    """A tool that the model wants to be run."""

    id: str
    """The provider's id, which the tool's result must repeat."""
    name: str
    """The tool."""
    arguments: str
    """JSON as the model wrote it, valid or not."""


_CUT = frozenset({"length", "max_tokens"})
_FILTERED = frozenset({"content_filter", "refusal", "safety"})


class Answer(Record):
    """What a model said, whole."""

    content: str | None
    """Text, None where there is none."""
    tool_calls: tuple[ToolCall, ...] = ()
    """In the model's order."""
    reasoning: str | None = None
    """Reasoning text where the provider shows it; never parsed."""
    refusal: str | None = None
    """The provider's refusal text or filter reason; None where it did not refuse."""
    finish_reason: str | None
    """As served: stop, length, tool_calls, content_filter …"""
    returned: dict[str, object] = Field(default_factory=dict)
    """Keys that the provider wants back, unchanged, in the assistant's message of the next turn
    (Anthropic's signed thinking blocks)."""

    @property
    def cut_off(self) -> bool:
        """Whether it reached its maximum length."""
        return self._reason in _CUT

    @property
    def filtered(self) -> str | None:
        """The finish reason that is a refusal, in lower case; None for every other."""
        return self._reason if self._reason in _FILTERED else None

    @property
    def _reason(self) -> str:
        return (self.finish_reason or "").lower()


class Call(Record):
    """One bought answer: an entry of the cache (``calls/ab/ab….json``)."""

    key: str = Field(pattern=r"^[0-9a-f]{64}$")
    """SHA-256 of the canonical JSON of ``request``."""
    request: dict[str, object]
    """Everything that can change the answer, sample number and schema included; never a key."""
    answer: Answer
    """What came back."""
    served_model: str | None
    """Model name as the provider gives it."""
    usage: Usage
    """Tokens, cost at the price of the time, working and waiting time, attempts."""
    raw_usage: dict[str, object]
    """The provider's own usage object."""
    provider_usd: float | None = None
    """What the provider says it billed; None where it does not say."""
    latency_s: float = Field(ge=0)
    """Seconds from sending the request that succeeded to its last byte."""
    time: UtcTime
    """When the answer came."""
    probe_version: str
    """PROBE's version when it was bought."""


class LedgerLine(Record):
    """One line of the append-only ledger of money (``ledger.jsonl``)."""

    event: Literal["book", "settle", "write_off"]
    """book: a call may start and cost up to ``usd``. settle: the booking ended and cost ``usd``.
    write_off: a person declares a booking that never ended to have cost ``usd``."""
    booking: str
    """Unique id of the booking that all its lines share."""
    time: UtcTime
    """When the line was written."""
    usd: float = Field(ge=0)
    """US dollars."""
    key: str | None = None
    """Cache key of the call; None for a call that the gateway passed through."""
    model: str
    """Key of the model in ``models.yaml``."""
    purpose: str
    """Stage, repository and run that it is for, for people: ``classify sqlglot/0003``."""
    process: str
    """``host:pid:start`` of the process that wrote it."""
    certain: bool = True
    """False where the cost is a bound, because no answer came that says it."""
    outcome: str | None = None
    """Of a settlement: ``answered``, the failure's kind, or ``cancelled``."""
