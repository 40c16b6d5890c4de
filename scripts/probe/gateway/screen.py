"""What a request may ask of the provider: the rules of the gateway, apart from sockets and money.

A tool of the provider that is merely on offer beside others is taken out, since command-line agents
announce web search in every request; a request that has no other tool, or insists on one, is
refused, so that the agent learns that there is no search instead of getting an answer from memory.
"""

from dataclasses import dataclass, field
from typing import Any

from probe.config import ModelEntry
from probe.gateway.routes import Route, Upstream
from probe.gateway.tools import blocks, link, sort_tools

Body = dict[str, Any]


@dataclass(eq=False)
class RefusalError(Exception):
    """A request that is not passed on."""

    status: int
    """HTTP status: 400 for nearly all, the one that no client tries again (codex does at 403)."""
    code: str
    """A word for counting."""
    message: str
    """One line."""


@dataclass
class Screened:
    """A request that may pass."""

    body: Body
    """As it goes to the provider."""
    asked_model: str
    """The model that the client named; the configured one takes its place."""
    stream: bool
    """Whether the answer comes in parts."""
    effort: str | None
    """Reasoning effort that the client asked for."""
    stripped: list[str] = field(default_factory=list)
    """Tools and settings that were taken out."""
    adds_usage: bool = False
    """Whether the chunk with the usage was not asked for by the client, who then does not get it."""


_TAKEN_OUT = {
    "chat": (
        *("web_search_options", "search_parameters", "enable_search", "plugins"),
        *("service_tier", "models", "provider", "route"),
    ),
    "responses": ("service_tier",),
    "messages": ("mcp_servers", "container", "service_tier", "speed", "inference_geo"),
    "gemini": ("serviceTier", "service_tier"),
}
"""Settings that search, or that change the model or its price."""

_STORED = {
    "chat": (),
    "responses": ("background", "previous_response_id", "conversation", "prompt"),
    "messages": (),
    "gemini": ("cachedContent", "cached_content"),
}
"""Settings that refer to what the provider has stored, or leave the answer there: neither the
prompt's size nor the usage could be known."""

_CONVERSATION = (
    *("messages", "input", "contents", "system", "systemInstruction"),
    *("system_instruction", "generateContentRequest"),
)


def screen(route: Route, body: Body, entry: ModelEntry, upstream: Upstream) -> Screened:
    """Apply all rules to a request; the body is changed in place.

    Raises:
        RefusalError: it may not pass.
    """
    for key in _STORED[route.protocol]:
        if body.get(key):
            raise RefusalError(
                400, "stored_state", f"`{key}` is not passed on: send the whole prompt"
            )
    if max(_number(body.get("n")), _number(_config(body).get("candidateCount"))) > 1:
        raise RefusalError(400, "several_answers", "one answer a call is passed on; set `n` to 1")
    screened = Screened(
        body=body,
        asked_model=str(route.asked_model or body.get("model")),
        stream=bool(body.get("stream")) if route.streams is None else route.streams,
        effort=_effort(body),
        stripped=[key for key in _TAKEN_OUT[route.protocol] if body.pop(key, None) is not None],
    )
    _read_conversation(route, screened)
    _strip_tools(route, screened)
    _force(route, screened, entry, upstream)
    screened.stripped = list(dict.fromkeys(screened.stripped))
    return screened


def _number(value: object) -> float:
    return value if isinstance(value, int | float) else 0


def _config(body: Body) -> Body:
    """Gemini's settings of the answer; empty for the other protocols."""
    found = body.get("generationConfig", body.get("generation_config"))
    return found if isinstance(found, dict) else {}


def _effort(body: Body) -> str | None:
    for holder in (body.get("reasoning"), body.get("output_config")):
        if isinstance(holder, dict) and holder.get("effort"):
            return str(holder["effort"])
    thinking = _config(body).get("thinkingConfig")
    level = thinking.get("thinkingLevel") if isinstance(thinking, dict) else None
    found = body.get("reasoning_effort") or level
    return str(found) if found else None


def _read_conversation(route: Route, screened: Screened) -> None:
    """Refuse what the provider would fetch or look up; take its tools out of earlier turns."""
    for key in _CONVERSATION:
        for block in blocks(screened.body.get(key)):
            found = link(block)
            if found is not None:
                raise RefusalError(
                    400, "link", f"`{found}` is not passed on: send the content itself"
                )
            if isinstance(block.get("tools"), list):
                tools = sort_tools(route.protocol, block["tools"])
                block["tools"] = tools.kept
                screened.stripped += tools.removed


def _strip_tools(route: Route, screened: Screened) -> None:
    given = screened.body.get("tools")
    if not given:
        return
    if not isinstance(given, list):
        raise RefusalError(400, "bad_request", "`tools` is not a list")
    tools = sort_tools(route.protocol, given)
    choice = screened.body.get("tool_choice")
    chosen = choice if isinstance(choice, dict) else {}
    insists = {str(chosen.get("type")), str(chosen.get("name"))} & tools.names
    if tools.removed and (insists or not tools.kept):
        names = ", ".join(dict.fromkeys(tools.removed))
        text = f"{names}: tools that the provider runs are not available; work with the files here"
        raise RefusalError(400, "server_tool", text)
    screened.body["tools"] = tools.kept
    screened.stripped += tools.removed


def _force(route: Route, screened: Screened, entry: ModelEntry, upstream: Upstream) -> None:
    """Set the configured model and the longest answer, and ask for the usage of a stream."""
    body = screened.body
    if route.protocol == "gemini":
        body.pop("model", None)
        inner = body.get("generateContentRequest")
        if isinstance(inner, dict):
            inner["model"] = f"models/{upstream.model}"
    else:
        body["model"] = upstream.model
    if route.counts_only:
        return
    _cap_output(route, body, entry.max_output_tokens, upstream)
    if route.protocol == "chat" and screened.stream:
        options = body.setdefault("stream_options", {})
        if not isinstance(options, dict):
            raise RefusalError(400, "bad_request", "`stream_options` is not an object")
        screened.adds_usage = not options.get("include_usage")
        options["include_usage"] = True


def _cap_output(route: Route, body: Body, most: int, upstream: Upstream) -> None:
    holder = body
    names: tuple[str, ...] = ("max_tokens",)
    match route.protocol:
        case "chat":
            both = ("max_completion_tokens", "max_tokens")
            names = both if upstream.is_openai else both[::-1]
        case "responses":
            names = ("max_output_tokens",)
        case "gemini":
            key = "generation_config" if "generation_config" in body else "generationConfig"
            body[key] = holder = _config(body)
            snake = "max_output_tokens" in holder
            names = ("max_output_tokens" if snake else "maxOutputTokens",)
    for name in [name for name in names if holder.get(name) is not None] or names[:1]:
        holder[name] = int(min(_number(holder.get(name)) or most, most))
    thinking = body.get("thinking")
    if isinstance(thinking, dict) and _number(thinking.get("budget_tokens")) >= most:
        thinking["budget_tokens"] = most - 1
