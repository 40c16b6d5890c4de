"""``probe score``: built reference sets against labels."""

import argparse
from pathlib import Path

from probe.cli.commands import Commands, add_results


def add(commands: Commands) -> None:
    """Add the command."""
    score = commands.add_parser(
        "score",
        help="score built reference sets against labels",
        description="Score the reference sets in a results folder against hand-made labels: "
        "commits.tsv (is it a fix) and presence.tsv (was it in the snapshot, is it a duplicate).",
    )
    score.add_argument("labels", type=Path, metavar="FOLDER", help="folder of the two label files")
    score.add_argument(
        "--repository",
        action="append",
        default=[],
        metavar="NAME",
        help="score this repository or variant, e.g. sqlglot@2025-07; given again, several "
        "(default: all that are built but variants, which would count a commit twice)",
    )
    score.add_argument(
        "--masked",
        action="store_true",
        help="hide prefixes and words of fault from the classification rules, run them anew on the "
        "labelled commits, and score that alone",
    )
    score.add_argument(
        "--configfile",
        action="append",
        type=Path,
        metavar="FILE",
        help="with --masked: a configuration; given again, later ones win "
        "(default: config/config.yaml)",
    )
    add_results(score)
    score.set_defaults(run=_score)


def _score(options: argparse.Namespace) -> None:
    from probe.config import load_files
    from probe.report.score import masked_text, score_text

    labels, results, names = options.labels, options.results, options.repository
    if options.masked:
        files = options.configfile or [Path("config/config.yaml")]
        print(masked_text(labels, results, load_files(files, Path()), names))
        return
    print(score_text(labels, results, names))
