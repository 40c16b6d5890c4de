"""Plays the agent of an audit session: reads a file or two with bash, then reports by simple rules.

It goes by what it is shown, as a model would: the target files in the prompt, or the paths to read, or
nothing but a checkout. Every report quotes a line that it has seen, so that a person can tell from the
text which ones to expect; the same prompt and outputs lead to the same answers.
"""

import json
import re
import shlex
from itertools import takewhile
from typing import Any, NamedTuple

from modelserver.neutral import Asked, Reply, Tool

MOST_READ = 3
"""Files that it reads with commands."""

MOST_REPORTS = 4
"""Reports on one file."""

LIST = (
    "find . -type f '(' -name '*.py' -o -name '*.ts' -o -name '*.js' -o -name '*.mjs' ')' -printf "
    "'%s %p\\n' | grep -v -i -e test -e node_modules | LC_ALL=C sort -k1,1rn -k2 | head -n 20"
)
"""What it runs where it is told of no file: the largest come first."""

_FILE = re.compile(r"^FILE: (.+)$", re.MULTILINE)
_NUMBERED = re.compile(r"^(\d+)\|(.*)$", re.MULTILINE)
_TARGETS = re.compile(r"^TARGET FILES\n((?:.+\n)+)", re.MULTILINE)
_OUTPUT = re.compile(
    r"^command (\d+): (?:exit status -?\d+|time ran out, killed)\n(.*?)"
    r'(?=^command \d+: |^\{"action"|^Not accepted|^Last chance|\Z)',
    re.MULTILINE | re.DOTALL,
)


class Rule(NamedTuple):
    """A kind of line that it holds to be faulty."""

    pattern: re.Pattern[str]
    title: str
    """``{name}`` stands for the pattern's first group."""
    case: str
    severity: str
    confidence: float
    shift: int = 0
    """Lines by which it miscounts; its quotes are always right."""


RULES = (
    Rule(re.compile(r"\b(\w+)\[0\](?!\s*=[^=])"), "`{name}[0]` fails on an empty sequence",
         "An empty `{name}` has no first element.", "medium", 0.5),
    Rule(re.compile(r"/\s*len\((\w+)\)"), "Mean over `{name}` divides by zero",
         "With an empty `{name}` the length is 0.", "high", 0.7),
    Rule(re.compile(r"\bint\((\w+)"), "`{name}` with a fraction is not taken as a number",
         "A fraction such as `1.5` in `{name}` raises or is cut.", "low", 0.3, 2),
    Rule(re.compile(r"\bparseInt\((\w+)\)"), "`parseInt({name})` reads a prefix as a number",
         "`12px` in `{name}` becomes 12.", "low", 0.3, 2),
    Rule(re.compile(r"\b(\w+)\.split\("), "`{name}.split` gives empty parts",
         "Separators at the ends of `{name}` give empty parts.", "low", 0.2),
    Rule(re.compile(r"def \w+\(.*?\b(\w+)=(?:\[\]|\{\})"), "The default of `{name}` is shared by calls",
         "What a call puts into `{name}` is there in the next call.", "high", 0.9),
    Rule(re.compile(r"\b(\w+)\.(?:sort|reverse)\(\)"), "`{name}` of the caller is reordered",
         "The caller's `{name}` is changed in place.", "medium", 0.4),
    Rule(re.compile(r"(?:if|return) .*\b(\w+) (?:<=|>=) "), "The bound of `{name}` is off by one",
         "The value at the bound of `{name}` is treated as if it were beyond it.", "medium", 0.4),
)  # fmt: skip


def audit(asked: Asked) -> Reply | None:
    """The session's next action; None where the prompt is not one of an audit."""
    if not _is_audit(asked):
        return None
    native = bool(asked.tools)
    may_run = "bash" in asked.tools if native else '"bash"' in json.dumps(asked.schema)
    outputs = {int(number): text for number, text in _OUTPUT.findall(asked.prompt)}
    commands = plan(asked.prompt, outputs.get(1, ""))
    if len(outputs) < len(commands) and may_run:
        return _say(native, "bash", {"command": commands[len(outputs)], "timeout_s": None})
    return _say(native, "submit", {"findings": reports(asked.prompt, commands, outputs)})


def plan(prompt: str, first_output: str) -> list[str]:
    """The commands that it runs, one a turn."""
    named = _TARGETS.search(prompt)
    paths = named[1].splitlines() if named else _FILE.findall(prompt)
    if paths:
        return [read(path) for path in paths[:MOST_READ]]
    found = re.findall(r"^\d+ \./(.+)$", first_output, re.MULTILINE)
    return [LIST, *(read(path) for path in found[:MOST_READ])]


def read(path: str) -> str:
    """The command that shows a file as the prompt shows files."""
    return f"awk '{{ print FNR \"|\" $0 }}' {shlex.quote(path)}"


def reports(prompt: str, commands: list[str], outputs: dict[int, str]) -> list[dict[str, Any]]:
    """What it submits, file by file."""
    texts: dict[str, dict[int, str]] = {}
    blocks = _FILE.split(prompt)
    for path, block in zip(blocks[1::2], blocks[2::2], strict=True):
        shown = takewhile(_NUMBERED.match, block.removeprefix("\n").split("\n"))
        texts.setdefault(path, _lines("\n".join(shown)))
    for number, command in enumerate(commands, 1):
        words = shlex.split(command)
        if words[0] == "awk" and number in outputs:
            texts.setdefault(words[-1], {}).update(_lines(outputs[number]))
    return [report for path, lines in texts.items() for report in reports_on(path, lines)]


def reports_on(path: str, lines: dict[int, str]) -> list[dict[str, Any]]:
    """What it says of one file, by its numbered lines: each rule once, where it first applies."""
    found = []
    for rule in RULES:
        for number, line in sorted(lines.items()):
            hit = None if line.lstrip().startswith(("#", "//", "*")) else rule.pattern.search(line)
            if hit:
                found.append(_report(path, number, line, rule, hit[1]))
                break
    return found[:MOST_REPORTS]


def _report(path: str, number: int, line: str, rule: Rule, name: str) -> dict[str, Any]:
    return {
        "path": path,
        "first_line": number + rule.shift,
        "last_line": number + rule.shift,
        "snippet": line.strip(),
        "description": f"{rule.case.format(name=name)} The line `{line.strip()}` does not allow for it.",
        "title": rule.title.format(name=name),
        "severity": rule.severity,
        "confidence": rule.confidence,
        "suggested_fix": "Treat this case before the line.",
    }


def _lines(text: str) -> dict[int, str]:
    return {int(number): line for number, line in _NUMBERED.findall(text)}


def _is_audit(asked: Asked) -> bool:
    """Whether this is the agent of PROBE: command-line agents have tools of their own."""
    schema = json.dumps(asked.tools.get("submit", asked.schema))
    known = "submit" in asked.tools or (not asked.tools and '"submit"' in schema)
    return known and all(f'"{name}"' in schema for name in ("findings", "snippet", "first_line"))


def _say(native: bool, name: str, arguments: dict[str, Any]) -> Reply:
    if native:
        return Reply(tool_calls=[Tool(name, arguments)])
    given = {"answer": arguments} if name == "submit" else arguments
    return Reply(content=json.dumps({"action": name, **given}))
