"""Which tools of a request run at the client, and which at the provider.

Tools that the provider would run (web search, fetching, code, MCP servers) reach the world that the
sandbox keeps out. What is known to run at the client is kept; every other type counts as the
provider's, also one invented after this was written.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from probe.gateway.routes import Protocol

_AT_THE_CLIENT = {
    "chat": re.compile(r"function|custom"),
    "responses": re.compile(r"function|custom|local_shell|apply_patch|tool_search"),
    "messages": re.compile(r"custom|(bash|text_editor|memory)_\d+|tool_search_tool_\w+"),
}
_GEMINI = {"functionDeclarations", "function_declarations"}


class Sorted(NamedTuple):
    """Tools of one list."""

    kept: list[Any]
    """Those that run at the client, as they were."""
    removed: list[str]
    """Types of the others."""
    names: frozenset[str]
    """Types and names by which a tool choice may mean one of the others."""


def sort_tools(protocol: Protocol, tools: list[Any]) -> Sorted:
    """Part the tools of a request, those in namespaces included."""
    kept: list[Any] = []
    removed: list[str] = []
    names: set[str] = set()
    for tool in tools:
        if not isinstance(tool, dict):
            removed.append("not an object")
        elif protocol == "gemini":
            removed += [key for key in tool if key not in _GEMINI]
            kept += [part for part in [{k: tool[k] for k in tool if k in _GEMINI}] if part]
        elif protocol == "responses" and tool.get("type") == "namespace":
            inner = sort_tools(protocol, list(tool.get("tools") or []))
            kept += [{**tool, "tools": inner.kept}] if inner.kept else []
            removed += inner.removed
            names |= inner.names
        elif _runs_at_the_client(protocol, tool):
            kept.append(tool)
        else:
            removed.append(str(tool.get("type")))
            names |= {str(tool[key]) for key in ("type", "name") if tool.get(key)}
    return Sorted(kept, removed, frozenset(names))


def _runs_at_the_client(protocol: Protocol, tool: dict[str, Any]) -> bool:
    kind = str(tool.get("type") or ("custom" if protocol == "messages" else "untyped"))
    environment = tool.get("environment")
    if protocol == "responses" and kind == "shell" and isinstance(environment, dict):
        return environment.get("type") == "local"
    return _AT_THE_CLIENT[protocol].fullmatch(kind) is not None


_FREE_FORM = {"args", "response", "arguments", "parameters", "input_schema"}


def blocks(value: object) -> Iterator[dict[str, Any]]:
    """All objects inside a conversation, but for arguments and results of the client's tools."""
    if isinstance(value, list):
        for item in value:
            yield from blocks(item)
    elif isinstance(value, dict):
        yield value
        arguments = {"input"} if value.get("type") in ("tool_use", "server_tool_use") else set()
        for key, inner in value.items():
            if key not in _FREE_FORM | arguments:
                yield from blocks(inner)


def link(block: dict[str, Any]) -> str | None:
    """What in a part of a message the provider would have to fetch, or has in store; else None."""
    image = block.get("image_url")
    url = image.get("url") if isinstance(image, dict) else image
    if url is not None and not str(url).startswith("data:"):
        return "image_url"
    source = block.get("source")
    if isinstance(source, dict) and source.get("type") in ("url", "file"):
        return f"source: {source['type']}"
    if block.get("type") == "item_reference":
        return "item_reference"
    if isinstance(block.get("file_data"), dict):
        return "file_data"
    return next((key for key in ("file_url", "file_id", "fileData") if block.get(key)), None)
