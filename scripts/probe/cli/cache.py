"""``probe cache``: the recorded calls."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from probe.cli.commands import Commands, add_cache

if TYPE_CHECKING:
    from probe.models.upkeep import Group, Kind


def add(commands: Commands) -> None:
    """Add the command."""
    cache = commands.add_parser(
        "cache",
        help="look over, check, share or drop recorded calls",
        description="The recorded answers of models: what they are and cost, whether they are "
        "whole, and the calls behind a result as one file that others can replay offline "
        "(calls.replay).",
    )
    actions = cache.add_subparsers(required=True, metavar="ACTION")
    _action(actions, "stats", _stats, "count calls, tokens, dollars and unusable answers by model")
    _action(
        actions,
        "verify",
        _verify,
        "hash every entry; corrupt ones go to quarantine and make the command fail",
    )
    export = _action(actions, "export", _export, "write the calls behind a result into a tar")
    export.add_argument(
        "results",
        type=Path,
        metavar="RESULTS",
        help="a results folder, or one cell: results/demo/luna.metrics.csv",
    )
    export.add_argument("tar", type=Path, metavar="OUT.tar", help="the file to write")
    export.add_argument(
        "--no-patterns",
        action="store_true",
        help="refuse only values of this environment's secrets, not everything in the form of a "
        "key: for audited code that holds sample keys",
    )
    take = _action(
        actions, "import", _import, "take in the calls of such a tar, after checking them"
    )
    take.add_argument("tar", type=Path, metavar="TAR", help="the file to read")
    dropping = _action(
        actions,
        "drop",
        _drop,
        "set aside unusable answers of one kind, so that they are asked again",
    )
    dropping.add_argument(
        "kind",
        metavar="KIND",
        help="truncated, empty, reasoning_only, tool_call or refusal (see `probe cache stats`)",
    )


def _action(
    actions: Commands, name: str, run: Callable[[argparse.Namespace], None], purpose: str
) -> argparse.ArgumentParser:
    action = actions.add_parser(
        name, help=purpose, description=purpose[0].upper() + purpose[1:] + "."
    )
    add_cache(action)
    action.set_defaults(run=run)
    return action


def _stats(options: argparse.Namespace) -> None:
    from probe.models.cache import CallStore
    from probe.models.upkeep import summarise
    from probe.report.tables import text_table

    groups = summarise(CallStore(options.folder))
    if not groups:
        print(f"{options.folder}: no calls are recorded")
        return
    columns = ["model", "effort", "calls", "MB", "input", "cache read", "output", "usd", "unusable"]
    print(text_table(columns, [_row(kind, group) for kind, group in groups.items()]))


def _row(kind: "Kind", group: "Group") -> list[str]:
    """A line of the statistics; unknown figures are a dash, as in all tables."""
    usage = group.usage
    counts = (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens)
    unusable = ", ".join(f"{number} {name}" for name, number in sorted(group.unusable.items()))
    return [
        kind.model,
        kind.effort,
        str(group.calls),
        f"{group.size / 1e6:.1f}",
        *("–" if count is None else str(count) for count in counts),
        "–" if usage.usd is None else f"{usage.usd:.4f}",
        unusable,
    ]


def _verify(options: argparse.Namespace) -> None:
    from probe.errors import RecordError
    from probe.models.cache import CallStore
    from probe.models.upkeep import verify

    checked = verify(CallStore(options.folder))
    print(f"{checked.good} entries are whole")
    if checked.removed:
        print(f"{checked.removed} temporary files of killed writers removed")
    if checked.corrupt:
        raise RecordError(
            f"{options.folder}: {len(checked.corrupt)} corrupt entries moved to "
            f"{options.folder / 'quarantine'}; they will be asked again"
        )


def _export(options: argparse.Namespace) -> None:
    from probe.models.bundle import export_calls
    from probe.models.cache import CallStore

    store = CallStore(options.folder)
    calls = export_calls(store, options.results, options.tar, patterns=not options.no_patterns)
    print(f"{options.tar}: {calls} calls")


def _import(options: argparse.Namespace) -> None:
    from probe.models.bundle import import_calls
    from probe.models.cache import CallStore

    imported = import_calls(CallStore(options.folder), options.tar)
    print(f"{options.folder}: {imported.added} calls added, {imported.known} there already")


def _drop(options: argparse.Namespace) -> None:
    from probe.models.cache import CallStore
    from probe.models.ledger import dollars
    from probe.models.upkeep import drop

    dropped = drop(CallStore(options.folder), options.kind)
    print(
        f"{dropped.calls} {options.kind} answers moved to {options.folder / 'quarantine'}, which had "
        f"cost {dollars(dropped.usd)}; a job that needs them asks again when it runs again"
    )
