"""Anthropic's messages."""

from collections.abc import Iterator, Mapping
from typing import Any

from modelserver.neutral import Asked, Reply, new_id, pieces, schema_in_prompt, sse, texts

_STOP = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
}


def read(body: Mapping[str, Any], path: str) -> Asked:
    """The question of a request."""
    messages = body.get("messages") or []
    said = [text for message in messages for text in texts(message)]
    prompt = "\n".join([*texts(body.get("system")), *said])
    users = [message for message in messages if message.get("role") == "user"]
    tools = {
        tool["name"]: tool["input_schema"]
        for tool in body.get("tools") or []
        if "input_schema" in tool
    }
    choice = body.get("tool_choice") or {}
    wanted = (body.get("output_config") or {}).get("format") or body.get("output_format") or {}
    forced = choice.get("name") if choice.get("type") == "tool" else None
    return Asked(
        model=str(body.get("model")),
        prompt=prompt,
        last_user="\n".join(texts(users[-1])) if users else "",
        stream=bool(body.get("stream")),
        schema=wanted.get("schema") or schema_in_prompt(prompt),
        tools=tools,
        forced=forced or (next(iter(tools), None) if choice.get("type") == "any" else None),
    )


def _usage(reply: Reply, asked: Asked) -> dict[str, Any]:
    if isinstance(reply.usage, Mapping):
        return dict(reply.usage)
    tokens = asked.tokens(reply)
    return {
        "input_tokens": tokens.input,
        "cache_creation_input_tokens": tokens.cache_write,
        "cache_read_input_tokens": tokens.cache_read,
        "output_tokens": tokens.output,
    }


def _stop(reply: Reply) -> str:
    return "refusal" if reply.refusal is not None else _STOP.get(reply.finish, reply.finish)


def _blocks(reply: Reply) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if reply.reasoning is not None:
        blocks.append({"type": "thinking", "thinking": reply.reasoning, "signature": "c2lnbmVk"})
    if reply.content:
        blocks.append({"type": "text", "text": reply.content})
    for tool in reply.tools:
        name = tool.id.replace("call_", "toolu_")
        blocks.append({"type": "tool_use", "id": name, "name": tool.name, "input": tool.value})
    return blocks


def whole(reply: Reply, asked: Asked) -> dict[str, Any]:
    """The answer in one object."""
    return {
        "id": new_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": asked.served,
        "content": _blocks(reply),
        "stop_reason": _stop(reply),
        "stop_sequence": None,
        "usage": _usage(reply, asked),
    }


def events(reply: Reply, asked: Asked, body: Mapping[str, Any]) -> Iterator[bytes]:
    """The answer as a stream of typed events."""
    final = whole(reply, asked)
    usage = final["usage"]
    opening = {**final, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield _event("message_start", message=opening)
    yield _event("ping")
    for index, block in enumerate(final["content"]):
        yield from _block_events(index, block, reply)
    delta = {"stop_reason": final["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", delta=delta, usage={"output_tokens": usage.get("output_tokens")})
    yield _event("message_stop")


def _block_events(index: int, block: dict[str, Any], reply: Reply) -> Iterator[bytes]:
    match block["type"]:
        case "text":
            start, kind, key, whole_text = {"text": ""}, "text_delta", "text", block["text"]
        case "thinking":
            start, kind, key = {"thinking": "", "signature": ""}, "thinking_delta", "thinking"
            whole_text = block["thinking"]
        case _:
            start, kind, key = {"input": {}}, "input_json_delta", "partial_json"
            tools = {tool.name: tool.text for tool in reply.tools}
            whole_text = tools[block["name"]]
    yield _event("content_block_start", index=index, content_block={**block, **start})
    for piece in pieces(whole_text):
        yield _event("content_block_delta", index=index, delta={"type": kind, key: piece})
    if block["type"] == "thinking":
        signed = {"type": "signature_delta", "signature": block["signature"]}
        yield _event("content_block_delta", index=index, delta=signed)
    yield _event("content_block_stop", index=index)


def _event(kind: str, **rest: Any) -> bytes:
    return sse({"type": kind, **rest}, kind)


def count_tokens(asked: Asked) -> dict[str, Any]:
    """The answer of ``/v1/messages/count_tokens``."""
    return {"input_tokens": asked.tokens(Reply()).input}


_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def error(status: int, message: str) -> dict[str, Any]:
    """An error in this protocol's form."""
    kind = _ERRORS.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": None}
