"""Google's generateContent."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from modelserver.neutral import Asked, Reply, schema_in_prompt, sse, texts

_FINISH = {"stop": "STOP", "length": "MAX_TOKENS", "tool_calls": "STOP", "content_filter": "SAFETY"}


def read(body: Mapping[str, Any], path: str) -> Asked:
    """The question of a request."""
    contents = body.get("contents") or []
    system = body.get("systemInstruction") or body.get("system_instruction")
    prompt = "\n".join([*texts(system), *(t for c in contents for t in texts(c))])
    users = [content for content in contents if content.get("role", "user") == "user"]
    tools = {
        function["name"]: function.get("parametersJsonSchema") or function.get("parameters") or {}
        for tool in body.get("tools") or []
        for function in tool.get("functionDeclarations") or tool.get("function_declarations") or []
    }
    config = body.get("generationConfig") or {}
    chosen = (body.get("toolConfig") or {}).get("functionCallingConfig") or {}
    names = chosen.get("allowedFunctionNames") or list(tools)
    schema = config.get("responseJsonSchema") or config.get("responseSchema")
    found = re.search(r"([^/]+):\w+$", path)
    return Asked(
        model=found.group(1) if found else "",
        prompt=prompt,
        last_user="\n".join(texts(users[-1])) if users else "",
        stream=path.endswith(":streamGenerateContent"),
        schema=schema or schema_in_prompt(prompt),
        tools=tools,
        forced=names[0] if names and str(chosen.get("mode", "")).upper() == "ANY" else None,
    )


def _usage(reply: Reply, asked: Asked) -> Mapping[str, Any]:
    if isinstance(reply.usage, Mapping):
        return reply.usage
    tokens = asked.tokens(reply)
    return {
        "promptTokenCount": tokens.prompt,
        "cachedContentTokenCount": tokens.cache_read,
        "candidatesTokenCount": tokens.output - tokens.reasoning,
        "thoughtsTokenCount": tokens.reasoning,
        "totalTokenCount": tokens.prompt + tokens.output,
    }


def _parts(reply: Reply) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    if reply.reasoning is not None:
        parts.append({"text": reply.reasoning, "thought": True})
    if reply.content is not None:
        parts.append({"text": reply.content})
    calls = [{"functionCall": {"name": t.name, "args": t.value}} for t in reply.tools]
    return [*parts, *calls]


def _answer(parts: list[dict[str, Any]], reply: Reply, asked: Asked) -> dict[str, Any]:
    content = {"role": "model", "parts": parts}
    return {
        "candidates": [{"index": 0, "content": content}],
        "usageMetadata": _usage(reply, asked),
        "modelVersion": asked.served,
        "responseId": asked.digest,
    }


def whole(reply: Reply, asked: Asked) -> dict[str, Any]:
    """The answer in one object."""
    answer = _answer(_parts(reply), reply, asked)
    if reply.refusal is not None:
        blocked = {"blockReason": "PROHIBITED_CONTENT", "blockReasonMessage": reply.refusal}
        return {**answer, "candidates": [], "promptFeedback": blocked}
    answer["candidates"][0]["finishReason"] = _FINISH.get(reply.finish, reply.finish)
    return answer


def events(reply: Reply, asked: Asked, body: Mapping[str, Any]) -> Iterator[bytes]:
    """The answer as a stream of partial answers, the last with the finish reason."""
    if reply.refusal is None:
        for piece in reply.pieces()[:-1]:
            yield sse(_answer([{"text": piece}], reply, asked))
    last = whole(reply, asked)
    if reply.refusal is None and reply.pieces():
        for part in last["candidates"][0]["content"]["parts"]:
            if part.get("text") == reply.content and "thought" not in part:
                part["text"] = reply.pieces()[-1]
    yield sse(last)


def count_tokens(asked: Asked) -> dict[str, Any]:
    """The answer of ``:countTokens``."""
    return {"totalTokens": asked.tokens(Reply()).input}


def error(status: int, message: str) -> dict[str, Any]:
    """An error in this protocol's form."""
    names = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED"}
    names |= {404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}
    return {"error": {"code": status, "message": message, "status": names.get(status, "INTERNAL")}}
