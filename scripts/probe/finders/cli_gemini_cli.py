"""The finder ``cli/gemini-cli``: Google's Gemini CLI."""

from collections.abc import Sequence

from probe.finders.base import FinderContext
from probe.finders.cli import audit
from probe.finders.cli_base import (
    Asked,
    CliTool,
    Event,
    Launch,
    Spoken,
    last,
    said,
    script,
    settings_file,
)
from probe.finders.shape import string
from probe.records import PassResult

_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
    "tools": {"exclude": ["google_web_search", "web_fetch"]},
    "hooksConfig": {"enabled": False},
    "skills": {"enabled": False},
    "admin": {"mcp": {"enabled": False}},
}
"""What lies in a repository's own ``.gemini/`` and ``GEMINI.md`` is read all the same: no setting keeps it
out, and settings that would go first must belong to root."""


def find(context: FinderContext) -> PassResult:
    """Let Gemini CLI audit the pass; see :func:`probe.finders.cli.audit`."""
    return audit(context, TOOL)


def _launch(asked: Asked) -> Launch:
    command = [
        *script("@google/gemini-cli/bundle/gemini.js", asked.machine),
        *("-m", asked.model, "--yolo", "--skip-trust", "--output-format", "stream-json"),
    ]
    return Launch(
        command=command,
        again=lambda _: [*command, "--resume", "latest"],
        files=settings_file(".gemini/settings.json", _SETTINGS),
    )


def _read(events: Sequence[Event]) -> Spoken:
    session = said(last(events, "init"), "session_id")
    end = last(events, "result")
    if end.get("status") != "success":
        error = said(end, "error", "message") or said(last(events, "error"), "message")
        return Spoken(None, session, error or "no end of its session")
    text = ""
    for event in events:
        if event.get("type") == "message" and event.get("role") == "assistant":
            text += string(event, "content")
        elif event.get("type") in ("tool_use", "tool_result"):
            text = ""
    return Spoken(text or None, session)


TOOL = CliTool(
    name="gemini-cli",
    protocol="gemini",
    package="@google/gemini-cli",
    launch=_launch,
    read=_read,
)
