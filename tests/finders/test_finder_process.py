"""How a tool is run."""

import sys
import time

import pytest

from probe.errors import FinderError
from probe.finders.process import ToolTimeoutError, open_bench


@pytest.fixture
def bench(tmp_path):
    with open_bench(tmp_path) as bench:
        yield bench


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_output_and_status_are_kept_apart(bench):
    output = bench.execute(
        python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"), 20
    )
    assert (output.status, output.stdout, output.stderr) == (3, b"out\n", b"err\n")


def test_the_users_environment_does_not_reach_the_tool(bench, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "hush")
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    output = bench.execute(python("import os; print(sorted(os.environ), os.getcwd())"), 20)
    assert b"OPENAI" not in output.stdout
    assert b"PYTHONPATH" not in output.stdout
    assert str(bench.folder).encode() in output.stdout


def test_the_tool_and_its_children_are_killed_when_the_time_is_over(bench, tmp_path):
    marker = tmp_path / "alive"
    child = f"import time; time.sleep(2); open({str(marker)!r}, 'w')"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    with pytest.raises(ToolTimeoutError, match="stopped after 1 s"):
        bench.execute(python(code), 0.6)
    time.sleep(2)
    assert not marker.exists()


def test_a_crash_is_told_by_its_error_line(bench):
    output = bench.execute(python("raise ValueError('no such thing')"), 20)
    assert str(output.crash("tool")) == "tool ended with status 1: ValueError: no such thing"


def test_a_signal_is_told(bench):
    output = bench.execute(python("import os; os.kill(os.getpid(), 9)"), 20)
    assert str(output.crash("tool")) == "tool ended with signal 9"


def test_a_program_that_is_not_there(bench):
    with pytest.raises(FinderError, match=r"/no/such/tool: cannot start"):
        bench.execute(["/no/such/tool"], 1)


def test_the_bench_is_removed(tmp_path):
    with open_bench(tmp_path) as bench:
        bench.write("x", "y")
        folder = bench.folder
    assert not folder.exists()
