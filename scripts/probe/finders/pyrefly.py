"""The analyser pyrefly, a type checker.

Only the listed error kinds are on (preset ``off``). Neither a configuration nor an environment of
the snapshot is read and no interpreter is asked, so that imports of dependencies are unknown types
on every machine. Comments that ask any type checker to ignore a line are respected and counted by
a second run that respects none in use.
"""

import glob
import json
import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from probe.finders.analyzer import Analyzer, Job, find_with
from probe.finders.base import FinderContext, tool_path, tool_version
from probe.finders.chunks import Scan
from probe.finders.normalise import RawItem
from probe.finders.process import ToolCrashError
from probe.finders.shape import array, integer, string
from probe.records import PassResult, Severity

_SEVERITIES: dict[str, Severity] = {"error": "high", "warn": "medium", "info": "low"}
_SYNTAX = "parse-error"


def find(context: FinderContext) -> PassResult:
    """Report what pyrefly's error kinds claim about the pass's Python files."""
    return find_with(ANALYZER, context)


def command(job: Job, files: Sequence[str]) -> list[str]:
    """The command line; its output is JSON."""
    kinds = [kind for kind in job.settings.rules if kind not in job.settings.ignore]
    config = job.bench.write("pyrefly.toml", "")
    return [
        str(tool_path("pyrefly")), "check", f"--config={config}", "--preset=off",
        f"--error={','.join(dict.fromkeys((*kinds, _SYNTAX)))}",
        *([f"--ignore={','.join(job.settings.ignore)}"] if job.settings.ignore else []),
        "--skip-interpreter-query", "--disable-search-path-heuristics=true",
        "--use-ignore-files=false", "--python-version=3.14", "--python-platform=linux",
        "--threads=1", f"--relative-to={job.root}", "--progress-bar=no", "--summary=full",
        "--color=never", "--output-format=json", "--permissive-ignores=true",
        *(f"--search-path={root}" for root in import_roots(job.root, job.files)), *files,
    ]  # fmt: skip


def scan(job: Job, files: Sequence[str], limit_s: float) -> Scan:
    """One run for the findings, one for the number of those suppressed."""
    binary = [path for path in files if not _is_utf8(job.root / path)]
    line = command(job, [glob.escape(path) for path in job.absolute(files)])
    reported = _run(job, line, limit_s, len(files))
    # `zuban` stands for "none": the option takes no empty list
    unfiltered = ["--enabled-ignores=zuban" if "permissive-ignores" in p else p for p in line]
    everything = _run(job, unfiltered, limit_s, len(files))
    broken = {string(e, "path"): string(e, "description") for e in reported if _is_syntax(e)}
    return Scan(
        items=[_item(error) for error in reported if not _is_syntax(error)],
        skipped=dict.fromkeys(binary, "not UTF-8") | broken,
        suppressed=max(len(everything) - len(reported), 0),
    )


def import_roots(root: Path, files: Sequence[str]) -> list[Path]:
    """Folders that the files' absolute imports start from.

    The root, ``src`` (also for namespace packages, which no file marks), and for each file the
    folder above its topmost ``__init__.py``.
    """
    folders = {PurePosixPath(path).parent for path in files}
    tops = {root} | ({root / "src"} if (root / "src").is_dir() else set())
    for folder in folders:
        top = folder
        while top.parts and (root / top / "__init__.py").is_file():
            top = top.parent
        tops.add(root / top)
    return sorted(tops)


def _run(job: Job, line: Sequence[str], limit_s: float, files: int) -> list[dict[str, object]]:
    output = job.bench.execute(line, limit_s)
    if output.status not in {0, 1}:
        raise output.crash("pyrefly")
    try:
        errors = array(json.loads(output.stdout), "errors")
    except ValueError as error:
        raise output.crash("pyrefly") from error
    # pyrefly says nothing of a file that it does not find or leaves out
    read = re.search(rb"INFO ([\d,]+) modules? \(", output.stderr)
    if read is None or int(read.group(1).replace(b",", b"")) != files:
        said = read.group(1).decode() if read else "an unknown number"
        raise ToolCrashError(f"pyrefly read {said} of {files} files and does not say which")
    return [error for error in errors if isinstance(error, dict)]


def _is_utf8(path: Path) -> bool:
    try:
        path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _is_syntax(error: dict[str, object]) -> bool:
    return string(error, "name") == _SYNTAX


def _item(error: dict[str, object]) -> RawItem:
    return RawItem(
        paths=(string(error, "path"),),
        first=integer(error, "line"),
        last=integer(error, "stop_line"),
        column=integer(error, "column"),
        end_column=integer(error, "stop_column"),
        rule=string(error, "name"),
        title=string(error, "concise_description"),
        message=string(error, "description"),
        severity=_SEVERITIES.get(string(error, "severity")),
        raw=error,
    )


ANALYZER = Analyzer(
    tool="pyrefly",
    endings=(".py", ".pyi"),
    command=command,
    scan=scan,
    version=lambda: tool_version("pyrefly"),
)
