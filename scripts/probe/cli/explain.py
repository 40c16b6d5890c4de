"""``probe explain``: from a number to its evidence."""

import argparse

from probe.cli.commands import Commands, add_cache, add_results


def add(commands: Commands) -> None:
    """Add the command."""
    explain = commands.add_parser(
        "explain",
        help="say what lies behind a cell, a bug, a finding or a commit",
        description="Walk from a number back to its evidence: commits, verdicts with their reasons, "
        "commands that were run, prompts, and the files of the model calls.",
    )
    explain.add_argument(
        "target",
        metavar="TARGET",
        help="results/{repo}/{run}.metrics.csv, the id of a bug (first column of bugs.csv) or of a "
        "finding (matches.csv), a commit of the window, e.g. 3f2c1aa, or a candidate, e.g. 3f2c1aa0b4d1-1",
    )
    add_results(explain)
    add_cache(explain, "--cache")
    explain.set_defaults(run=_explain)


def _explain(options: argparse.Namespace) -> None:
    from probe.report.explain import Explainer

    print(Explainer(options.results, options.cache).explain(options.target))
