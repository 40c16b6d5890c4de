"""The texts of a session, each with who wrote it, from a transcript of any kind.

Our own agent's lines say it. A command-line agent's events are of six forms, and change with its
version; so they are not read form by form: what a text is follows from the names that all of them
use for commands and for what tools gave back. A text under no such name counts as the model's own,
which is the weaker evidence.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from probe.errors import IsolationError, RecordError
from probe.records import LeakSource
from probe.records.transcript import (
    AnswerLine,
    CommandLine,
    EndLine,
    HeaderLine,
    NoticeLine,
    read_transcript,
)


class Piece(NamedTuple):
    """A text of a session."""

    source: LeakSource
    """Who wrote it."""
    text: str
    """As it stands."""
    line: int
    """Line of the transcript, 1-based."""


_ADDED = '{"type": "probe.'
_OUTPUTS = frozenset({
    "aggregated_output", "output", "stdout", "stderr", "tool_result", "tooluseresult", "tool_use_result",
    "functionresponse", "function_response", "partialresult", "returndisplay", "resultdisplay",
})  # fmt: skip
"""Keys whose values a tool gave back."""
_OUTPUT_TYPES = frozenset({
    "tool_result", "toolresult", "function_call_output", "tool_execution_end", "tool_execution_update",
    "local_shell_call_output", "mcp_tool_result", "web_search_tool_result", "tool",
})  # fmt: skip
"""Types and roles of values that a tool gave back."""
_COMMANDS = frozenset({"command", "cmd", "input", "arguments", "args", "parameters", "changes"})
"""Keys whose values the model gave to a tool."""
_PROMPTS = frozenset({"user", "system", "developer"})
"""Roles of who tells the model what to do."""
_NO_TEXT = frozenset({
    "id", "uuid", "session_id", "sessionid", "messageid", "callid", "call_id", "tool_use_id", "toolcallid",
    "tool_call_id", "parent_tool_use_id", "partid", "parentid", "parentuuid", "thread_id", "turn_id", "signature",
    "thoughtsignature", "encrypted_content", "snapshot", "timestamp", "time", "model", "version", "cwd",
    "content_sha256", "type", "role", "subtype", "tools", "usage", "fingerprint", "hash", "responseid",
})  # fmt: skip
"""Keys of names, not texts: random identifiers look like abbreviated commits."""


class Transcript(NamedTuple):
    """A session's record."""

    pieces: list[Piece]
    """All texts, in order."""
    events: list[tuple[int, str]]
    """Lines of a command-line agent's own, with their numbers; empty for an agent of ours."""


def read_session(path: Path) -> Transcript:
    """All texts of a transcript, in order.

    Raises:
        IsolationError: it is missing, or is no transcript.
    """
    try:
        with path.open("rb") as stream:
            first = stream.readline()
    except OSError as error:
        raise IsolationError(
            f"{path}: the transcript cannot be read: {error.strerror}; without it nobody can tell what its "
            "pass was shown: delete the pass file too, and the pass is run again"
        ) from error
    try:
        ours = json.loads(first).get("kind") == "header"
    except (ValueError, AttributeError):
        raise IsolationError(f"{path}:1: no transcript: its first line is no JSON object") from None
    if ours:
        return Transcript(list(_of_ours(path)), [])
    with path.open(encoding="utf-8", errors="replace") as stream:
        events = list(enumerate(stream, 1))
    return Transcript(list(_of_events(events)), [e for e in events if not e[1].startswith(_ADDED)])


def _of_ours(path: Path) -> Iterator[Piece]:
    try:
        lines = read_transcript(path)
    except RecordError as error:
        raise IsolationError(str(error)) from error
    for number, line in enumerate(lines, 1):
        match line:
            case HeaderLine():
                yield Piece("prompt", f"{line.system}\n{line.user}", number)
            case NoticeLine():
                yield Piece("prompt", line.text, number)
            case CommandLine():
                yield Piece("command", line.command, number)
                yield Piece("output", line.shown, number)
            case AnswerLine() if line.answer is not None:
                said = [line.answer.reasoning, line.answer.content, line.answer.refusal]
                yield from (Piece("message", text, number) for text in said if text)
                for call in line.answer.tool_calls:
                    yield from (Piece("message", text, number) for text in _strings(call.arguments))
            case EndLine():
                yield from (Piece("message", text, number) for text in _strings(line.answer))
            case _:
                continue


def _of_events(events: Iterable[tuple[int, str]]) -> Iterator[Piece]:
    """A command-line agent's events; lines that PROBE added have types of their own."""
    begun: list[str] = []
    for number, text in events:
        event = _decoded(text)
        if isinstance(event, dict) and event.get("delta") is True:
            begun.append(str(event.get("content")))
            continue
        if begun:  # a message that came in parts
            yield Piece("message", "".join(begun), number - 1)
            begun = []
        kind = event.get("type") if isinstance(event, dict) else None
        if kind == "probe.session":
            continue
        source: LeakSource = "prompt" if kind == "probe.prompt" else "message"
        for found, value in _walk(event, source):
            yield Piece(found, value, number)


def _walk(value: object, source: LeakSource) -> Iterator[tuple[LeakSource, str]]:
    if isinstance(value, str):
        if value.strip():
            yield source, value
    elif isinstance(value, list):
        for one in value:
            yield from _walk(one, source)
    elif isinstance(value, dict):
        below = _source_of(value, source)
        for key, one in value.items():
            name = str(key).lower()
            if name in _NO_TEXT:
                continue
            if below != "output" and name in _OUTPUTS:
                yield from _walk(one, "output")
            elif below == "message" and name in _COMMANDS:
                yield from _walk(_decoded(one), "command")
            else:
                yield from _walk(one, below)


def _source_of(value: dict[str, object], source: LeakSource) -> LeakSource:
    """Who wrote what is in an object, by its type and role."""
    marks = {str(value.get(key)).lower() for key in ("type", "role")}
    if source == "output" or (marks & _OUTPUT_TYPES and "state" not in value):
        return "output"
    return "prompt" if source == "message" and marks & _PROMPTS else source


def _decoded(value: object) -> object:
    """Arguments that are JSON in a string."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _strings(value: object) -> Iterator[str]:
    for _, text in _walk(_decoded(value), "message"):
        yield text
