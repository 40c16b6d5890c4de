"""Running the project's own tests in its environment, and reading what came of it.

A suite that hangs, wants a network or prints no total is a fact about the project, never a fault of
the build: it is recorded, with the reason, in place of counts.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from probe.environment.recipe import TestPlan
from probe.environment.totals import PARSERS
from probe.errors import ConfigError
from probe.records import SuiteTotals
from probe.sandbox import Output, Sandbox

_LOG = "/tmp/probe-tests.log"  # noqa: S108
_TAIL_BYTES = 400_000
_SHOWN_BYTES = 60_000
_TAIL_S = 60
_NETWORK = re.compile(
    r"Temporary failure in name resolution|Name or service not known|Network is unreachable|"
    r"nodename nor servname|getaddrinfo (?:ENOTFOUND|EAI_AGAIN)|Failed to establish a new connection|"
    r"Could not resolve host|NameResolutionError|ConnectionError: HTTP",
)


class Run(NamedTuple):
    """A suite's run."""

    totals: SuiteTotals
    """What is recorded."""
    log: str
    """The end of what it printed."""


def run_suite(open_box: Callable[[], Sandbox], plan: TestPlan, test_s: float) -> Run:
    """Run the whole suite or, where its time runs out, its representative part.

    Args:
        open_box: opens a sandbox with the environment; each try has a fresh one.
        plan: how the tests are run.
        test_s: seconds of a try.

    Raises:
        ConfigError: the plan names no known parser.
        SandboxError: no sandbox, or it died.
    """
    if plan.totals not in PARSERS:
        known = ", ".join(sorted(PARSERS))
        raise ConfigError(f"test.totals: {plan.totals!r} is no parser of totals; known: {known}")
    whole = _try(open_box, plan, plan.full, test_s)
    if whole.totals.exit is not None or plan.subset is None:
        return whole
    part = _try(open_box, plan, plan.subset, test_s, subset=True)
    note = f"the whole suite did not end within {test_s:.0f} s: {plan.full}"
    totals = part.totals.model_copy(update={"notes": (*part.totals.notes, note)})
    return Run(totals, f"{whole.log}\n{part.log}")


def _try(
    open_box: Callable[[], Sandbox],
    plan: TestPlan,
    command: str,
    test_s: float,
    *,
    subset: bool = False,
) -> Run:
    box = open_box()
    try:
        said = box.run(f"{{ {command}\n}} >{_LOG} 2>&1", test_s)
        tail = box.run(f"tail -c {_TAIL_BYTES} {_LOG}", _TAIL_S).stdout
    finally:
        box.close()
    totals = read_totals(said, tail, plan, command, test_s, subset=subset)
    return Run(totals, f"$ {command}\n{tail[-_SHOWN_BYTES:].rstrip()}\n{totals.line}\n")


def read_totals(
    said: Output, printed: str, plan: TestPlan, command: str, test_s: float, *, subset: bool
) -> SuiteTotals:
    """What a run's output says."""
    found = None if said.timed_out else PARSERS[plan.totals](printed)
    offline = bool(_NETWORK.search(printed))
    problem = None
    notes = list(plan.notes)
    if said.timed_out:
        problem = f"did not end within {test_s:.0f} s"
    elif found is None:
        problem = f"{'needs a network' if offline else 'prints no total'}: {_last(printed)}"
    elif found.failed:
        if offline:
            notes.append("some of the failures need a network")
        if not found.passed:
            notes.append("no test passed: the environment may lack something")
    return SuiteTotals(
        command=command,
        subset=subset,
        exit=said.exit,
        passed=found and found.passed,
        failed=found and found.failed,
        skipped=found and found.skipped,
        wall_s=round(said.wall_s, 1),
        problem=problem,
        notes=tuple(notes),
    )


def _last(printed: str) -> str:
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "it printed nothing"
