"""``probe cells``: cells as a table."""

import argparse
from pathlib import Path

from probe.cli.commands import Commands


def add(commands: Commands) -> None:
    """Add the command."""
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
