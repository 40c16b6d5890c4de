"""What a finder is, which there are, and how one is found.

A finder is one module with a function ``find``; adding one means a module and a line in
:data:`FINDERS`, and no rule of the workflow changes.
"""

import importlib
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from probe.errors import FinderError
from probe.records import Pass, PassResult, SnapshotFile, Usage

if TYPE_CHECKING:
    from probe.finders.session import Session
    from probe.models.base import Model
    from probe.models.client import Asker
    from probe.models.prompts import Prompt

FINDERS: dict[str, str] = {
    "agent": "probe.finders.agent",
    "analyzer/oxlint": "probe.finders.oxlint",
    "analyzer/pylint": "probe.finders.pylint",
    "analyzer/pyrefly": "probe.finders.pyrefly",
    "analyzer/ruff": "probe.finders.ruff",
    "cli/claude-code": "probe.finders.cli_claude_code",
    "cli/codex": "probe.finders.cli_codex",
    "cli/gemini-cli": "probe.finders.cli_gemini_cli",
    "cli/opencode": "probe.finders.cli_opencode",
    "cli/pi": "probe.finders.cli_pi",
    "cli/qwen-code": "probe.finders.cli_qwen_code",
    "model": "probe.finders.model",
    "sarif": "probe.finders.sarif",
}
"""Module of each finder, by kind or by ``kind/tool``; imported on use only."""


@dataclass(frozen=True)
class Asking:
    """How a finder asks a model."""

    asker: "Asker"
    """The client."""
    model: "Model"
    """Whom to ask."""
    prompt: "Prompt"
    """The finder's template."""


@dataclass(frozen=True)
class FinderContext:
    """All that a finder is told about its job."""

    repo: str
    """Key of the repository."""
    run: str
    """Key of the run."""
    snapshot_root: Path
    """The unpacked tree; a finder reads it and never writes to it."""
    files: Sequence[SnapshotFile]
    """All paths of the snapshot, audited or not."""
    the_pass: Pass
    """Which files to look at."""
    settings: Mapping[str, object]
    """The run's own settings, as in ``runs.yaml``."""
    asking: Asking | None = None
    """For finders that ask a model one question a pass; None for all others."""
    session: "Session | None" = None
    """For agents, which work in a sandbox; None for all others."""


class Finder(Protocol):
    """The interface of a finder's module."""

    def find(self, context: FinderContext) -> PassResult:
        """Report the defects of one pass.

        A tool that crashes or runs out of time is a result with such a status, never an empty one.

        Raises:
            FinderError: the finder is not installed, or its settings or input cannot be read.
        """
        ...


NO_CALLS = Usage(calls=0, attempts=0, usd=0.0)
"""What a pass costs that asked nobody: a known nothing, not an unknown."""


def limit_of(context: FinderContext, name: str) -> float:
    """A limit of the run's settings.

    Raises:
        FinderError: it is missing, or no number above 0.
    """
    value = context.settings.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise FinderError(f"run {context.run!r}: {name!r} is {value!r}; expected a number above 0")
    return value


def usd_limit(context: FinderContext) -> float | None:
    """The run's limit in US dollars; None for none but the budget's.

    Raises:
        FinderError: it is no number above 0.
    """
    return None if context.settings.get("usd") is None else limit_of(context, "usd")


def repeat_of(context: FinderContext) -> int:
    """Number of the run's repeat: the same questions of another one are asked anew.

    Raises:
        FinderError: the settings give none that counts.
    """
    repeat = context.settings.get("repeat", 1)
    if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 1:
        raise FinderError(f"run {context.run!r}: 'repeat' is {repeat!r}; expected 1 or more")
    return repeat


def tools_of(kind: str) -> list[str]:
    """Names of the tools of a kind, sorted; empty for a kind that stands for itself."""
    return sorted(key.partition("/")[2] for key in FINDERS if key.startswith(f"{kind}/"))


def get_finder(kind: str, tool: str | None = None) -> Finder:
    """The finder of a run's kind and tool.

    Raises:
        FinderError: there is no such finder; the message lists those of the kind.
    """
    key = f"{kind}/{tool}" if tool else kind
    if key not in FINDERS:
        known = tools_of(kind) or sorted(FINDERS)
        raise FinderError(f"no finder {key!r}; known: {', '.join(known)}")
    return cast(Finder, importlib.import_module(FINDERS[key]))


def tool_path(tool: str) -> Path:
    """The executable of an analyser: the one beside this Python, else the first on PATH.

    Raises:
        FinderError: it is not installed; the message says how to get it.
    """
    beside = Path(sys.executable).parent / tool
    if beside.is_file():
        return beside
    found = shutil.which(tool)
    if found is None:
        raise FinderError(
            f"analyser {tool!r} is not installed beside {sys.executable} nor on PATH; "
            "`make demo` or `make test` set up .venv with it"
        )
    return Path(found)


@cache
def tool_version(tool: str) -> str:
    """What ``tool --version`` says, without the tool's name: ``0.17.6``.

    Raises:
        FinderError: it is not installed, or does not tell its version.
    """
    path = tool_path(tool)
    try:
        done = subprocess.run(
            [str(path), "--version"],
            capture_output=True,
            timeout=60,
            check=False,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FinderError(f"analyser {tool!r} ({path}) cannot be started: {error}") from error
    version = re.search(rb"\d+(\.\d+)+\S*", done.stdout)
    if done.returncode != 0 or version is None:
        raise FinderError(
            f"analyser {tool!r} ({path}) ends with status {done.returncode} when asked for its "
            "version; remove .venv and run `make demo` to set it up again"
        )
    return version.group().decode()


def check_available(tool: str) -> None:
    """Say early that an analyser is missing or broken.

    Raises:
        FinderError: as in :func:`tool_version`, or it is no analyser that PROBE knows.
    """
    if f"analyzer/{tool}" not in FINDERS:
        raise FinderError(f"no analyser {tool!r}; known: {', '.join(tools_of('analyzer'))}")
    importlib.import_module(FINDERS[f"analyzer/{tool}"]).ANALYZER.version()
