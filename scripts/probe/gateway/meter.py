"""Reads usage out of answers while their bytes pass through.

Nothing waits for the meter: a stream's bytes go on as they come. One exception: where the gateway
itself asked for the usage of a chat stream, the extra chunk is kept from a client that does not
expect it, so such streams go on event by event.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from probe.gateway.routes import Protocol

_LARGEST = 256 * 2**20
"""Bytes of an answer without a line's end that are kept for reading."""


class Meter:
    """Usage and served model of one answer."""

    def __init__(self, protocol: Protocol, *, events: bool, adds_usage: bool) -> None:
        """Start with the first byte.

        Args:
            protocol: the form of the answer.
            events: whether it is a stream of server-sent events rather than one object.
            adds_usage: whether the chunk that carries the usage is to be kept back.
        """
        self.usage: dict[str, object] = {}
        """The provider's usage object; of a stream, its latest state."""
        self.model: str | None = None
        """Name of the model as served."""
        self.complete = False
        """Whether the answer came to its end, as its protocol marks it."""
        self._protocol = protocol
        self._events = events
        self._filters = events and adds_usage
        self._held = bytearray()

    def feed(self, data: bytes) -> bytes:
        """Read some bytes; returns those that go on to the client now."""
        if len(self._held) + len(data) > _LARGEST:
            self._held.clear()
        self._held += data
        if not self._events:
            return data
        passed = [event for event in self._cut() if not self._is_extra(self._read_event(event))]
        return b"".join(passed) if self._filters else data

    def end(self) -> bytes:
        """Read what is left at the end; returns what is still to go on."""
        left = bytes(self._held)
        self._held.clear()
        if self._events:
            extra = self._is_extra(self._read_event(left))
            return b"" if extra or not self._filters else left
        value = _parsed(left)
        if value:
            self._note(value)
            self.complete = True
        return b""

    def _cut(self) -> Iterator[bytes]:
        """Whole events, each with the empty line that ends it."""
        while True:
            ends = [
                place + len(mark)
                for mark in (b"\n\n", b"\r\n\r\n")
                if (place := self._held.find(mark)) >= 0
            ]
            if not ends:
                return
            event = bytes(self._held[: min(ends)])
            del self._held[: min(ends)]
            yield event

    def _read_event(self, event: bytes) -> dict[str, Any]:
        lines = [line[5:].strip() for line in event.splitlines() if line.startswith(b"data:")]
        data = b"\n".join(lines)
        if data == b"[DONE]":
            self.complete = True
        value = _parsed(data)
        if value:
            self._note(value)
        return value

    def _is_extra(self, value: Mapping[str, Any]) -> bool:
        return self._filters and value.get("choices") == [] and bool(value.get("usage"))

    def _note(self, value: Mapping[str, Any]) -> None:
        inner = value
        match self._protocol:
            case "responses":
                kind = str(value.get("type", ""))
                if isinstance(value.get("response"), dict):
                    inner = value["response"]
                    ends = ("response.completed", "response.incomplete", "response.failed")
                    self.complete = self.complete or kind in ends
            case "messages":
                if isinstance(value.get("message"), dict):
                    inner = value["message"]
                self.complete = self.complete or value.get("type") == "message_stop"
            case "gemini":
                self._note_gemini(value)
                return
        self._merge(inner.get("usage"))
        self.model = _text(inner.get("model")) or self.model

    def _note_gemini(self, value: Mapping[str, Any]) -> None:
        self._merge(value.get("usageMetadata"))
        self.model = _text(value.get("modelVersion")) or self.model
        parts = value.get("candidates")
        ended = [
            part.get("finishReason")
            for part in (parts if isinstance(parts, list) else [])
            if isinstance(part, dict)
        ]
        self.complete = self.complete or any(ended) or bool(value.get("promptFeedback"))

    def _merge(self, usage: object) -> None:
        if isinstance(usage, dict):
            self.usage.update({key: count for key, count in usage.items() if count is not None})


def _parsed(data: bytes) -> dict[str, Any]:
    """A JSON object; empty for anything else."""
    try:
        value = json.loads(data) if data else None
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
