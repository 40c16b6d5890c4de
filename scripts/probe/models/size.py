"""How long a prompt is before anybody is asked: what to expect, and what it cannot exceed.

Each provider has a tokenizer of its own, most of them secret. One public tokenizer gives the
expectation; the bound needs none, and costs no time.
"""

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from probe.code.tokens import count_tokens

_MESSAGE = 4
"""Tokens that cl100k chat models put around a message."""

_ANSWER = 3
"""Tokens with which such a prompt introduces the answer."""

_BOUND_MESSAGE = 32
"""Tokens that a chat template may put around a message, tool call or tool, at most."""

_BOUND_PROMPT = 1_024
"""Tokens that a provider may add to a prompt, at most: its preamble for tools or schemas."""

Messages = Sequence[Mapping[str, object]]
Schema = Mapping[str, object] | None
Tools = Sequence[Mapping[str, object]]


def prompt_tokens(messages: Messages, schema: Schema = None, tools: Tools = ()) -> int:
    """Expected tokens of a prompt: ``cl100k_base`` of all its texts, and what stands around them.

    Takes a few milliseconds for 10,000 tokens; :func:`bound_tokens` takes none worth counting.
    """
    texts = sum(count_tokens(text) for message in messages for text in _texts(message))
    extra = sum(count_tokens(_dumped(value)) for value in _structures(schema, tools))
    return texts + extra + _MESSAGE * len(messages) + _ANSWER


def bound_tokens(messages: Messages, schema: Schema = None, tools: Tools = ()) -> int:
    """Tokens that a prompt cannot exceed, whatever the model's tokenizer.

    A tokenizer that falls back on bytes makes at most one token of each byte of UTF-8; some
    normalise the text (NFKC) before, which can lengthen it, so the longer form counts. Schema and
    tools count twice, for providers that set them out with more punctuation than JSON has. Chat
    templates and preambles are allowed for with 32 tokens a message, tool call or tool, and 1,024
    for the prompt.
    """
    texts = [text for message in messages for text in _texts(message)]
    structures = [_dumped(value) for value in _structures(schema, tools)]
    inside = sum(_bytes(text) for text in texts) + 2 * sum(_bytes(text) for text in structures)
    return inside + _BOUND_MESSAGE * (len(texts) + len(messages) + len(structures)) + _BOUND_PROMPT


def _texts(value: object) -> Iterable[str]:
    """All texts in a message: role, content or its parts, tool calls with their arguments."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, Sequence):
        for part in value:
            yield from _texts(part)


def _structures(schema: Schema, tools: Tools) -> list[object]:
    return [*tools] if schema is None else [schema, *tools]


def _dumped(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _bytes(text: str) -> int:
    if text.isascii():
        return len(text)
    forms = (text, unicodedata.normalize("NFKC", text))
    return max(len(form.encode("utf-8", errors="surrogatepass")) for form in forms)
