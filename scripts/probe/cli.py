"""The command ``probe``: what a person asks of a finished build, and the project's own chores."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from probe import __version__
from probe.errors import ProbeError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0, or 1 after one line on stderr."""
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except ProbeError as error:
        sys.stderr.write(f"probe: {error}\n")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="probe", description=__doc__)
    parser.add_argument("--version", action="version", version=f"probe {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_cells(commands)
    _add_score(commands)
    _add_docs(commands)
    return parser


def _add_cells(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    cells = commands.add_parser(
        "cells",
        help="show cells as a table",
        description="Show the cells of metrics files as a table, and how well each labelled "
        "repository's reference set agrees with its truth.",
    )
    cells.add_argument(
        "files",
        nargs="*",
        type=Path,
        default=[Path("results/metrics.csv")],
        metavar="CSV",
        help="metrics.csv or {run}.metrics.csv files (default: results/metrics.csv)",
    )
    cells.set_defaults(run=_cells)


def _cells(options: argparse.Namespace) -> None:
    from probe.report.summary import overview_text

    print(overview_text(options.files))


def _add_score(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    score = commands.add_parser(
        "score",
        help="score built reference sets against labels",
        description="Score the reference sets in a results folder against hand-made labels: "
        "commits.tsv (is it a fix) and presence.tsv (was it in the snapshot, is it a duplicate).",
    )
    score.add_argument("labels", type=Path, metavar="FOLDER", help="folder of the two label files")
    score.add_argument(
        "--results",
        type=Path,
        default=Path("results"),
        metavar="FOLDER",
        help="results folder (default: results)",
    )
    score.set_defaults(run=_score)


def _score(options: argparse.Namespace) -> None:
    from probe.report.score import score_text

    print(score_text(options.labels, options.results))


def _add_docs(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    docs = commands.add_parser(
        "docs",
        help="rewrite the generated documentation",
        description="Rewrite docs/config.md and docs/schemas/ from the types in probe.config.",
    )
    docs.add_argument(
        "--root",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="the checkout (default: the current folder)",
    )
    docs.set_defaults(run=_docs)


def _docs(options: argparse.Namespace) -> None:
    from probe.config import generate
    from probe.records import write_text

    for target, text in generate(options.root).items():
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            write_text(target, text)
            print(target)
