"""The analyser oxlint, for JavaScript and TypeScript.

A configuration of ours is the only one read. Rules are named ``plugin/rule``; a category
(``correctness``) stands for its rules in the plugins that are named elsewhere in the list. What an
``eslint-disable`` or ``oxlint-disable`` comment suppresses is left out and counted by a second run
that does not respect them. The level that oxlint prints is the one that the configuration gave, so
it is no severity.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from probe.finders.analyzer import Analyzer, Job, find_with
from probe.finders.base import FinderContext, tool_path, tool_version
from probe.finders.chunks import Scan
from probe.finders.normalise import RawItem
from probe.finders.process import ToolCrashError
from probe.finders.shape import array, integer, section, string
from probe.records import PassResult

CATEGORIES = ("correctness", "suspicious", "pedantic", "perf", "style", "restriction", "nursery")


def find(context: FinderContext) -> PassResult:
    """Report what oxlint's rules claim about the pass's JavaScript and TypeScript files."""
    return find_with(ANALYZER, context)


def configuration(job: Job, respect_comments: bool) -> str:
    """The configuration file: the listed rules and nothing else."""
    rules, ignored = job.settings.rules, job.settings.ignore
    plugins = sorted({rule.partition("/")[0] for rule in (*rules, *ignored) if "/" in rule})
    levels = {rule: "warn" for rule in rules if rule not in CATEGORIES}
    return json.dumps(
        {
            "plugins": plugins,
            "categories": {name: "warn" if name in rules else "off" for name in CATEGORIES},
            "rules": levels | dict.fromkeys(ignored, "off"),
            "options": {"respectEslintDisableDirectives": respect_comments},
        },
        indent=1,
    )


def command(job: Job, files: Sequence[str]) -> list[str]:
    """The command line; its output is JSON."""
    config = job.bench.write("oxlint.json", configuration(job, respect_comments=True))
    return [
        str(tool_path("oxlint")), "--config", str(config), "--disable-nested-config",
        "--no-ignore", "--threads=1", "--format=json", *files,
    ]  # fmt: skip


def scan(job: Job, files: Sequence[str], limit_s: float) -> Scan:
    """One run for the findings, one for the number of those suppressed."""
    line = command(job, job.absolute(files))
    reported = _run(job, line, limit_s, len(files))
    open_config = job.bench.write("oxlint-open.json", configuration(job, respect_comments=False))
    everything = _run(job, [line[0], line[1], str(open_config), *line[3:]], limit_s, len(files))
    root = f"{job.root}/"
    return Scan(
        items=[_item(job, one) for one in reported if string(one, "code")],
        skipped={
            _absolute(job, one).removeprefix(root): string(one, "message")
            for one in reversed(reported)
            if not string(one, "code")
        },
        suppressed=max(len(everything) - len(reported), 0),
    )


def _run(job: Job, line: Sequence[str], limit_s: float, files: int) -> list[dict[str, object]]:
    output = job.bench.execute(line, limit_s)
    try:
        report = json.loads(output.stdout)
    except ValueError as error:
        raise output.crash("oxlint") from error
    read = integer(report, "number_of_files")
    if output.status not in {0, 1}:
        raise output.crash("oxlint")
    if read != files:
        raise ToolCrashError(f"oxlint read {read} of {files} files and does not say which")
    return [one for one in array(report, "diagnostics") if isinstance(one, dict)]


def _absolute(job: Job, one: dict[str, object]) -> str:
    """The diagnostic's file; oxlint prints it relative where it lies below the working folder."""
    name = string(one, "filename")
    return name if name.startswith("/") else f"{job.bench.folder}/work/{name}"


def _item(job: Job, one: dict[str, object]) -> RawItem:
    labels = [label for label in array(one, "labels") if isinstance(label, dict)]
    span = section(labels[0], "span") if labels else {}
    notes = [string(label, "label") for label in labels if string(label, "label")]
    return RawItem(
        paths=(_absolute(job, one),),
        first=integer(span, "line"),
        last=_last_line(_absolute(job, one), span),
        column=integer(span, "column"),
        end_column=None,
        rule=string(one, "code"),
        title=string(one, "message"),
        message="\n".join((string(one, "message"), *notes)),
        suggested_fix=string(one, "help") or None,
        raw=one,
    )


def _last_line(path: str, span: dict[str, object]) -> int | None:
    """Last line of a span, which oxlint gives as an offset and a length in bytes."""
    first, start, length = (integer(span, key) for key in ("line", "offset", "length"))
    if first is None or start is None or not length:
        return first
    return first + Path(path).read_bytes()[start : start + length].rstrip().count(b"\n")


ANALYZER = Analyzer(
    tool="oxlint",
    endings=(".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"),
    command=command,
    scan=scan,
    version=lambda: tool_version("oxlint"),
)
