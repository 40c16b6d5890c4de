"""Counts of passed, failed and skipped tests, read from what JavaScript's test runners print.

Each runner ends with a summary of its own; a command that runs several of them has several, and
their counts are added.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple


class Counts(NamedTuple):
    """What one or more summaries say."""

    passed: int
    """Tests that passed."""
    failed: int
    """Tests that failed, and files that could not be run."""
    skipped: int
    """Skipped, pending, to do, and failures that were expected."""


_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_NUMBERED = re.compile(r"(\d+) ([a-z]+(?: [a-z]+)*)")


def node_totals(output: str) -> Counts | None:
    """The sum over all summaries of Jest, Mocha, Vitest, AVA, node:test and TAP in an output.

    Returns:
        None where no runner has printed one: a crash is not "no test failed".
    """
    lines = [line.rstrip() for line in _COLOURS.sub("", output).splitlines()]
    found = [counts for reader in _READERS for counts in reader(lines)]
    if not found:
        return None
    return Counts(*(sum(column) for column in zip(*found, strict=True)))


def _jest(lines: list[str]) -> Iterator[Counts]:
    """``Test Suites: 1 failed, 2 total`` above ``Tests: 1 failed, 3 passed, 4 total``.

    A suite that fails to start has no tests of its own; each one counts as a failure. Long runs list
    the failures twice.
    """
    suite, crashed = "", set()
    for line in lines:
        if line.startswith("FAIL "):
            suite = line.split(" (")[0]
        elif re.match(r"\s*● Test suite failed to run", line):
            crashed.add(suite)
        elif line.startswith("Tests:") and line.endswith(" total"):
            told = _numbers(line)
            waiting = told.get("skipped", 0) + told.get("todo", 0)
            yield Counts(told.get("passed", 0), told.get("failed", 0) + len(crashed), waiting)
            crashed = set()


def _mocha(lines: list[str]) -> Iterator[Counts]:
    """``  3 passing (12ms)``, then perhaps ``  1 pending`` and ``  2 failing``."""
    for index, line in enumerate(lines):
        passing = re.fullmatch(r"\s*(\d+) passing \([0-9a-z. ]+\)", line)
        if passing is None:
            continue
        told = {"pending": 0, "failing": 0}
        for later in lines[index + 1 : index + 4]:
            more = re.fullmatch(r"\s*(\d+) (pending|failing)", later)
            if more is not None:
                told[more[2]] = int(more[1])
        yield Counts(int(passing[1]), told["failing"], told["pending"])


def _vitest(lines: list[str]) -> Iterator[Counts]:
    """``Test Files  1 failed | 2 passed (3)`` above ``Tests  1 failed | 5 passed | 1 skipped (7)``.

    A file that fails to start is listed as ``FAIL  a.test.ts [ a.test.ts ]``.
    """
    crashed, files = set(), 0
    for line in lines:
        broken = re.fullmatch(r"\s*FAIL\s.*\[ (.+) \]", line)
        if broken is not None:
            crashed.add(broken[1])
        elif re.match(r"\s+Test Files  ", line):
            files = _numbers(line).get("failed", 0)
        elif re.fullmatch(r"\s+Tests  (.+ \(\d+\)|no tests)", line):
            told = _numbers(line)
            failed = told.get("failed", 0)
            lacking = max(len(crashed), 0 if failed else files)
            waiting = sum(told.get(word, 0) for word in ("skipped", "todo", "expected fail"))
            yield Counts(told.get("passed", 0), failed + lacking, waiting)
            crashed, files = set(), 0


_AVA = re.compile(
    r"  (\d+) (?:(known|expected) failures?|tests? (passed|failed|skipped|todo)"
    r"|(?:unhandled )?(?:uncaught exception|unhandled rejection|rejection|exception)s?)"
)


def _ava(lines: list[str]) -> Iterator[Counts]:
    """A block of ``  3 tests passed``, ``  1 test failed``, ``  1 known failure``.

    Where some failed, those that passed are not in it: each of them has a line of its own above.
    """
    block: dict[str, int] = {}
    ticks = 0
    for line in [*lines, ""]:
        found = _AVA.fullmatch(line)
        ticks += line.startswith("  ✔ ")
        if found is not None:
            word = found[3] or ("skipped" if found[2] else "failed")
            block[word] = block.get(word, 0) + int(found[1])
        elif line and block and not line.startswith("  "):
            block = {}
        elif not line and block:
            if {"passed", "failed"} & set(block):
                waiting = block.get("skipped", 0) + block.get("todo", 0)
                yield Counts(block.get("passed", ticks), block.get("failed", 0), waiting)
            block, ticks = {}, 0


def _node_test(lines: list[str]) -> Iterator[Counts]:
    """``# pass 3`` or ``ℹ pass 3`` and its siblings, of node:test; node-tap's are alike."""
    told: dict[str, int] = {}
    for line in [*lines, "# tests 0"]:
        found = re.fullmatch(
            r"(?:#|ℹ) (tests|suites|pass|fail|cancelled|skipped|skip|todo)\s+(\d+)", line
        )
        if found is None:
            continue
        if found[1] in told or found[1] == "tests":
            if "pass" in told:
                yield _node_counts(told)
            told = {}
        told[found[1]] = int(found[2])


def _node_counts(told: dict[str, int]) -> Counts:
    failed = told.get("fail", 0) + told.get("cancelled", 0)
    waiting = told.get("skipped", 0) + told.get("skip", 0) + told.get("todo", 0)
    return Counts(told["pass"], failed, waiting)


def _numbers(line: str) -> dict[str, int]:
    """``1 failed, 3 passed, 4 total`` by word."""
    return {word: int(number) for number, word in _NUMBERED.findall(line)}


_READERS: tuple[Callable[[list[str]], Iterator[Counts]], ...] = (
    _jest,
    _mocha,
    _vitest,
    _ava,
    _node_test,
)
