"""``probe estimate``: what a build would cost."""

import argparse
from pathlib import Path

from probe.cli.commands import Commands, add_configfile


def add(commands: Commands) -> None:
    """Add the command."""
    estimate = commands.add_parser(
        "estimate",
        help="say what a build would cost, before anything is spent",
        description="Count the calls, tokens and dollars of each stage, repository and run that a "
        "build would still have to buy. The repositories must have been prepared: snakemake prepare.",
    )
    estimate.add_argument(
        "targets",
        nargs="*",
        metavar="TARGET",
        help="cells, e.g. results/sqlglot/luna-direct.metrics.csv (default: all that are configured)",
    )
    add_configfile(estimate)
    estimate.set_defaults(run=_estimate)


def _estimate(options: argparse.Namespace) -> None:
    from probe.config import load_files
    from probe.models.cache import CallStore
    from probe.models.prompts import load_prompt
    from probe.paths import ESTIMATED_PROMPTS, prompt_file, read_request
    from probe.report.estimate import estimate_build, estimate_text

    root = Path()
    benchmark = load_files(options.configfile or [Path("config/config.yaml")], root)
    request = read_request(options.targets, benchmark)
    prompts = {name: load_prompt(prompt_file(root, name)) for name in ESTIMATED_PROMPTS}
    store = CallStore(Path(benchmark.settings.calls.folder))
    rows = estimate_build(benchmark, request.cells, store, prompts)
    print(estimate_text(rows, benchmark.settings.budget.usd))
