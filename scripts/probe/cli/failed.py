"""``probe failed``: which results record a failure, in a form that Snakemake takes."""

import argparse
import sys

from probe.cli.commands import Commands, add_results


def add(commands: Commands) -> None:
    """Add the command."""
    failed = commands.add_parser(
        "failed",
        help="list results that record a failure, to be made again",
        description="List passes that did not end well and blocks with unjudged commits, a file a "
        "line (what failed goes to stderr). To make them again: "
        "snakemake --forcerun $(probe failed) -- TARGET. Answers that are in the cache are used "
        "again and cost nothing; to ask anew where an answer came but could not be used (a refusal, "
        "a cut answer), run `probe cache drop` first.",
    )
    add_results(failed)
    failed.set_defaults(run=_failed)


def _failed(options: argparse.Namespace) -> None:
    from probe.results import unfinished

    for path, failures in unfinished(options.results):
        print(path)
        said = ", ".join(f"{n} {kind}" for kind, n in sorted(failures.items()))
        sys.stderr.write(f"{path}: {said}\n")
