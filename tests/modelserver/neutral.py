"""What the four protocols have in common: a question that was read, an answer to be written."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

PIECES = 40
"""Parts in which a stream hands out a text, at most."""

_ids = count(1)


@dataclass(frozen=True)
class Tokens:
    """Usage before a provider's spelling: five disjoint counts, but for ``reasoning``."""

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0
    """Of ``output``."""

    @property
    def prompt(self) -> int:
        """All prompt tokens."""
        return self.input + self.cache_read + self.cache_write


@dataclass(frozen=True)
class Tool:
    """A tool call of an answer."""

    name: str
    arguments: Mapping[str, object] | str = field(default_factory=dict)
    id: str = ""

    @property
    def text(self) -> str:
        """The arguments as JSON, or as they were given."""
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)

    @property
    def value(self) -> object:
        """The arguments as a JSON value; an object with the raw text where they are no JSON."""
        try:
            return json.loads(self.text)
        except json.JSONDecodeError:
            return {"raw": self.text}


@dataclass(frozen=True)
class Reply:
    """An answer, in OpenAI's words for the finish reason."""

    content: str | None = None
    tool_calls: Sequence[Tool | Mapping[str, object]] = ()
    finish_reason: str | None = None
    """Without it, ``tool_calls`` or ``stop``."""
    refusal: str | None = None
    reasoning: str | None = None
    usage: Tokens | Mapping[str, object] | None = None
    """Without it, from the lengths of the texts; a mapping is sent as it is."""

    @property
    def tools(self) -> list[Tool]:
        """The tool calls, each with an id."""
        calls = [call if isinstance(call, Tool) else Tool(**call) for call in self.tool_calls]
        return [Tool(c.name, c.arguments, c.id or f"call_{next(_ids)}") for c in calls]

    @property
    def finish(self) -> str:
        """The finish reason."""
        return self.finish_reason or ("tool_calls" if self.tool_calls else "stop")

    def pieces(self) -> list[str]:
        """The content in parts, as a stream hands it out."""
        return pieces(self.content or "")


@dataclass(frozen=True)
class Asked:
    """A request in any protocol, as far as an answer depends on it."""

    model: str
    prompt: str
    """All texts of the conversation, system prompt and tool results included."""
    last_user: str
    stream: bool
    schema: Mapping[str, object] | None = None
    """The JSON schema that the answer must satisfy."""
    tools: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Schemas of the arguments of the tools on offer, by name."""
    forced: str | None = None
    """The tool that must be called."""

    @property
    def served(self) -> str:
        """Name of the model in the answer."""
        return f"{self.model}-served"

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits that depend on the prompt."""
        return hashlib.sha256(self.prompt.encode(errors="replace")).hexdigest()[:8]

    def tokens(self, reply: Reply) -> Tokens:
        """Usage of an answer: a token is four characters, begun ones counted."""
        if isinstance(reply.usage, Tokens):
            return reply.usage
        said = "".join([reply.content or "", *(f"{t.name}{t.text}" for t in reply.tools)])
        reasoning = _count(reply.reasoning or "")
        output = _count(said) + reasoning
        return Tokens(input=_count(self.prompt), output=output, reasoning=reasoning)


def _count(text: str) -> int:
    return -(-len(text) // 4)


def pieces(text: str) -> list[str]:
    """A text cut into equal parts, at most :data:`PIECES`."""
    size = max(8, -(-len(text) // PIECES))
    return [text[start : start + size] for start in range(0, len(text), size)]


def new_id(prefix: str) -> str:
    """An id that no other answer of this process has."""
    return f"{prefix}{next(_ids)}"


def texts(value: object) -> Iterator[str]:
    """All texts of a message's content in any protocol, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, Mapping):
        for key in ("text", "content", "output", "parts", "thinking"):
            yield from texts(value.get(key))
        for key in ("functionResponse", "response"):
            if key in value:
                yield json.dumps(value[key])


def schema_in_prompt(prompt: str) -> Mapping[str, object] | None:
    """The JSON schema after the last line ``JSON schema:`` of a prompt, None without one."""
    *_, after = re.split(r"(?im)^.*json schema:[ \t]*$", prompt)
    if after is prompt or after == prompt or "{" not in after:
        return None
    try:
        found, _ = json.JSONDecoder().raw_decode(after[after.index("{") :])
    except json.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def sse(data: Mapping[str, object] | str, event: str | None = None) -> bytes:
    """One server-sent event."""
    text = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {event}\n" if event else "").encode() + f"data: {text}\n\n".encode()
