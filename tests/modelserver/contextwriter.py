"""Plays the agent of stage context: looks at README and sources with a few commands, then describes.

It reads which files there are in the prompt, asks for one command a turn, and says of the project
only what was printed, so that a person can tell the document from the project. The same prompt and
outputs lead to the same answers.
"""

import json
import re
import shlex
from typing import Any

from modelserver.neutral import Asked, Reply, Tool

MOST_FILES = 4
"""Files that it reads."""

README = 'ls -p; f=$(ls | grep -i \'^readme\' | head -n 1); test -z "$f" || head -c 2500 "$f"'
UNITS = "^((def|class|async def|export (default )?(async )?(function|class|const)) +|exports[.])[A-Za-z]"
PURPOSELY = "intentional|on purpose|by design|deliberate"
MISSING = "not supported|unsupported|not implemented|limitation"

_FILE = re.compile(r"^(\S+\.\w+): (\d+) lines, called from (\d+)", re.MULTILINE)
_OUTPUT = re.compile(
    r"^command (\d+): (?:exit status -?\d+|time ran out, killed)\n(.*?)"
    r'(?=^command \d+: |^\{"action"|^Not accepted|^Last chance|\Z)',
    re.MULTILINE | re.DOTALL,
)
_GREPPED = re.compile(r"^(?:\./)?([^:\n]+):(\d+):(.*)$", re.MULTILINE)
_NAME = re.compile(r"(?:(?:def|class|function|const)\s+|exports\.)([A-Za-z_$][\w$]*)")


def describe(asked: Asked) -> Reply | None:
    """The agent's next action; None where the prompt is not one of stage context."""
    if not _is_context(asked):
        return None
    files = [(path, int(lines)) for path, lines, _ in _FILE.findall(asked.prompt)]
    commands = plan([path for path, _ in files])
    outputs = {int(number): text for number, text in _OUTPUT.findall(asked.prompt)}
    native = bool(asked.tools)
    may_run = "bash" in asked.tools if native else '"bash"' in json.dumps(asked.schema)
    if len(outputs) < len(commands) and may_run:
        return _say(native, "bash", {"command": commands[len(outputs)], "timeout_s": None})
    return _say(native, "submit", document(files, outputs))


def plan(paths: list[str]) -> list[str]:
    """The commands that it runs, one a turn."""
    read = " ".join(shlex.quote(path) for path in paths[:MOST_FILES]) or "/dev/null"
    search = "grep -rniI -E {} --include='*.md' --include='*.rst' --include='*.py' --include='*.[jt]s' . "
    search += "| grep -v -i test | LC_ALL=C sort | cut -c1-200 | head -n 5"
    return [
        README,
        f"(grep -n -H -E {shlex.quote(UNITS)} {read}; grep -n -H -m 1 -E 'const|class|def' {read}) | head -n 12",
        search.format(shlex.quote(PURPOSELY)),
        search.format(shlex.quote(MISSING)),
    ]


def document(files: list[tuple[str, int]], outputs: dict[int, str]) -> dict[str, Any]:
    """What it submits; every name and quote was printed."""
    readme = [line for line in _plain(outputs.get(1, "")).splitlines() if len(line) > 60]
    units = _GREPPED.findall(_plain(outputs.get(2, "")))
    names = [(found[1], path) for path, _, line in units if (found := _NAME.search(line))]
    return {
        "purpose": (readme or ["A project whose README says nothing at length."])[0].strip(" #>*"),
        "overview": f"The largest of its sources is `{files[0][0]}`." if files else "",
        "modules": [
            {"path": path, "role": f"Has {lines} lines.", "reached": "By its callers."}
            for path, lines in files[:12]
        ],
        "public_api": [
            {"name": name, "path": path, "does": f"Is defined in `{path}`."} for name, path in names
        ],
        "supported_inputs": [
            {"text": line.strip(" -*"), "paths": [files[0][0]]} for line in readme[1:3] if files
        ],
        "error_handling": [],
        "intentional_deviations": _quoted(outputs.get(3, "")),
        "unsupported_features": _quoted(outputs.get(4, "")),
    }


def _quoted(output: str) -> list[dict[str, Any]]:
    lines = _GREPPED.findall(_plain(output))
    return [
        {"text": f"It says so in line {number}.", "path": path, "quote": line.strip()[:150]}
        for path, number, line in lines
        if len(line.strip()) >= 8
    ]


def _plain(output: str) -> str:
    return re.sub(r"^(?:stdout:|stderr:|no output)\n?", "", output, flags=re.MULTILINE)


def _is_context(asked: Asked) -> bool:
    schema = json.dumps(asked.tools.get("submit", asked.schema))
    return all(f'"{name}"' in schema for name in ("intentional_deviations", "public_api"))


def _say(native: bool, name: str, arguments: dict[str, Any]) -> Reply:
    if native:
        return Reply(tool_calls=[Tool(name, arguments)])
    given = {"answer": arguments} if name == "submit" else arguments
    return Reply(content=json.dumps({"action": name, **given}))
