import os
import time

from probe.config import Cell
from probe.job import job
from probe.report.summary import failure_text


def test_a_failure_names_cause_log_and_resuming_command(tmp_path):
    started = time.time()
    logs = tmp_path / "logs"
    for name, text in {
        "run_analyzer/demo/ruff.log": "INFO x\nERROR ruff: not installed; run make\n",
        "build_plan/demo.log": "DONE\n",
        "ask_presence/demo/0000.log": "INFO half way\n",
    }.items():
        (logs / name).parent.mkdir(parents=True, exist_ok=True)
        (logs / name).write_text(text)
    old = logs / "build_files" / "old.log"
    old.parent.mkdir()
    old.write_text("ERROR long ago\n")
    os.utime(old, (started - 100, started - 100))
    text = failure_text(tmp_path, [Cell("demo", "ruff")], started, ["/x/snakemake", "a b"])
    assert text.splitlines() == [
        "",
        "PROBE: 0 of 1 cell with a result, 2 failed:",
        "  ask_presence/demo/0000: killed",
        f"    log: {logs}/ask_presence/demo/0000.log",
        "  run_analyzer/demo/ruff: ruff: not installed; run make",
        f"    log: {logs}/run_analyzer/demo/ruff.log",
        "Resume with: snakemake 'a b'",
    ]


def test_many_failures_are_counted_rather_than_listed(tmp_path):
    started = time.time()
    for number in range(14):
        log = tmp_path / f"logs/ask_findings/demo/luna/p{number:02}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("ERROR no money\n")
    lines = failure_text(tmp_path, [], started, ["snakemake"]).splitlines()
    assert sum("no money" in line for line in lines) == 10
    assert "  and 4 more; their logs are in logs/" in lines


def test_a_log_says_how_its_job_ended(tmp_path, run_python):
    good = run_python("from probe.job import job\nwith job('good.log'): pass")
    assert (good.returncode, (tmp_path / "good.log").read_text()) == (0, "DONE\n")
    known = run_python(
        "from probe.job import job\nfrom probe.errors import GitError\n"
        "with job('known.log'): raise GitError('x: two\\nlines')"
    )
    assert (known.returncode, known.stderr) == (1, "ERROR x: two lines\n")
    assert (tmp_path / "known.log").read_text() == "ERROR x: two lines\n"
    fault = run_python("from probe.job import job\nwith job('fault.log'): {}['key']")
    assert fault.returncode == 1
    assert "Traceback" not in fault.stderr
    log = (tmp_path / "fault.log").read_text()
    assert "Traceback" in log
    assert log.splitlines()[-1].startswith("ERROR KeyError: 'key' (a fault of PROBE")
    assert callable(job)
