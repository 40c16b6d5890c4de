"""``probe budget``: the money that the ledger of a cache folder records."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from probe.cli.commands import Commands, add_cache

if TYPE_CHECKING:
    from probe.models.ledger import Ledger


def add(commands: Commands) -> None:
    """Add the command."""
    budget = commands.add_parser(
        "budget",
        help="show what was spent, and settle what lost processes had booked",
        description="Show US dollars by model and stage: spent; uncertain (counted at the most it "
        "can be, since no answer came that says it); open (booked by calls under way); lost (booked "
        "by processes that are gone, counted at the most it can be); written off (by a person). All "
        "of it counts against budget.usd.",
    )
    budget.add_argument(
        "--write-off",
        action="store_true",
        help="end all lost bookings: the calls cost nothing, or what --usd says",
    )
    budget.add_argument(
        "--usd",
        type=float,
        metavar="USD",
        help="with --write-off: what the lost calls cost together, by the provider's bill, e.g. 1.25",
    )
    add_cache(budget)
    budget.set_defaults(run=_budget)


def _budget(options: argparse.Namespace) -> None:
    from probe.errors import BudgetError
    from probe.models.ledger import Ledger, dollars

    if options.usd is not None and not options.write_off:
        raise BudgetError("--usd: only together with --write-off, it is what the lost calls cost")
    ledger = Ledger(options.folder, 0.0)
    if options.write_off:
        lost = ledger.write_off(options.usd or 0.0)
        print(f"{len(lost)} lost bookings written off at {dollars(options.usd or 0.0)}\n")
    print(_overview(ledger, options.folder))


def _overview(ledger: "Ledger", folder: Path) -> str:
    from probe.models.ledger import dollars
    from probe.report.tables import text_table

    groups, counts, totals = ledger.groups(), ledger.counts(), ledger.totals()
    if not groups:
        return f"{folder}: nothing was booked"
    columns = ["model", "stage", "calls", "spent", "uncertain", "open", "lost", "written off"]
    rows = [
        [*group, str(counts.get(group, 0)), *(f"{usd:.4f}" for usd in parts)]
        for group, parts in groups.items()
    ]
    rows.append(["all", "", str(sum(counts.values())), *(f"{usd:.4f}" for usd in totals)])
    lines = [
        text_table(columns, rows),
        "",
        f"{dollars(totals.committed)} counts against budget.usd",
    ]
    if totals.lost:
        lines.append(
            f"{dollars(totals.lost)} was booked by processes that are gone: look at the provider's "
            "bill, then `probe budget --write-off --usd …`"
        )
    return "\n".join(lines)
