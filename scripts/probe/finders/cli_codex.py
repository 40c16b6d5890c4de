"""The finder ``cli/codex``: OpenAI's Codex."""

from collections.abc import Sequence

from probe.finders.base import FinderContext
from probe.finders.cli import audit
from probe.finders.cli_base import (
    MODULES,
    SCHEMA_FILE,
    URLS,
    Asked,
    CliTool,
    Event,
    Launch,
    Spoken,
    last,
    said,
)
from probe.finders.shape import string
from probe.records import PassResult

_PACKAGE = "@openai/codex-linux-{machine}"
_TRIPLES = {"x64": "x86_64-unknown-linux-musl", "arm64": "aarch64-unknown-linux-musl"}


def find(context: FinderContext) -> PassResult:
    """Let codex audit the pass; see :func:`probe.finders.cli.audit`."""
    return audit(context, TOOL)


def _launch(asked: Asked) -> Launch:
    package = _PACKAGE.format(machine=asked.machine)
    path = f"{MODULES}/{package}/vendor/{_TRIPLES[asked.machine]}/bin/codex"
    provider = f'{{name="probe", base_url="{URLS["OPENAI_BASE_URL"]}", env_key="OPENAI_API_KEY", wire_api="responses"}}'
    settings = {
        "model_provider": "probe",
        "model_providers.probe": provider,
        "model_context_window": str(asked.entry.context_tokens),
        "web_search": "disabled",
        "project_doc_max_bytes": "0",
        "check_for_update_on_startup": "false",
        "analytics.enabled": "false",
    }
    if asked.entry.effort:
        settings["model_reasoning_effort"] = asked.entry.effort
    options = [
        *("--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"),
        *("--output-schema", SCHEMA_FILE, "-m", asked.model),
        *(part for key, value in settings.items() for part in ("-c", f"{key}={value}")),
    ]
    command = [path, "exec"]
    return Launch(
        command=[*command, *options, "-"],
        again=lambda session: [*command, "resume", *options, session, "-"],
    )


def _read(events: Sequence[Event]) -> Spoken:
    answer = None
    for event in events:
        if event.get("type") == "item.completed" and said(event, "item", "type") == "agent_message":
            answer = said(event, "item", "text")
    error = None
    if not last(events, "turn.completed"):
        failed = last(events, "turn.failed") or last(events, "error")
        error = (
            said(failed, "error", "message") or string(failed, "message") or "no end of its turn"
        )
        answer = None
    return Spoken(answer, said(last(events, "thread.started"), "thread_id"), error)


TOOL = CliTool(
    name="codex",
    protocol="responses",
    package=_PACKAGE,
    launch=_launch,
    read=_read,
    efforts=frozenset({"none", "minimal", "low", "medium", "high", "xhigh"}),
)
