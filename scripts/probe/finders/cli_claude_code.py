"""The finder ``cli/claude-code``: Anthropic's Claude Code."""

from collections.abc import Sequence

from probe.finders.base import FinderContext
from probe.finders.cli import audit
from probe.finders.cli_base import (
    MODULES,
    Asked,
    CliTool,
    Event,
    Launch,
    Spoken,
    as_json,
    last,
    said,
)
from probe.finders.shape import string
from probe.records import PassResult

_PACKAGE = "@anthropic-ai/claude-code-linux-{machine}"
_TOOLS = "Bash,Edit,Glob,Grep,Read,Write"
"""All but those for the web, other agents, notebooks, plans and questions."""

_EFFORTS = frozenset({"low", "medium", "high", "xhigh", "max"})


def find(context: FinderContext) -> PassResult:
    """Let Claude Code audit the pass; see :func:`probe.finders.cli.audit`."""
    return audit(context, TOOL)


def _launch(asked: Asked) -> Launch:
    command = [
        f"{MODULES}/{_PACKAGE.format(machine=asked.machine)}/claude",
        *("-p", "--output-format", "stream-json", "--verbose", "--safe-mode"),
        *("--dangerously-skip-permissions", "--tools", _TOOLS, "--model", asked.model),
        *("--json-schema", asked.schema),
    ]
    if asked.entry.effort is not None:
        command += ["--effort", asked.entry.effort]
    return Launch(
        command=command,
        again=lambda session: [*command, "--resume", session],
        environment={
            "ANTHROPIC_SMALL_FAST_MODEL": asked.model,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(asked.entry.max_output_tokens),
        },
    )


def _read(events: Sequence[Event]) -> Spoken:
    end = last(events, "result")
    session = said(end, "session_id") or said(last(events, "system"), "session_id")
    if not end:
        return Spoken(None, session, "no end of its session")
    if end.get("is_error") or end.get("subtype") != "success":
        return Spoken(None, session, string(end, "result") or string(end, "subtype") or "an error")
    return Spoken(as_json(end.get("structured_output")) or said(end, "result"), session)


TOOL = CliTool(
    name="claude-code",
    protocol="messages",
    package=_PACKAGE,
    launch=_launch,
    read=_read,
    efforts=_EFFORTS,
)
