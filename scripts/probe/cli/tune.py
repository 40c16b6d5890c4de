"""``probe tune``: change how many calls running builds keep in flight."""

import argparse
from pathlib import Path

from probe.cli.commands import Commands, add_cache
from probe.errors import ConfigError

_MODELS = Path("config/models.yaml")


def add(commands: Commands) -> None:
    """Add the command."""
    tune = commands.add_parser(
        "tune",
        help="show or change a model's calls in flight while builds run",
        description="Show or change how many calls of a model each running process keeps in "
        "flight. Builds that run follow within about a second; later builds obey it until --reset.",
    )
    tune.add_argument("model", metavar="MODEL", help="the model's name in models.yaml")
    change = tune.add_mutually_exclusive_group()
    change.add_argument(
        "--concurrency", type=_count, metavar="N", help="calls in flight of one process, at most"
    )
    change.add_argument("--reset", action="store_true", help="go back to models.yaml")
    add_cache(tune)
    tune.add_argument(
        "--models",
        type=Path,
        default=_MODELS,
        metavar="FILE",
        help=f"the models file, models_file of the configuration (default: {_MODELS})",
    )
    tune.set_defaults(run=_tune)


def _count(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 1_024:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number from 1 to 1024")
    return int(text)


def _tune(options: argparse.Namespace) -> None:
    from probe.config import read_models
    from probe.models.client import get_model
    from probe.models.tuning import read_tuning, reset_tuning, write_tuning

    if not options.models.is_file():
        raise ConfigError(
            f"{options.models}: no such file; name the models file with --models, or run this "
            "where Snakemake runs"
        )
    model = get_model(read_models(options.models, str(options.models)), options.model)
    if options.reset:
        reset_tuning(options.folder, model.name)
    elif options.concurrency is not None:
        write_tuning(options.folder, model.name, options.concurrency)
    tuning = read_tuning(options.folder, model.name)
    if tuning is None:
        print(f"{model.name}: {model.entry.concurrency} calls in flight at most ({options.models})")
    else:
        print(f"{model.name}: {tuning.concurrency} calls in flight at most (probe tune)")
