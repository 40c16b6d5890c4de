"""``probe repair``: let an agent propose how an environment could be mended."""

import argparse
from pathlib import Path

from probe.cli.commands import Commands, add_configfile, add_results

_TURNS, _WORKING_S = 40, 1_800.0


def add(commands: Commands) -> None:
    """Add the command."""
    repair = commands.add_parser(
        "repair",
        help="let an agent propose an override for an environment that fails",
        description="Let an agent look at an environment that could not be built, or in which the "
        "project's tests fail, and write envs/REPOSITORY/environment.proposed.yaml. Nothing of it "
        "counts before a person renames it to environment.yaml.",
    )
    repair.add_argument("repository", metavar="REPOSITORY", help="a key of the inventory: sqlglot")
    repair.add_argument(
        "--model", required=True, metavar="MODEL", help="the agent's model, as in models.yaml"
    )
    repair.add_argument(
        "--turns",
        type=int,
        default=_TURNS,
        metavar="N",
        help=f"answers, at most (default: {_TURNS})",
    )
    add_configfile(repair)
    add_results(repair)
    repair.set_defaults(run=_repair)


def _repair(options: argparse.Namespace) -> None:
    from probe.agent import AgentLimits
    from probe.config import load_files
    from probe.environment.repair import Repair, propose_override
    from probe.models.client import Client, get_model
    from probe.models.prompts import load_prompt
    from probe.paths import base_name, prompt_file

    root = Path()
    benchmark = load_files(options.configfile or [Path("config/config.yaml")], root)
    about = Repair(
        folder=options.results / options.repository,
        overrides=root / "envs" / base_name(options.repository),
        prompt=load_prompt(prompt_file(root, "environment")),
        model=get_model(benchmark.models, options.model),
        engine=benchmark.settings.sandbox.engine,
        limits=AgentLimits(turns=options.turns, working_s=_WORKING_S),
    )
    with Client.from_settings(benchmark.settings) as client:
        target = propose_override(about, client)
    print(f"{target}: look at it, rename it to environment.yaml, and run snakemake again")
