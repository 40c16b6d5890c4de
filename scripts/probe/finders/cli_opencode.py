"""The finder ``cli/opencode``: opencode."""

from collections.abc import Sequence

from probe.finders.base import FinderContext
from probe.finders.cli import audit
from probe.finders.cli_base import (
    MODULES,
    URLS,
    Asked,
    CliTool,
    Event,
    Launch,
    Spoken,
    said,
    settings_file,
)
from probe.finders.shape import string
from probe.records import PassResult

_PACKAGE = "opencode-linux-{machine}-baseline"


def find(context: FinderContext) -> PassResult:
    """Let opencode audit the pass; see :func:`probe.finders.cli.audit`."""
    return audit(context, TOOL)


def _launch(asked: Asked) -> Launch:
    command = [
        *(
            f"{MODULES}/{_PACKAGE.format(machine=asked.machine)}/bin/opencode",
            "run",
            "--format",
            "json",
        ),
        *("--pure", "--title", "audit", "-m", f"probe/{asked.model}"),
    ]
    return Launch(
        command=command,
        again=lambda session: [*command, "--session", session],
        environment={
            "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
            "OPENCODE_DISABLE_CLAUDE_CODE": "1",
            "OPENCODE_DISABLE_EXTERNAL_SKILLS": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_SHARE": "1",
        },
        files=settings_file(".config/opencode/opencode.json", _settings(asked)),
    )


def _settings(asked: Asked) -> dict[str, object]:
    entry = asked.entry
    limit = {"context": entry.context_tokens, "output": entry.max_output_tokens}
    options = {"reasoningEffort": entry.effort} if entry.effort else {}
    return {
        "share": "disabled",
        "autoupdate": False,
        "permission": {"*": "allow", "webfetch": "deny", "websearch": "deny"},
        "provider": {
            "probe": {
                "npm": "@ai-sdk/openai-compatible",
                "options": {
                    "baseURL": URLS["OPENAI_BASE_URL"],
                    "apiKey": URLS["OPENAI_API_KEY"],
                },
                "models": {asked.model: {"limit": limit, "options": options}},
            }
        },
    }


def _read(events: Sequence[Event]) -> Spoken:
    session = next((string(event, "sessionID") for event in events), None)
    errors = [event for event in events if event.get("type") == "error"]
    if errors:
        error = said(errors[-1], "error", "data", "message") or said(errors[-1], "error", "name")
        return Spoken(None, session, error or "an error")
    text, ended = "", False
    for event in events:
        match event.get("type"):
            case "step_start":
                text, ended = "", False
            case "text":
                text += said(event, "part", "text") or ""
            case "step_finish":
                ended = said(event, "part", "reason") == "stop"
    return (
        Spoken(text or None, session) if ended else Spoken(None, session, "no end of its session")
    )


TOOL = CliTool(
    name="opencode",
    protocol="chat",
    package=_PACKAGE,
    launch=_launch,
    read=_read,
    efforts=frozenset({"none", "minimal", "low", "medium", "high", "xhigh", "max"}),
)
