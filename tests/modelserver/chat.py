"""OpenAI's chat completions."""

from collections.abc import Iterator, Mapping
from typing import Any

from modelserver.neutral import Asked, Reply, new_id, pieces, schema_in_prompt, sse, texts


def read(body: Mapping[str, Any], path: str) -> Asked:
    """The question of a request."""
    messages = body.get("messages") or []
    prompt = "\n".join(text for message in messages for text in texts(message))
    users = [message for message in messages if message.get("role") == "user"]
    tools = {
        tool["function"]["name"]: tool["function"].get("parameters") or {}
        for tool in body.get("tools") or []
        if "function" in tool
    }
    return Asked(
        model=str(body.get("model")),
        prompt=prompt,
        last_user="\n".join(texts(users[-1])) if users else "",
        stream=bool(body.get("stream")),
        schema=_schema(body) or schema_in_prompt(prompt),
        tools=tools,
        forced=_forced(body.get("tool_choice"), tools),
    )


def _schema(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    wanted = body.get("response_format") or {}
    return (wanted.get("json_schema") or {}).get("schema") or wanted.get("schema")


def _forced(choice: Any, tools: Mapping[str, Any]) -> str | None:
    if isinstance(choice, Mapping):
        function = choice.get("function") or choice
        return function.get("name")
    return next(iter(tools), None) if choice == "required" else None


def usage(reply: Reply, asked: Asked) -> Mapping[str, Any]:
    """The usage object of this protocol."""
    if isinstance(reply.usage, Mapping):
        return reply.usage
    tokens = asked.tokens(reply)
    return {
        "prompt_tokens": tokens.prompt,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.prompt + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cache_read},
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
    }


def whole(reply: Reply, asked: Asked) -> dict[str, Any]:
    """The answer in one object."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.content}
    if reply.refusal is not None:
        message["refusal"] = reply.refusal
    if reply.reasoning is not None:
        message["reasoning_content"] = reply.reasoning
    if reply.tool_calls:
        message["tool_calls"] = [_tool_call(tool) for tool in reply.tools]
    return {
        "id": new_id("chatcmpl-"),
        "object": "chat.completion",
        "created": 1_767_225_600,
        "model": asked.served,
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish}],
        "usage": usage(reply, asked),
    }


def _tool_call(tool: Any) -> dict[str, Any]:
    function = {"name": tool.name, "arguments": tool.text}
    return {"id": tool.id, "type": "function", "function": function}


def events(reply: Reply, asked: Asked, body: Mapping[str, Any]) -> Iterator[bytes]:
    """The answer as a stream of chunks."""
    head = {
        "id": new_id("chatcmpl-"),
        "object": "chat.completion.chunk",
        "created": 1_767_225_600,
        "model": asked.served,
    }

    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return sse({**head, "choices": [choice]})

    yield chunk({"role": "assistant", "content": "" if reply.content is not None else None})
    if reply.reasoning is not None:
        yield chunk({"reasoning_content": reply.reasoning})
    for piece in reply.pieces():
        yield chunk({"content": piece})
    if reply.refusal is not None:
        yield chunk({"refusal": reply.refusal})
    for index, tool in enumerate(reply.tools):
        call = _tool_call(tool)
        opening = {**call, "index": index, "function": {"name": tool.name, "arguments": ""}}
        yield chunk({"tool_calls": [opening]})
        for piece in pieces(tool.text):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, reply.finish)
    if (body.get("stream_options") or {}).get("include_usage"):
        yield sse({**head, "choices": [], "usage": usage(reply, asked)})
    yield sse("[DONE]")


def error(status: int, message: str) -> dict[str, Any]:
    """An error in this protocol's form."""
    kind = "rate_limit_error" if status == 429 else "server_error" if status >= 500 else "invalid"
    return {"error": {"message": message, "type": kind, "param": None, "code": str(status)}}
