"""Running an analyser over many files so that one bad file costs only itself.

All files go to the tool at once, as far as a command line holds them. Where it crashes or runs out
of time the files are halved until the culprit stands alone.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from probe.errors import FinderError
from probe.finders.normalise import RawItem
from probe.finders.process import ToolCrashError, ToolTimeoutError

MAX_ARGUMENT_BYTES = 200_000
"""Bytes of paths in a command line: well under the limits of Linux (2 MB) and macOS (1 MB)."""

SMALLEST_SHARE = 1 / 16
"""A half gets half the time, but never less than this share of ``timeout_s``."""

PASS_FACTOR = 4
"""The whole pass may take this many times ``timeout_s``; what is left then has timed out."""


@dataclass(slots=True)
class Scan:
    """What one or several runs of a tool said."""

    items: list[RawItem] = field(default_factory=list)
    """In the tool's order."""
    skipped: dict[str, str] = field(default_factory=dict)
    """Snapshot path of each file that it could not read, and why, in a line."""
    timed_out: list[str] = field(default_factory=list)
    """Files on which it ran out of time."""
    suppressed: int = 0
    """Findings that a comment in the code suppresses."""

    def add(self, other: "Scan") -> None:
        """Append what another run said."""
        self.items += other.items
        self.skipped |= other.skipped
        self.timed_out += other.timed_out
        self.suppressed += other.suppressed


ScanFiles = Callable[[Sequence[str], float], Scan]
"""Runs the tool on snapshot paths within seconds; raises ToolCrashError or ToolTimeoutError."""


def scan_in_chunks(
    files: Sequence[str],
    scan: ScanFiles,
    check_tool: Callable[[], None],
    timeout_s: float,
    clock: Callable[[], float] = time.monotonic,
) -> Scan:
    """Scan all files, isolating those on which the tool fails.

    Args:
        files: snapshot paths.
        scan: one run of the tool.
        check_tool: raises ToolCrashError where the tool fails on a file that is known to be harmless;
            called once, after the first crash, so that a wrong setting is not blamed on the files.
        timeout_s: bound of one run over a whole chunk; the pass ends after four times this.
        clock: seconds that never go back.

    Raises:
        FinderError: the tool does not work at all.
    """
    return _Chunks(scan, check_tool, timeout_s, clock).run(files)


class _Chunks:
    def __init__(
        self,
        scan: ScanFiles,
        check_tool: Callable[[], None],
        timeout_s: float,
        clock: Callable[[], float],
    ) -> None:
        self.scan = scan
        self.check_tool = check_tool
        self.timeout_s = timeout_s
        self.clock = clock
        self.deadline = clock() + PASS_FACTOR * timeout_s
        self.checked = False
        self.total = Scan()

    def run(self, files: Sequence[str]) -> Scan:
        for chunk in split_by_bytes(files, MAX_ARGUMENT_BYTES):
            self._scan(chunk, 1.0)
        return self.total

    def _scan(self, files: Sequence[str], share: float) -> None:
        remaining = self.deadline - self.clock()
        if remaining <= 0:
            self.total.timed_out += files
            return
        try:
            self.total.add(self.scan(files, min(share * self.timeout_s, remaining)))
        except ToolTimeoutError:
            if len(files) == 1:
                self.total.timed_out += files
            else:
                self._halve(files, max(share / 2, SMALLEST_SHARE))
        except ToolCrashError as crash:
            self._check_once()
            if len(files) == 1:
                self.total.skipped[files[0]] = str(crash)
            else:
                self._halve(files, share)

    def _halve(self, files: Sequence[str], share: float) -> None:
        middle = len(files) // 2
        self._scan(files[:middle], share)
        self._scan(files[middle:], share)

    def _check_once(self) -> None:
        if not self.checked:
            self.checked = True
            try:
                self.check_tool()
            except ToolCrashError as crash:
                raise FinderError(str(crash)) from crash


def split_by_bytes(paths: Sequence[str], limit: int) -> list[list[str]]:
    """Consecutive groups of paths whose lengths add up to at most ``limit``, each at least one."""
    groups: list[list[str]] = []
    size = limit + 1
    for path in paths:
        length = len(path.encode("utf-8", errors="surrogateescape")) + 1
        if size + length > limit:
            groups.append([])
            size = 0
        groups[-1].append(path)
        size += length
    return groups
