"""From what a model reports to placed findings: the same for single calls and for sessions."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from probe.finders.base import FinderContext
from probe.finders.locate import SnapshotTree
from probe.finders.normalise import Cleaner, Normalised, RawItem, normalise

if TYPE_CHECKING:
    from probe.finders.model import FoundItem
    from probe.finders.session import AuditItem


def raw_item(item: "FoundItem | AuditItem", paths: tuple[str, ...], quote: str = "") -> RawItem:
    """The item in the form that all finders' items take.

    Args:
        item: as the model reports it.
        paths: what it may mean by its path, most trusted first.
        quote: the faulty lines, where it quotes them.
    """
    return RawItem(
        paths=paths,
        first=item.first_line,
        last=item.last_line,
        column=None,
        end_column=None,
        rule=None,
        title=item.title,
        message=item.description,
        severity=item.severity,
        confidence=item.confidence,
        suggested_fix=item.suggested_fix.strip() or None,
        quote=quote,
        raw=item.model_dump(mode="json"),
    )


def place_items(
    context: FinderContext, tree: SnapshotTree, items: Iterable[RawItem], counts: Mapping[str, int]
) -> Normalised:
    """The items placed in the snapshot.

    Args:
        context: the job.
        tree: the unpacked snapshot.
        items: in the model's order.
        counts: further oddities by kind; those of 0 are left out. Findings in files of other passes
            are counted besides, as ``outside_pass``.
    """
    cleaner = Cleaner({f"{tree.root}/": "", f"{tree.root}": "{snapshot}"})
    key = (context.repo, context.run, context.the_pass.id)
    placed = normalise(items, tree, key, cleaner)
    shown = set(context.the_pass.files)
    total = Counter(placed.oddities) + Counter(counts)
    total["outside_pass"] += sum(finding.path not in shown for finding in placed.findings)
    oddities = {name: number for name, number in sorted(total.items()) if number}
    return replace(placed, oddities=oddities)
