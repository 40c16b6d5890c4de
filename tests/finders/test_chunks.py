"""One bad file costs only itself."""

import pytest

from probe.errors import FinderError
from probe.finders.chunks import Scan, scan_in_chunks, split_by_bytes
from probe.finders.process import ToolCrashError, ToolTimeoutError


class Tool:
    """A tool that crashes or hangs on some files, with a clock of its own."""

    def __init__(self, crash=(), hang=(), seconds=0.0):
        self.crash, self.hang, self.seconds = set(crash), set(hang), seconds
        self.now = 0.0
        self.calls = []

    def clock(self):
        return self.now

    def scan(self, files, limit_s):
        self.calls.append((len(files), limit_s))
        if self.hang & set(files):
            self.now += limit_s
            raise ToolTimeoutError("stopped")
        self.now += self.seconds * len(files)
        if self.crash & set(files):
            raise ToolCrashError("panicked")
        return Scan(skipped={}, suppressed=len(files))

    def check(self):
        self.calls.append("check")

    def run(self, files, timeout_s=100.0):
        return scan_in_chunks(files, self.scan, self.check, timeout_s, self.clock)


FILES = [f"f{n:02}.py" for n in range(32)]


def test_one_run_when_nothing_goes_wrong():
    tool = Tool()
    assert tool.run(FILES).suppressed == 32
    assert tool.calls == [(32, 100.0)]


def test_a_crash_is_isolated_to_its_files():
    tool = Tool(crash={"f07.py", "f20.py"})
    scan = tool.run(FILES)
    assert scan.skipped == {"f07.py": "panicked", "f20.py": "panicked"}
    assert scan.suppressed == 30
    assert tool.calls.count("check") == 1


def test_a_file_that_hangs_is_isolated_within_the_pass_time():
    tool = Tool(hang={"f13.py"}, seconds=0.1)
    scan = tool.run(FILES)
    assert scan.timed_out == ["f13.py"]
    assert scan.suppressed == 31
    assert tool.now < 300


def test_when_everything_hangs_the_pass_ends_after_four_times_the_bound():
    tool = Tool(hang=FILES)
    scan = tool.run(FILES)
    assert sorted(scan.timed_out) == FILES
    assert tool.now <= 400


def test_a_tool_that_does_not_work_at_all_is_not_blamed_on_the_files():
    tool = Tool(crash=FILES)

    def broken():
        raise ToolCrashError("unknown rule X1")

    with pytest.raises(FinderError, match="unknown rule X1"):
        scan_in_chunks(FILES, tool.scan, broken, 10, tool.clock)
    assert len(tool.calls) == 1


def test_no_files_no_run():
    tool = Tool()
    assert tool.run([]) == Scan()
    assert tool.calls == []


def test_groups_keep_the_order_and_the_limit():
    groups = split_by_bytes(["aa", "bb", "c" * 20, "d"], 6)
    assert groups == [["aa", "bb"], ["c" * 20], ["d"]]
