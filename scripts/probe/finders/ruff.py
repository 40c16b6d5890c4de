"""The analyser ruff.

Isolated from the snapshot's own configuration. Preview rules run only when listed by their full
code. The newest grammar is assumed, so that no file is skipped for being too modern. Findings that
a ``noqa`` comment suppresses are left out, since the maintainers have seen them, and counted by a
second run that ignores the comments.
"""

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from probe.errors import FinderError
from probe.finders.analyzer import Analyzer, Job, find_with
from probe.finders.base import FinderContext, tool_path, tool_version
from probe.finders.chunks import Scan
from probe.finders.normalise import RawItem
from probe.finders.process import open_bench
from probe.finders.shape import integer, section, string
from probe.records import PassResult, Severity

_SEVERITIES: dict[str, Severity] = {"error": "high", "warning": "medium", "info": "low"}
_UNREADABLE = {"invalid-syntax", "io-error", "panic"}


def find(context: FinderContext) -> PassResult:
    """Report what ruff's rules claim about the pass's Python files."""
    return find_with(ANALYZER, context)


def command(job: Job, files: Sequence[str]) -> list[str]:
    """The command line; its output is JSON."""
    return [
        str(tool_path("ruff")), "check", "--isolated", "--no-cache", "--no-respect-gitignore",
        "--target-version=py314", "--preview", "--config=lint.explicit-preview-rules=true",
        "--output-format=json", f"--select={','.join((*job.settings.rules, 'E902'))}",
        *([f"--ignore={','.join(job.settings.ignore)}"] if job.settings.ignore else []),
        *files,
    ]  # fmt: skip


def scan(job: Job, files: Sequence[str], limit_s: float) -> Scan:
    """One run for the findings, one for the number of those suppressed."""
    line = command(job, job.absolute(files))
    reported = _run(job, line, limit_s)
    everything = _run(job, [line[0], line[1], "--ignore-noqa", *line[2:]], limit_s)
    return Scan(
        items=[_item(one) for one in reported if string(one, "name") not in _UNREADABLE],
        skipped=_skipped(job.root, reported),
        suppressed=max(len(everything) - len(reported), 0),
    )


def _run(job: Job, line: Sequence[str], limit_s: float) -> list[dict[str, object]]:
    output = job.bench.execute(line, limit_s)
    if output.status not in {0, 1}:
        raise output.crash("ruff")
    unknown = re.search(rb"Unknown rule selector [^\n]*", output.stderr)
    if unknown:
        raise FinderError(
            f"ruff: {unknown.group().decode(errors='replace')}; correct the run's rules"
        )
    try:
        items = json.loads(output.stdout)
    except ValueError as error:
        raise output.crash("ruff") from error
    return [item for item in items if isinstance(item, dict)]


def _skipped(root: Path, items: Sequence[dict[str, object]]) -> dict[str, str]:
    """Files with a syntax error or that are not UTF-8, with ruff's words."""
    return {
        string(item, "filename").removeprefix(f"{root}/"): string(item, "message")
        for item in reversed(items)
        if string(item, "name") in _UNREADABLE
    }


def _item(one: dict[str, object]) -> RawItem:
    start, end, code = section(one, "location"), section(one, "end_location"), string(one, "code")
    return RawItem(
        paths=(string(one, "filename"),),
        first=integer(start, "row"),
        last=integer(end, "row"),
        column=integer(start, "column"),
        end_column=integer(end, "column"),
        rule=code or string(one, "name"),
        title="",
        message=string(one, "message"),
        meaning=_meanings().get(code, ""),
        severity=_SEVERITIES.get(string(one, "severity")),
        suggested_fix=string(section(one, "fix"), "message") or None,
        raw=one,
    )


@cache
def _meanings() -> dict[str, str]:
    """What each rule checks and why, the first paragraphs of ruff's own explanation."""
    with open_bench(Path("/")) as bench:
        output = bench.execute(
            [str(tool_path("ruff")), "rule", "--all", "--output-format=json"], 60
        )
    try:
        rules = json.loads(output.stdout)
    except ValueError as error:
        raise FinderError("ruff: `ruff rule --all` prints no JSON") from error
    return {str(rule["code"]): _lead(str(rule["explanation"])) for rule in rules if rule["code"]}


def _lead(explanation: str) -> str:
    sections = explanation.split("## ")
    wanted = [part for part in sections if part.startswith(("What it does", "Why is this bad"))]
    return "\n".join(
        " ".join(part.partition("\n")[2].strip().split("\n\n")[0].split()) for part in wanted
    )


ANALYZER = Analyzer(
    tool="ruff",
    endings=(".py", ".pyi"),
    command=command,
    scan=scan,
    version=lambda: tool_version("ruff"),
)
