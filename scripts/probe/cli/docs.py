"""``probe docs``: the generated documentation."""

import argparse
from pathlib import Path

from probe.cli.commands import Commands


def add(commands: Commands) -> None:
    """Add the command."""
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
