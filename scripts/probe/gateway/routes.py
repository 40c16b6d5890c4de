"""Which calls there are, where they go, and how each protocol says that one was refused.

Only what is listed here passes: a path that is unknown is refused, not forwarded, so that nothing of
a provider's other interfaces (files, batches, stored conversations) can be reached with our key.
"""

import os
import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from probe.errors import ModelError
from probe.models.base import Model

Protocol = Literal["chat", "responses", "messages", "gemini"]

_OPENAI_BASE = "https://api.openai.com/v1"
_BASES = {
    "openai": _OPENAI_BASE,
    "anthropic": "https://api.anthropic.com",
    "gemini": "https://generativelanguage.googleapis.com/v1beta",
}
_SPOKEN: dict[str, tuple[Protocol, ...]] = {"anthropic": ("messages",), "gemini": ("gemini",)}

_GEMINI = re.compile(
    r"/v1(?:beta|alpha)?/models/(?P<model>[^/:]+):"
    r"(?P<action>generateContent|streamGenerateContent|countTokens)"
)
_PATHS: dict[str, tuple[Protocol, str]] = {
    "/chat/completions": ("chat", "chat/completions"),
    "/responses": ("responses", "responses"),
    "/messages": ("messages", "v1/messages"),
    "/messages/count_tokens": ("messages", "v1/messages/count_tokens"),
}


class Route(NamedTuple):
    """One kind of call."""

    protocol: Protocol
    """Whose form requests, answers and errors have."""
    target: str
    """Path below the provider's base address; Gemini's lacks the model."""
    asked_model: str | None
    """The model in the path, where the protocol has it there."""

    @property
    def counts_only(self) -> bool:
        """Whether the call counts tokens: free, and no answer of a model."""
        return self.target.endswith(("count_tokens", "countTokens"))

    @property
    def streams(self) -> bool | None:
        """Whether the path decides about streaming, and how; None where the body does."""
        if self.protocol != "gemini":
            return None
        return self.target.startswith("stream")


def find_route(method: str, path: str) -> Route | None:
    """The route of a request, None where there is none."""
    if method != "POST":
        return None
    gemini = _GEMINI.fullmatch(path)
    if gemini:
        return Route("gemini", gemini["action"], gemini["model"])
    found = _PATHS.get(path.removeprefix("/v1"))
    return Route(*found, None) if found else None


@dataclass(frozen=True)
class Upstream:
    """The one place to which calls are passed on."""

    provider: str
    """As litellm spells it."""
    base: str
    """Address without a final slash."""
    model: str
    """The provider's name of the model."""
    key_env: str | None
    """Environment variable of the key; None for a server that asks for none."""

    @property
    def protocols(self) -> tuple[Protocol, ...]:
        """What the provider is spoken to in."""
        return _SPOKEN.get(self.provider, ("chat", "responses"))

    @property
    def is_openai(self) -> bool:
        """Whether it is OpenAI's own interface, not a server that resembles it."""
        return self.base == _OPENAI_BASE

    def url(self, route: Route) -> str:
        """Where a call goes."""
        if route.protocol == "gemini":
            query = "?alt=sse" if route.streams else ""
            return f"{self.base}/models/{self.model}:{route.target}{query}"
        base = self.base
        if route.protocol == "messages":
            base = base.removesuffix("/v1")
        return f"{base}/{route.target}"

    def authorization(self) -> dict[str, str]:
        """The header with the key, read from the environment now.

        Raises:
            ModelError: the variable is not set.
        """
        if self.key_env is None:
            return {}
        key = os.environ.get(self.key_env, "").strip()
        if not key:
            raise ModelError(f"{self.key_env} is not set; export the key of {self.provider}")
        match self.provider:
            case "anthropic":
                return {"x-api-key": key}
            case "gemini":
                return {"x-goog-api-key": key}
        return {"Authorization": f"Bearer {key}"}


def upstream_of(model: Model) -> Upstream:
    """Where the calls of a model go.

    Raises:
        ModelError: the provider's address is not known.
    """
    provider, _, name = model.entry.litellm_id.partition("/")
    base = model.entry.api_base or _BASES.get(provider)
    if base is None:
        raise ModelError(
            f"models.yaml: {model.name}: the gateway knows no address of {provider}; add "
            "`api_base: https://…`, with the path before /chat/completions"
        )
    return Upstream(provider, base.rstrip("/"), name, model.entry.key_env)


_ANTHROPIC_ERRORS = {
    400: "invalid_request_error",
    404: "not_found_error",
    413: "request_too_large",
}
_GEMINI_ERRORS = {400: "INVALID_ARGUMENT", 404: "NOT_FOUND"}


def error_body(protocol: Protocol, status: int, code: str, message: str) -> dict[str, object]:
    """An error in a protocol's own form; clients show its message."""
    text = f"PROBE gateway: {message}"
    match protocol:
        case "messages":
            kind = _ANTHROPIC_ERRORS.get(status, "api_error")
            return {"type": "error", "error": {"type": kind, "message": text}}
        case "gemini":
            name = _GEMINI_ERRORS.get(status, "INTERNAL")
            return {"error": {"code": status, "message": text, "status": name}}
    return {"error": {"message": text, "type": "probe_gateway", "param": None, "code": code}}


def protocol_of(path: str) -> Protocol:
    """The protocol that a path looks like, for the form of an error about it."""
    if "/messages" in path:
        return "messages"
    return "gemini" if "/v1beta" in path or ":" in path else "chat"
