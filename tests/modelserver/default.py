"""What the server answers when no test told it what: plausible, and the same each time."""

import json
import re
from typing import Any

from modelserver.auditor import audit
from modelserver.contextwriter import describe
from modelserver.investigator import investigate
from modelserver.neutral import Asked, Reply, Tool
from modelserver.readers import extract
from modelserver.schemas import Schema, instance
from modelserver.writers import write

_FILE = re.compile(r"(?im)^(?:[#=\-*\s]*)(?:file|path):?\s+[`\"']?([\w./\-+@ ]+\.\w+)[`\"']?.*$")
_FIX = re.compile(r"\bfix(?:es|ed)?\b", re.IGNORECASE)
_FIRST_LINE = ("first", "line", "first_line", "start_line")
_LAST_LINE = ("last", "last_line", "end_line")


def default_reply(asked: Asked) -> Reply:
    """A forced tool, else an instance of the schema, else the tool ``submit``, else a sentence."""
    if played := investigate(asked):
        return played
    if audited := audit(asked):
        return audited
    if described := describe(asked):
        return described
    if read := extract(asked):
        return read
    if written := write(asked):
        return written
    tool = asked.forced or (None if asked.schema else "submit" if "submit" in asked.tools else None)
    if tool is not None:
        return Reply(tool_calls=[Tool(tool, filled(asked.tools.get(tool, {}), asked))])
    if asked.schema is not None:
        return Reply(content=json.dumps(filled(asked.schema, asked)))
    return Reply(content=f"Answer {asked.digest} to: {asked.last_user[:60]}")


def filled(schema: Schema, asked: Asked) -> Any:
    """An instance of a schema that fits the prompt where it is a classification or an audit."""
    value = instance(schema, asked.digest)
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("is_fix"), bool):
        value["is_fix"] = _FIX.search(asked.last_user) is not None
    findings = value.get("findings")
    if isinstance(findings, list) and findings and isinstance(findings[0], dict):
        value["findings"] = [_finding(findings[0], path) for path in shown_files(asked.last_user)]
    return value


def shown_files(prompt: str) -> list[str]:
    """Paths of the files in a prompt, in order: of lines such as ``FILE: src/a.py``."""
    return list(dict.fromkeys(path.strip() for path in _FILE.findall(prompt)))


def _finding(model: dict[str, Any], path: str) -> dict[str, Any]:
    finding = dict(model)
    for key in ("path", "file"):
        if key in finding:
            finding[key] = path
    for key in (*_FIRST_LINE, *_LAST_LINE):
        if isinstance(finding.get(key), int):
            finding[key] = 1
    if "title" in finding:
        finding["title"] = f"Suspicious first line in {path}"
    return finding
