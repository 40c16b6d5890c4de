"""Totals of JavaScript's test runners, from outputs as they print them."""

import shutil
import subprocess

import pytest

from probe.environment.totals_node import Counts, node_totals

JEST = """
PASS test/a.spec.ts
FAIL test/b.spec.ts
  ● Test suite failed to run

    Cannot find module '../dist/x.js' from 'test/b.spec.ts'

FAIL test/c.spec.ts
  ● c › adds

Summary of all failing tests
FAIL test/b.spec.ts
  ● Test suite failed to run

Test Suites: 1 skipped, 2 failed, 5 passed, 7 of 8 total
Tests:       1 failed, 2 skipped, 3 todo, 40 passed, 46 total
Snapshots:   0 total
Time:        3.2 s
Ran all test suites.
"""
MOCHA = """
  ․․․,,!

  4 passing (1m)
  2 pending
  1 failing

  1) adds:
     AssertionError: 3 passing (2ms) is not what is expected
"""
VITEST = """
 ❯ src/a.test.ts (3 tests | 1 failed) 12ms
 FAIL  src/b.test.ts [ src/b.test.ts ]

 Test Files  2 failed | 9 passed (11)
      Tests  1 failed | 414 passed | 3 skipped | 2 todo (420)
   Start at  20:46:31
   Duration  9.23s (transform 571ms, setup 73ms)
"""
VITEST_CRASHED = """
 Test Files  12 failed | 179 passed | 1 skipped (192)
      Tests  3304 passed | 93 skipped (3397)
"""
AVA = """
  ✔ unit › iv › lib/iv.ts
  ✘ [fail]: unit › secs › 3 tests passed
  ─

  282 tests passed
  1 known failure
  2 tests skipped
  1 test todo
  3 tests failed
  1 uncaught exception
"""
AVA_FAILED = """
  ✔ unit › iv › lib/iv.ts
  ✔ unit › secs › lib/secs.ts (164ms)
  ✘ [fail]: jwks › remote › handles ECONNREFUSED
  ─

  jwks › remote › handles ECONNREFUSED

  Error {
    code: 'ENOTFOUND',
  }

  ─

  1 test failed
"""
AVA_TAP = """
ok 284 - unit › iv › lib/iv.ts

1..285
# tests 285
# pass 282
# skip 1
# fail 2
"""
NODE_SPEC = """
▶ outer
  ✔ inner (0.2ms)
ℹ tests 10
ℹ suites 3
ℹ pass 6
ℹ fail 1
ℹ cancelled 1
ℹ skipped 1
ℹ todo 1
ℹ duration_ms 1097.4
"""
NODE_TAP = NODE_SPEC.replace("ℹ", "#")


@pytest.mark.parametrize(
    ("output", "counts"),
    [
        (JEST, Counts(40, 2, 5)),  # one test failed, and one suite that did not start
        (MOCHA, Counts(4, 1, 2)),
        (VITEST, Counts(414, 2, 5)),  # one test failed, and one of two failed files has no test
        (VITEST_CRASHED, Counts(3304, 12, 93)),
        (AVA, Counts(282, 4, 4)),
        (AVA_FAILED, Counts(2, 1, 0)),
        (AVA_TAP, Counts(282, 2, 1)),
        (NODE_SPEC, Counts(6, 2, 2)),
        (NODE_TAP, Counts(6, 2, 2)),
        (f"{NODE_SPEC}\n{NODE_TAP}", Counts(12, 4, 4)),
        (f"{MOCHA}\n{JEST}", Counts(44, 3, 7)),
        ("\x1b[1mTests:\x1b[22m       \x1b[32m3 passed\x1b[39m, 3 total\n", Counts(3, 0, 0)),
        ("Test Suites: 0 total\nTests:       0 total\n", Counts(0, 0, 0)),
    ],
)
def test_summaries(output, counts):
    assert node_totals(output) == counts


@pytest.mark.parametrize(
    "output",
    [
        "",
        "Error: Cannot find module 'jest'\n",
        "PASS test/a.spec.ts\n",
        "it has 3 tests passed\n",
        "ℹ tests 3\n",
    ],
)
def test_what_has_no_summary_has_no_total(output):
    assert node_totals(output) is None


@pytest.mark.node
@pytest.mark.parametrize("reporter", ["spec", "tap"])
def test_the_real_runner_of_node(tmp_path, reporter):
    (tmp_path / "a.test.js").write_text(
        "const {test} = require('node:test');\n"
        "test('good', () => {}); test('bad', () => { throw Error('no'); });\n"
        "test('skipped', {skip: true}, () => {}); test('later', {todo: true}, () => {});\n"
    )
    command = [shutil.which("node"), "--test", f"--test-reporter={reporter}", "a.test.js"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert node_totals(said.stdout) == Counts(1, 1, 2)
