"""Totals are read from what real runners print, and never guessed."""

import subprocess
import sys

import pytest

from probe.environment.totals import PARSERS, Totals

SUITE = """
import unittest
class T(unittest.TestCase):
    def test_good(self): pass
    def test_more(self): pass
    def test_bad(self): self.fail("no")
    def test_error(self): raise OSError("no")
    @unittest.skip("why")
    def test_skipped(self): pass
    @unittest.expectedFailure
    def test_expected(self): self.fail("known")
"""


@pytest.mark.parametrize(
    ("parser", "command"),
    [
        ("pytest", ["pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]),
        ("pytest", ["pytest", "--color=yes", "-p", "no:cacheprovider", "test_it.py"]),
        ("unittest", ["unittest", "test_it"]),
    ],
)
def test_real_runners(tmp_path, parser, command):
    (tmp_path / "test_it.py").write_text(SUITE)
    said = subprocess.run(
        [sys.executable, "-m", *command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    # pytest counts an exception in a test as a failure, unittest as an error: here both are failed
    assert PARSERS[parser](said.stdout + said.stderr) == Totals(2, 2, 2)


@pytest.mark.parametrize(
    ("parser", "text", "totals"),
    [
        ("pytest", "1 failed, 2 passed, 1 error, 3 xpassed in 12.00s (0:00:12)\n", (5, 2, 0)),
        ("pytest", "== 371 passed, 4 warnings, 2 rerun in 3600.2s (1:00:00) ==\nTOTAL  36901 30%\n", (371, 0, 0)),
        ("pytest", "no tests ran in 0.01s\n", (0, 0, 0)),
        ("pytest", "5 errors in 0.53s\n", (0, 5, 0)),
        ("pytest", "....F..  [ 50%]\n", None),
        ("pytest", "the parser passed 3 passed tokens in 2 lines\n", None),
        ("unittest", "Ran 12 tests in 0.1s\n\nOK (skipped=3, expected failures=1)\n", (8, 0, 4)),
        ("unittest", "Ran 12 tests in 0.1s\n\n", None),
        ("total", "x\nTOTAL passed=1 failed=2 skipped=3\nTOTAL passed=10 failed=0 skipped=0\n", (11, 2, 3)),
        ("total", "TOTAL passed=? failed=2 skipped=3\n", None),
    ],
)  # fmt: skip
def test_lines(parser, text, totals):
    assert PARSERS[parser](text) == (None if totals is None else Totals(*totals))
