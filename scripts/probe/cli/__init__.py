"""The command ``probe``: what a person asks of a finished build, and the project's own chores."""

import argparse
import os
import sys
from collections.abc import Sequence

from probe import __version__
from probe.cli import (
    budget,
    cache,
    cells,
    clean,
    docs,
    doctor,
    estimate,
    explain,
    failed,
    repair,
    score,
    tune,
)
from probe.errors import ProbeError

_COMMANDS = (
    cells,
    explain,
    failed,
    score,
    estimate,
    budget,
    cache,
    tune,
    repair,
    doctor,
    clean,
    docs,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0, or 1 after one line on stderr."""
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except ProbeError as error:
        sys.stderr.write(f"probe: {error}\n")
        return 1
    except BrokenPipeError:  # `probe … | head` has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="probe", description=__doc__)
    parser.add_argument("--version", action="version", version=f"probe {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in _COMMANDS:
        command.add(commands)
    return parser
