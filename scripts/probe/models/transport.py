"""One HTTP request to a model and its answer in our terms: the only module that knows litellm.

litellm speaks the providers' dialects; everything else that it offers (retries, prices, caches,
callbacks, its own log) is left off, because PROBE does those and must be able to account for them.
"""

import asyncio
import logging
import os
import threading
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from probe.config import ModelEntry
from probe.models.base import Request
from probe.models.faults import AttemptError, attempt_error
from probe.models.prices import billed_usd
from probe.models.secrets import register_key
from probe.records import Answer, ToolCall

_NO_KEY = "none"
_GRACE_S = 5.0  # litellm's own deadline comes after ours, which alone decides
_CONVERSATION = 3  # messages: a system prompt, a question, and what came of it
_loading = threading.Lock()

_PASSED_ON = ("reasoning_effort", "temperature", "top_p", "seed", "response_format", "tools")
_OWN_DIALECT = frozenset(
    {
        "anthropic",
        "bedrock",
        "cohere",
        "cohere_chat",
        "gemini",
        "ollama",
        "ollama_chat",
        "vertex_ai",
    }
)
"""Providers whose requests litellm translates: a parameter passed on as it is would be wrong."""


@dataclass(frozen=True)
class Received:
    """An answer as it came, before anybody judged it."""

    answer: Answer
    """What was said."""
    raw_usage: dict[str, object]
    """The provider's usage object."""
    served_model: str | None
    """The model's name as the provider gives it."""
    provider_usd: float | None
    """What the provider says it billed."""
    latency_s: float
    """Seconds from sending to the last byte."""


def load_litellm() -> Any:
    """Import litellm, silent and offline; takes seconds, once a process."""
    with _loading:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        os.environ.setdefault("LITELLM_MODE", "PRODUCTION")  # otherwise it reads .env files
        warnings.filterwarnings("ignore", module="pydantic")  # of litellm's types; nobody's fault
        import litellm

        litellm.suppress_debug_info = True
        litellm.telemetry = False
        litellm.drop_params = False
        for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        for name in ("httpx", "openai"):
            logging.getLogger(name).setLevel(logging.WARNING)
        return litellm


class Transport:
    """The connections of one event loop."""

    def __init__(self) -> None:
        self._litellm: Any = None
        self._session: Any = None
        self._opening = asyncio.Lock()

    async def open(self) -> None:
        """Get ready to send, once; the first in a process takes seconds, which nobody waited for."""
        async with self._opening:
            if self._session is None:
                self._litellm = await asyncio.to_thread(load_litellm)
                self._session = _session()

    async def send(self, request: Request) -> Received:
        """Send one request and wait for the whole answer; no retries.

        Raises:
            AttemptError: no answer came within ``timeout_s``, or none that is one.
        """
        await self.open()
        entry = request.model.entry
        parameters = call_parameters(request) | {"api_key": api_key(entry)}
        began = time.monotonic()
        try:
            async with asyncio.timeout(entry.timeout_s):
                response = await self._complete(parameters)
        except TimeoutError:
            detail = f"no whole answer within {entry.timeout_s:g} s"
            raise AttemptError("timeout", detail, "maybe") from None
        except Exception as error:
            raise attempt_error(error) from None
        return received(response, time.monotonic() - began)

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()

    async def _complete(self, parameters: dict[str, Any]) -> Any:
        """Ask, marked as part of something larger: litellm then starts no logging tasks."""
        from litellm._internal_context import internal_sub_call

        with internal_sub_call():
            return await self._litellm.acompletion(shared_session=self._session, **parameters)


def _session() -> Any:
    """Connections of our own: litellm's are shared by all event loops and never closed."""
    import aiohttp

    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None),
        trust_env=True,
    )


def api_key(entry: ModelEntry) -> str:
    """The key from the environment, a word that is none for a server without keys."""
    if entry.key_env is None:
        return _NO_KEY
    register_key(entry.key_env)
    return os.environ.get(entry.key_env, "").strip() or _NO_KEY


