"""What is asked of a model and what comes of it: the types that stages, agents and tests share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, TypeVar

from pydantic import BaseModel

from probe import __version__
from probe.config import ModelEntry
from probe.records import Answer, Call, Failure, Provenance, Usage, content_sha256

Message = Mapping[str, object]
"""A chat message as JSON values: ``{"role": "user", "content": "…"}``; tool calls and results in
OpenAI's form, whatever the provider."""

A = TypeVar("A", bound=BaseModel)

NOT_SERVED = "not served"
"""Version of an engine that never answered."""


@dataclass(frozen=True)
class Model:
    """A model by the name that configuration files give it."""

    name: str
    """Key in ``models.yaml``."""
    entry: ModelEntry
    """Its settings."""


@dataclass(frozen=True)
class Request:
    """One call: everything that can change the answer, and nothing else."""

    model: Model
    """Whom to ask."""
    messages: Sequence[Message]
    """The conversation so far."""
    schema: Mapping[str, object] | None = None
    """JSON schema that the provider is to enforce; only for models that support it."""
    tools: Sequence[Mapping[str, object]] = ()
    """Tools in OpenAI's form; only for models that support them."""
    sample: int = 1
    """Number of the repeat: the same question of another repeat is another call."""
    purpose: str = field(default="", compare=False)
    """What it is for, for people and the ledger; no part of the identity."""

    @cached_property
    def identity(self) -> dict[str, object]:
        """What the key is the hash of, as JSON values."""
        return {
            "settings": self.model.entry.answer_settings(),
            "messages": [dict(message) for message in self.messages],
            "schema": None if self.schema is None else dict(self.schema),
            "tools": [dict(tool) for tool in self.tools],
            "sample": self.sample,
        }

    @cached_property
    def key(self) -> str:
        """SHA-256 of the canonical JSON of :attr:`identity`: the name of the answer in the cache."""
        return content_sha256(self.identity)


@dataclass(frozen=True)
class Outcome:
    """How one call ended: a bought or remembered answer, or a failure without one."""

    call: Call | None
    """The answer with its usage; None exactly when there is a failure."""
    failure: Failure | None = None
    """Why there is no answer."""
    cached: bool = False
    """Whether the answer came from the cache: it keeps its first usage and latency."""
    waiting_s: float = 0.0
    """Seconds that this process spent on pacing and failed attempts for it."""
    attempts: int = 0
    """HTTP requests that this process sent for it."""

    @property
    def answer(self) -> Answer | None:
        """What the model said, None after a failure."""
        return self.call.answer if self.call else None


@dataclass(frozen=True)
class Question(Generic[A]):
    """One item of a batch: a conversation whose answer is a record."""

    id: str
    """The item's own id; unique in the batch."""
    messages: Sequence[Message]
    """The rendered prompt."""
    check: Callable[[A], str | None] | None = None
    """What is wrong with an answer that fits the schema, in words for the model; None: nothing. It
    must depend on the answer alone, so that the same answers lead to the same next request."""


@dataclass(frozen=True)
class Reply(Generic[A]):
    """What came of a question: a validated answer, or a failure of a named kind."""

    id: str
    """The question's id."""
    value: A | None
    """The validated answer; None exactly when there is a failure: the item is then unjudged."""
    failure: Failure | None
    """Why there is no answer."""
    calls: tuple[str, ...]
    """Cache keys of all answers behind it, repair turns included, in order."""
    usage: Usage
    """Sum over those calls."""
    served_model: str | None
    """Model name as served by the last call."""
    cached: bool
    """Whether every call came from the cache."""
    rejected: A | None = None
    """The last answer that fitted the schema and failed the question's check; None without one."""


def provenance_of(model: Model, prompt_sha256: str, reply: Reply[A] | None) -> Provenance:
    """What made a record that a model was asked for; None where it could not even be asked."""
    return Provenance(
        engine=model.name,
        engine_version=(reply.served_model if reply else None) or NOT_SERVED,
        probe_version=__version__,
        prompt_sha256=prompt_sha256,
        calls=reply.calls if reply else (),
    )
