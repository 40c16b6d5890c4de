"""The plan for people (``plan.csv``): a row a pass, safe to open in a spreadsheet."""

from collections.abc import Iterable, Iterator

from probe.records import Pass
from probe.records.cells import safe_cell
from probe.snapshot.plan import over_budget

PLAN_COLUMNS = (
    "pass",
    "kind",
    "files",
    "tokens",
    "score",
    "callers",
    "callees",
    "callers_found",
    "callees_found",
    "over_budget",
    "first_path",
    "warning",
)


def plan_rows(passes: Iterable[Pass], token_budget: int) -> Iterator[dict[str, object]]:
    """A row a pass, with the columns of :data:`PLAN_COLUMNS`, in the given order.

    ``callers`` and ``callees`` count the units that the pass lists, those with ``_found`` all that
    there are; ``score`` is the highest among the pass's files.
    """
    for one in passes:
        warning = over_budget(one, token_budget)
        yield {
            "pass": one.id,
            "kind": one.kind,
            "files": len(one.files),
            "tokens": one.tokens,
            "score": int(one.score),
            "callers": len(one.callers),
            "callees": len(one.callees),
            "callers_found": one.callers_found,
            "callees_found": one.callees_found,
            "over_budget": "yes" if warning else "no",
            "first_path": safe_cell(one.files[0]),
            "warning": safe_cell(warning),
        }
