"""``probe clean``: take away what PROBE left in Docker and nobody uses any more."""

import argparse
from pathlib import Path

from probe.cli.commands import Commands, add_results
from probe.records import Environment, read_json
from probe.sandbox.building import environment_images, remove_image
from probe.sandbox.docker import sweep


def add(commands: Commands) -> None:
    """Add the command."""
    clean = commands.add_parser(
        "clean",
        help="remove images and containers of ours that nothing uses",
        description="Remove containers whose PROBE is gone, and images of environments that no "
        "environment.json of the results folder names. Only what carries our label is looked at. Results "
        "and bought answers stay; an image that is needed again is built again, without a network.",
    )
    add_results(clean)
    clean.add_argument(
        "--dry-run", action="store_true", help="say what would be removed, and remove nothing"
    )
    clean.set_defaults(run=_clean)


def _clean(options: argparse.Namespace) -> None:
    named = {
        read_json(path, Environment).image
        for path in options.results.glob("*/snapshot/environment.json")
    }
    unused = {tag: size for tag, size in environment_images().items() if tag not in named}
    verb = "would remove" if options.dry_run else "removed"
    if not options.dry_run:
        for name in sweep():
            print(f"removed container {name}")
    for tag, size in unused.items():
        if not options.dry_run:
            remove_image("docker", tag)
        print(f"{verb} image {tag} ({size / 1e6:.0f} MB)")
    if not unused:
        print(f"no image of an environment is unused by {_shown(options.results)}")


def _shown(folder: Path) -> str:
    return f"{folder}/"
