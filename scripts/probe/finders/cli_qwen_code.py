"""The finder ``cli/qwen-code``: Qwen Code."""

from collections.abc import Sequence

from probe.finders.base import FinderContext
from probe.finders.cli import audit
from probe.finders.cli_base import (
    SCHEMA_FILE,
    URLS,
    Asked,
    CliTool,
    Event,
    Launch,
    Spoken,
    as_json,
    last,
    said,
    script,
    settings_file,
)
from probe.finders.shape import array, section, string
from probe.records import PassResult

_SETTINGS = {
    "security": {"auth": {"selectedType": "openai"}},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
    "telemetry": {"enabled": False},
}


def find(context: FinderContext) -> PassResult:
    """Let Qwen Code audit the pass; see :func:`probe.finders.cli.audit`."""
    return audit(context, TOOL)


def _launch(asked: Asked) -> Launch:
    command = [
        *script("@qwen-code/qwen-code/cli-entry.js", asked.machine),
        *("--auth-type", "openai", "-m", asked.model, "--yolo", "--safe-mode"),
        *("--output-format", "stream-json", "--json-schema", f"@{SCHEMA_FILE}"),
        *("--exclude-tools", "web_fetch,web_search"),
    ]
    return Launch(
        command=command,
        again=lambda session: [*command, "--resume", session],
        environment={"OPENAI_MODEL": asked.model, "OPENAI_BASE_URL": URLS["OPENAI_BASE_URL"]},
        files=settings_file(".qwen/settings.json", {**_SETTINGS, "model": _model(asked)}),
    )


def _model(asked: Asked) -> dict[str, object]:
    settings: dict[str, object] = {"contextWindowSize": asked.entry.context_tokens}
    if asked.entry.effort is not None:
        settings["reasoning"] = {"effort": asked.entry.effort}
    return {"generationConfig": settings}


def _read(events: Sequence[Event]) -> Spoken:
    end = last(events, "result")
    session = said(end, "session_id") or said(last(events, "system"), "session_id")
    if not end:
        return Spoken(None, session, "no end of its session")
    if end.get("is_error") or end.get("subtype") != "success":
        error = said(end, "error", "message") or string(end, "result") or string(end, "subtype")
        if "--json-schema" in error:
            return Spoken(_last_text(events), session, misfit=True)
        return Spoken(None, session, error or "an error")
    return Spoken(as_json(end.get("structured_result")) or said(end, "result"), session)


def _last_text(events: Sequence[Event]) -> str | None:
    parts = array(section(last(events, "assistant"), "message"), "content")
    return "".join(string(part, "text") for part in parts) or None


TOOL = CliTool(
    name="qwen-code",
    protocol="chat",
    package="@qwen-code/qwen-code",
    launch=_launch,
    read=_read,
    efforts=frozenset({"low", "medium", "high"}),
)
