"""The finder ``cli/pi``: the agent pi (``@earendil-works/pi-coding-agent``)."""

from collections.abc import Sequence

from probe.finders.base import FinderContext
from probe.finders.cli import audit
from probe.finders.cli_base import (
    URLS,
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
from probe.finders.shape import array, section, string
from probe.records import PassResult


def find(context: FinderContext) -> PassResult:
    """Let pi audit the pass; see :func:`probe.finders.cli.audit`."""
    return audit(context, TOOL)


def _launch(asked: Asked) -> Launch:
    command = [
        *script("@earendil-works/pi-coding-agent/dist/bundle/cli.js", asked.machine),
        *("--mode", "json", "--provider", "probe", "--model", asked.model, "--offline"),
        *("--no-extensions", "--no-mcp", "--no-skills", "--no-prompt-templates", "--no-themes"),
        *("--no-context-files", "--no-approve"),
    ]
    if asked.entry.effort:
        command += ["--thinking", asked.entry.effort.replace("none", "off")]
    return Launch(
        command=command,
        again=lambda session: [*command, "--session", session],
        environment={"PI_TELEMETRY": "0"},
        files=settings_file(".pi/agent/models.json", _settings(asked)),
    )


def _settings(asked: Asked) -> dict[str, object]:
    entry = asked.entry
    model = {
        "id": asked.model,
        "reasoning": entry.effort is not None,
        "contextWindow": entry.context_tokens,
        "maxTokens": entry.max_output_tokens,
    }
    provider = {
        "baseUrl": URLS["OPENAI_BASE_URL"],
        "apiKey": URLS["OPENAI_API_KEY"],
        "api": "openai-completions",
        "models": [model],
    }
    return {"providers": {"probe": provider}}


def _read(events: Sequence[Event]) -> Spoken:
    session = said(last(events, "session"), "id")
    ended = [e for e in events if e.get("type") == "message_end"]
    spoken = [m for m in (section(e, "message") for e in ended) if m.get("role") == "assistant"]
    if not spoken or not last(events, "agent_settled"):
        return Spoken(None, session, "no end of its session")
    if string(spoken[-1], "stopReason") != "stop":
        reason = string(spoken[-1], "errorMessage") or string(spoken[-1], "stopReason")
        return Spoken(None, session, reason or "an error")
    parts = array(spoken[-1], "content")
    text = "".join(string(part, "text") for part in parts if string(part, "type") == "text")
    return Spoken(text or None, session)


TOOL = CliTool(
    name="pi",
    protocol="chat",
    package="@earendil-works/pi-coding-agent",
    launch=_launch,
    read=_read,
    efforts=frozenset({"none", "minimal", "low", "medium", "high", "xhigh", "max"}),
)
