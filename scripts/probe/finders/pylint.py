"""The analyser pylint.

It runs behind :mod:`probe.finders.pylint_guard`, with a configuration of ours and without
plug-ins. Messages that a ``pylint: disable`` comment suppresses are left out and counted; one that
an ``enable`` comment asks for beyond the run's rules is dropped, since the rules are the run's.
"""

import json
import platform
import re
import sys
from collections.abc import Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from probe.errors import FinderError
from probe.finders.analyzer import Analyzer, Job, find_with
from probe.finders.base import FinderContext
from probe.finders.chunks import Scan
from probe.finders.normalise import RawItem
from probe.finders.shape import array, integer, section, string
from probe.records import PassResult, Severity

_SEVERITIES: dict[str, Severity] = {"error": "high", "warning": "medium"}
_UNREADABLE = {"fatal", "astroid-error", "syntax-error", "parse-error", "method-check-failed"}
_IGNORED_FILE = "file-ignored"
_SUPPRESSED = "suppressed-message"
_UNKNOWN = "unknown-option-value"
_NO_CLAIM = _UNREADABLE | {
    _IGNORED_FILE,
    _SUPPRESSED,
    _UNKNOWN,
    "unrecognized-inline-option",
    "useless-option-value",
}
"""About the run or the comments, not about the code."""
_GUARD = Path(__file__).with_name("pylint_guard.py")


def find(context: FinderContext) -> PassResult:
    """Report what pylint's messages claim about the pass's Python files."""
    return find_with(ANALYZER, context)


def version() -> str:
    """Pylint's version with what its inference depends on.

    Raises:
        FinderError: it is not installed.
    """
    if find_spec("pylint") is None:
        raise FinderError(
            f"analyser 'pylint' is not installed for {sys.executable}; "
            "`make demo` or `make test` set up .venv with it"
        )
    astroid, python = metadata.version("astroid"), platform.python_version()
    return f"{metadata.version('pylint')} (astroid {astroid}, Python {python})"


def command(job: Job, files: Sequence[str]) -> list[str]:
    """The command line; its output is the guard's JSON."""
    config = job.bench.write("pylintrc.toml", "[tool.pylint.main]\n")
    asked = (*job.settings.rules, "fatal", "astroid-error", "syntax-error", "parse-error",
             _UNKNOWN, _SUPPRESSED, _IGNORED_FILE)  # fmt: skip
    return [
        sys.executable, "-P", "-s", str(_GUARD), str(job.root), f"--rcfile={config}",
        "--persistent=n", "--jobs=1", "--unsafe-load-any-extension=n", "--ignore=", "--score=n",
        "--limit-inference-results=100", "--disable=all", f"--enable={','.join(asked)}",
        *([f"--disable={','.join(job.settings.ignore)}"] if job.settings.ignore else []),
        *files,
    ]  # fmt: skip


def scan(job: Job, files: Sequence[str], limit_s: float) -> Scan:
    """One run.

    Raises:
        FinderError: a rule is unknown to pylint.
    """
    # a fixed hash seed: the order of sets decides which of several inferences pylint reports
    env = {"PYTHONHASHSEED": "0", "PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    output = job.bench.execute(command(job, job.absolute(files)), limit_s, env)
    if output.status != 0:
        raise output.crash("pylint")
    try:
        answer = json.loads(output.stdout)
    except ValueError as error:
        raise output.crash("pylint") from error
    messages = [one for one in array(answer, "messages") if isinstance(one, dict)]
    for one in messages:
        if _is(one, _UNKNOWN) and string(one, "module") == "Command line":
            raise FinderError(f"pylint: {string(one, 'message')}; correct the run's rules")
    return _read(job, messages, section(answer, "rules"))


def _read(job: Job, messages: list[dict[str, object]], rules: dict[str, object]) -> Scan:
    wanted = rules.keys() - _NO_CLAIM
    return Scan(
        items=[_item(one, rules) for one in messages if string(one, "symbol") in wanted],
        skipped={
            string(one, "path").removeprefix(f"{job.root}/"): string(one, "message")
            for one in reversed(messages)
            if _is(one, _IGNORED_FILE) or _is_unreadable(one)
        },
        suppressed=sum(_is(one, _SUPPRESSED) and _suppressed(one) in wanted for one in messages),
    )


def _is(one: dict[str, object], symbol: str) -> bool:
    return string(one, "symbol") == symbol


def _is_unreadable(one: dict[str, object]) -> bool:
    """Whether the message says that its file could not be read, not one that the file imports."""
    about_import = string(one, "message").startswith("Cannot import")
    return string(one, "symbol") in _UNREADABLE and not about_import


def _suppressed(one: dict[str, object]) -> str:
    """The rule that a comment suppresses: ``Suppressed 'no-member' (from line 3)``."""
    name = re.search(r"'([\w-]+)'", string(one, "message"))
    return name.group(1) if name else ""


def _item(one: dict[str, object], rules: dict[str, object]) -> RawItem:
    column, end_column = integer(one, "column"), integer(one, "endColumn")
    return RawItem(
        paths=(string(one, "path"),),
        first=integer(one, "line"),
        last=integer(one, "endLine"),
        column=None if column is None else column + 1,
        end_column=None if end_column is None else end_column + 1,
        rule=string(one, "symbol"),
        title="",
        message=string(one, "message"),
        meaning=" ".join(string(rules, string(one, "symbol")).split()),
        severity=_SEVERITIES.get(string(one, "type")),
        raw=one,
    )


ANALYZER = Analyzer(tool="pylint", endings=(".py",), command=command, scan=scan, version=version)
