"""The fault menu: what can go wrong between a client and a model, on demand."""

from dataclasses import dataclass, replace
from typing import Literal

from modelserver.neutral import Asked, Reply, Tool

Kind = Literal[
    "latency",
    "status",
    "half_answer",
    "wrong_json",
    "not_json_content",
    "cut_json",
    "drop",
    "slow_stream",
    "empty",
    "length",
    "tool_call",
    "reasoning_only",
    "refusal",
    "content_filter",
    "not_protocol",
    "hang",
]


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong with one request; the classmethods make them."""

    kind: Kind
    seconds: float = 0.0
    code: int = 0
    retry_after: float | str | None = None
    message: str | None = None

    @classmethod
    def latency(cls, s: float) -> "Fault":
        """The answer comes ``s`` seconds later."""
        return cls("latency", seconds=s)

    @classmethod
    def status(
        cls, code: int, retry_after: float | str | None = None, message: str | None = None
    ) -> "Fault":
        """An error of the provider; ``retry_after`` in seconds or as the header's text."""
        return cls("status", code=code, retry_after=retry_after, message=message)

    @classmethod
    def half_answer(cls) -> "Fault":
        """Half of the bytes that the header promised, then the connection closes."""
        return cls("half_answer")

    @classmethod
    def wrong_json(cls) -> "Fault":
        """Content that is JSON, but not of the schema."""
        return cls("wrong_json")

    @classmethod
    def not_json_content(cls) -> "Fault":
        """Content that is prose."""
        return cls("not_json_content")

    @classmethod
    def cut_json(cls) -> "Fault":
        """Content cut in its middle, with the finish reason of a whole answer."""
        return cls("cut_json")

    @classmethod
    def drop(cls) -> "Fault":
        """The connection closes without an answer."""
        return cls("drop")

    @classmethod
    def slow_stream(cls, s_per_chunk: float) -> "Fault":
        """Every part of the answer takes ``s_per_chunk`` seconds; without a stream, of 8 parts."""
        return cls("slow_stream", seconds=s_per_chunk)

    @classmethod
    def empty(cls) -> "Fault":
        """Content without a character."""
        return cls("empty")

    @classmethod
    def length(cls) -> "Fault":
        """Half of the content, with the finish reason of a cut answer."""
        return cls("length")

    @classmethod
    def tool_call(cls) -> "Fault":
        """A tool call in place of content."""
        return cls("tool_call")

    @classmethod
    def reasoning_only(cls) -> "Fault":
        """Reasoning, but no content."""
        return cls("reasoning_only")

    @classmethod
    def refusal(cls) -> "Fault":
        """A refusal in the provider's form."""
        return cls("refusal")

    @classmethod
    def content_filter(cls) -> "Fault":
        """No content, stopped by the provider's filter."""
        return cls("content_filter")

    @classmethod
    def not_protocol(cls) -> "Fault":
        """Status 200 with a page of a proxy instead of an answer."""
        return cls("not_protocol")

    @classmethod
    def hang(cls) -> "Fault":
        """No answer and no end until the client goes or the server closes."""
        return cls("hang")

    def spoil(self, reply: Reply, asked: Asked) -> Reply:
        """The answer with this fault in its content; the same one for faults of transport."""
        content = reply.content or ""
        half = content[: len(content) // 2]
        match self.kind:
            case "wrong_json":
                return Reply(content='{"unexpected": true}')
            case "not_json_content":
                return Reply(content="I think that this looks fine.")
            case "cut_json":
                return replace(reply, content=half, finish_reason="stop")
            case "empty":
                return Reply(content="")
            case "length":
                return replace(reply, content=half, tool_calls=(), finish_reason="length")
            case "tool_call":
                name = next(iter(asked.tools), "bash")
                return Reply(tool_calls=[Tool(name, {"command": "true"})])
            case "reasoning_only":
                return Reply(reasoning="Let me think about it.")
            case "refusal":
                return Reply(refusal="I can't help with that.")
            case "content_filter":
                return Reply(finish_reason="content_filter")
        return reply
