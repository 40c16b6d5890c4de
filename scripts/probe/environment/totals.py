"""How many tests passed, from what a test runner printed: one small parser a runner.

A parser returns None where the output has no total, and never guesses: a run that was cut off has no
total, whatever passed before.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from probe.environment.totals_node import node_totals

_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Totals(NamedTuple):
    """Tests of a run."""

    passed: int
    """As expected; unexpected passes that the runner accepts are among them."""
    failed: int
    """Failures and errors."""
    skipped: int
    """Skipped and expected failures."""


Parser = Callable[[str], Totals | None]
"""From a runner's output to its totals."""

_PYTEST_COUNT = re.compile(
    r"(\d+) (passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun)\b"
)
_PYTEST_LINE = re.compile(
    r"^=*\s*(?P<counts>(?:\d+ [a-z]+(?: [a-z]+)?(?:, )?)+|no tests (?:ran|collected)[^=]*?) in [\d.:]+ ?s?"
)


def read_pytest(output: str) -> Totals | None:
    """The last line of pytest: ``2 failed, 30 passed, 1 skipped in 3.21s``."""
    for line in reversed(_plain(output).splitlines()):
        found = _PYTEST_LINE.match(line.strip())
        if found is None:
            continue
        counts: dict[str, int] = {}
        for number, word in _PYTEST_COUNT.findall(found["counts"]):
            counts[word.rstrip("s") if word.startswith("error") else word] = int(number)
        return Totals(
            counts.get("passed", 0) + counts.get("xpassed", 0),
            counts.get("failed", 0) + counts.get("error", 0),
            counts.get("skipped", 0) + counts.get("xfailed", 0),
        )
    return None


_UNITTEST_RAN = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
_UNITTEST_END = re.compile(r"^(OK|FAILED|NO TESTS RAN)(?: \((.*)\))?\s*$", re.MULTILINE)


def read_unittest(output: str) -> Totals | None:
    """The end of unittest: ``Ran 30 tests in 1.2s`` and ``FAILED (failures=1, errors=2, skipped=3)``."""
    ran = list(_UNITTEST_RAN.finditer(_plain(output)))
    if not ran:
        return None
    end = _UNITTEST_END.search(_plain(output), ran[-1].end())
    if end is None:
        return None
    told = dict(part.split("=") for part in (end[2] or "").split(", ") if "=" in part)
    counts = {key: int(value) for key, value in told.items() if value.isdigit()}
    failed = sum(counts.get(key, 0) for key in ("failures", "errors", "unexpected successes"))
    skipped = counts.get("skipped", 0) + counts.get("expected failures", 0)
    return Totals(max(int(ran[-1][1]) - failed - skipped, 0), failed, skipped)


_TOTAL = re.compile(r"^TOTAL passed=(\d+) failed=(\d+) skipped=(\d+)\s*$", re.MULTILINE)


def read_total_lines(output: str) -> Totals | None:
    """Lines ``TOTAL passed=1 failed=0 skipped=2`` of a wrapper of one's own; several are added up."""
    found = _TOTAL.findall(_plain(output))
    if not found:
        return None
    return Totals(*(sum(int(one[place]) for one in found) for place in range(3)))


def read_node(output: str) -> Totals | None:
    """The summaries of JavaScript's runners, several added up."""
    found = node_totals(output)
    return None if found is None else Totals(found.passed, found.failed, found.skipped)


def _plain(output: str) -> str:
    """Without colours and carriage returns."""
    return _ESCAPE.sub("", output).replace("\r", "\n")


PARSERS: dict[str, Parser] = {
    "pytest": read_pytest,
    "unittest": read_unittest,
    "node": read_node,
    "total": read_total_lines,
}
"""By the name that recipes and overrides use."""
