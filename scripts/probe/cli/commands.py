"""What the modules of single commands share."""

import argparse
from pathlib import Path
from typing import TypeAlias

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
"""Where a command adds its parser."""


def add_results(parser: argparse.ArgumentParser) -> None:
    """The option for the results folder."""
    parser.add_argument(
        "--results",
        type=Path,
        default=Path("results"),
        metavar="FOLDER",
        help="results folder (default: results)",
    )


def add_cache(parser: argparse.ArgumentParser, name: str = "--folder") -> None:
    """The option for the cache folder."""
    parser.add_argument(
        name,
        type=Path,
        default=Path("cache"),
        metavar="FOLDER",
        help="the cache folder, calls.folder of the configuration (default: cache)",
    )


def add_configfile(parser: argparse.ArgumentParser) -> None:
    """The option for configurations; None where none is given."""
    parser.add_argument(
        "--configfile",
        action="append",
        type=Path,
        metavar="FILE",
        help="a configuration; given again, later ones win (default: config/config.yaml)",
    )
