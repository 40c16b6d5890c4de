"""OpenAI's responses."""

from collections.abc import Iterator, Mapping
from typing import Any

from modelserver import chat
from modelserver.neutral import Asked, Reply, new_id, pieces, schema_in_prompt, sse, texts

error = chat.error


def read(body: Mapping[str, Any], path: str) -> Asked:
    """The question of a request."""
    given = body.get("input") or []
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    prompt = "\n".join([*texts(body.get("instructions")), *(t for i in items for t in texts(i))])
    users = [item for item in items if item.get("role") == "user"]
    tools = {
        tool["name"]: tool.get("parameters") or {}
        for tool in body.get("tools") or []
        if tool.get("type") == "function"
    }
    wanted = (body.get("text") or {}).get("format") or {}
    choice = body.get("tool_choice")
    forced = choice.get("name") if isinstance(choice, Mapping) else None
    return Asked(
        model=str(body.get("model")),
        prompt=prompt,
        last_user="\n".join(texts(users[-1])) if users else "",
        stream=bool(body.get("stream")),
        schema=wanted.get("schema") or schema_in_prompt(prompt),
        tools=tools,
        forced=forced or (next(iter(tools), None) if choice == "required" else None),
    )


def _usage(reply: Reply, asked: Asked) -> Mapping[str, Any]:
    if isinstance(reply.usage, Mapping):
        return reply.usage
    tokens = asked.tokens(reply)
    return {
        "input_tokens": tokens.prompt,
        "input_tokens_details": {"cached_tokens": tokens.cache_read},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.prompt + tokens.output,
    }


def _items(reply: Reply) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if reply.reasoning is not None:
        summary = [{"type": "summary_text", "text": reply.reasoning}]
        items.append({"type": "reasoning", "id": new_id("rs_"), "summary": summary})
    parts: list[dict[str, Any]] = []
    if reply.content is not None:
        parts.append({"type": "output_text", "text": reply.content, "annotations": []})
    if reply.refusal is not None:
        parts.append({"type": "refusal", "refusal": reply.refusal})
    if parts:
        items.append(_item("message", "msg_", role="assistant", content=parts))
    for tool in reply.tools:
        call = {"call_id": tool.id, "name": tool.name, "arguments": tool.text}
        items.append(_item("function_call", "fc_", **call))
    return items


def _item(kind: str, prefix: str, **rest: Any) -> dict[str, Any]:
    return {"type": kind, "id": new_id(prefix), "status": "completed", **rest}


def whole(reply: Reply, asked: Asked) -> dict[str, Any]:
    """The answer in one object."""
    cut = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(reply.finish)
    return {
        "id": new_id("resp_"),
        "object": "response",
        "created_at": 1_767_225_600,
        "model": asked.served,
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": cut} if cut else None,
        "error": None,
        "output": _items(reply),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": _usage(reply, asked),
    }


def events(reply: Reply, asked: Asked, body: Mapping[str, Any]) -> Iterator[bytes]:
    """The answer as a stream of typed events."""
    final = whole(reply, asked)
    opening = {**final, "status": "in_progress", "output": [], "usage": None}
    opening["incomplete_details"] = None
    ending = "response.incomplete" if final["status"] == "incomplete" else "response.completed"
    told = [
        ("response.created", {"response": opening}),
        ("response.in_progress", {"response": opening}),
        *(e for index, item in enumerate(final["output"]) for e in _item_events(index, item)),
        (ending, {"response": final}),
    ]
    for number, (kind, data) in enumerate(told):
        yield sse({"type": kind, "sequence_number": number, **data}, kind)


def _item_events(index: int, item: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    at = {"output_index": index, "item_id": item["id"]}
    started = {**item, "status": "in_progress"}
    started.update(
        {"message": {"content": []}, "function_call": {"arguments": ""}}.get(item["type"], {})
    )
    yield "response.output_item.added", {"output_index": index, "item": started}
    if item["type"] == "function_call":
        for piece in pieces(item["arguments"]):
            yield "response.function_call_arguments.delta", {**at, "delta": piece}
        yield "response.function_call_arguments.done", {**at, "arguments": item["arguments"]}
    for number, part in enumerate(item.get("content", [])):
        yield from _part_events({**at, "content_index": number}, part)
    yield "response.output_item.done", {"output_index": index, "item": item}


def _part_events(at: dict[str, Any], part: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    key = "text" if part["type"] == "output_text" else "refusal"
    yield "response.content_part.added", {**at, "part": {**part, key: ""}}
    for piece in pieces(part[key]):
        yield f"response.{part['type']}.delta", {**at, "delta": piece}
    yield f"response.{part['type']}.done", {**at, key: part[key]}
    yield "response.content_part.done", {**at, "part": part}