def call_parameters(request: Request) -> dict[str, Any]:
    """The arguments for litellm, without the key: only what the entry and the request say."""
    entry = request.model.entry
    provider = entry.litellm_id.partition("/")[0]
    own_limit = provider == "openai" and entry.api_base is None
    wanted = {
        "api_base": entry.api_base,
        "max_completion_tokens" if own_limit else "max_tokens": entry.max_output_tokens,
        "reasoning_effort": entry.effort,
        "temperature": entry.temperature,
        "top_p": entry.top_p,
        "seed": entry.seed,
        "tools": [dict(tool) for tool in request.tools] or None,
        "response_format": _response_format(request),
    }
    given: dict[str, Any] = {name: value for name, value in wanted.items() if value is not None}
    if provider not in _OWN_DIALECT:
        # litellm refuses or drops what it does not know of a model; the entry knows better
        given["allowed_openai_params"] = [name for name in _PASSED_ON if name in given]
    messages = [dict(message) for message in request.messages]
    return {
        "model": entry.litellm_id,
        "messages": _marked(messages) if provider == "anthropic" else messages,
        "max_retries": 0,
        "num_retries": 0,
        "timeout": entry.timeout_s + _GRACE_S,
        **given,
    }


def received(response: Any, latency_s: float) -> Received:
    """An answer of litellm in our terms.

    Raises:
        AttemptError: there is no choice in it.
    """
    if not response.choices:
        raise AttemptError("malformed", "HTTP 200 without any choice", "maybe")
    choice = response.choices[0]
    message = choice.message
    calls = tuple(_tool_call(call) for call in message.tool_calls or ())
    usage = getattr(response, "usage", None)
    raw_usage = usage.model_dump(mode="json", exclude_none=True) if usage else {}
    answer = Answer(
        content=_text(message.content),
        tool_calls=calls,
        reasoning=_text(getattr(message, "reasoning_content", None)),
        refusal=_text(getattr(message, "refusal", None)),
        finish_reason=choice.finish_reason,
        returned=_returned(message),
    )
    return Received(
        answer=answer,
        raw_usage=raw_usage,
        served_model=response.model or None,
        provider_usd=billed_usd(raw_usage),
        latency_s=latency_s,
    )


def _returned(message: Any) -> dict[str, object]:
    """Anthropic takes a tool's result only with the signed thinking that led to the call."""
    blocks = getattr(message, "thinking_blocks", None)
    return {"thinking_blocks": [dict(block) for block in blocks]} if blocks else {}


def _marked(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A conversation with its beginning and its end marked for Anthropic's prompt cache.

    Without marks nothing is cached there, and every turn pays for all turns before it. Of a single
    question nothing would be read again, and writing to the cache costs more than plain input.
    """
    if len(messages) < _CONVERSATION:
        return messages
    ends = {0, len(messages) - 1}
    return [
        {**message, "cache_control": {"type": "ephemeral"}} if place in ends else message
        for place, message in enumerate(messages)
    ]


def _response_format(request: Request) -> dict[str, object] | None:
    if request.schema is None:
        return None
    schema = dict(request.schema)
    if request.model.entry.supports.json_schema == "json_object":
        return {"type": "json_object", "schema": schema}
    inner = {"name": "answer", "schema": schema, "strict": True}
    return {"type": "json_schema", "json_schema": inner}


def _tool_call(call: Any) -> ToolCall:
    return ToolCall(
        id=call.id or "", name=call.function.name or "", arguments=call.function.arguments or ""
    )


def _text(value: object) -> str | None:
    """Text as it is; parts of text joined; None for nothing."""
    if isinstance(value, list):
        parts = [part.get("text", "") for part in value if isinstance(part, Mapping)]
        return "".join(str(part) for part in parts) or None
    return value if isinstance(value, str) else None
