"""A user's mistake: one clear line, a non-zero exit, nothing lost, and no traceback."""

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from builders import HistoryBuilder
from histories import RUFF, row, small_history

pytestmark = pytest.mark.workflow


@pytest.fixture
def small(workflow, tmp_path):
    """A configured, unbuilt workflow on a small history."""
    history, t0, t1 = small_history(tmp_path / "origin.git")
    workflow.history, workflow.t0, workflow.t1 = history, t0, t1
    workflow.configure([row("small", history, t0, t1)], {"ruff": RUFF})
    return workflow


def refused(workflow, *arguments: str, config: str = "config/test.yaml") -> str:
    """The one line with which a run, and a dry run before it, ends."""
    lines = set()
    for dry in (["-n"], []):
        done = workflow.run(*dry, *arguments, config=config, check=False)
        assert done.returncode != 0
        assert "Traceback" not in done.stderr + done.stdout
        said = [line for line in done.stderr.splitlines() if line.startswith("probe: ")]
        assert len(said) == 1, done.stderr
        lines.add(said[0])
    assert len(lines) == 1
    assert not (workflow.folder / "results" / "small" / "history.json").exists()
    return lines.pop().removeprefix("probe: ")


def test_unknown_names_in_a_target(small):
    assert refused(small, "results/smal/ruff.metrics.csv") == (
        "results/smal/ruff.metrics.csv: unknown repository 'smal'; did you mean 'small'? "
        "(repositories are defined in config/test-repositories.tsv)"
    )
    assert "unknown run 'rufff'; did you mean 'ruff'?" in refused(
        small, "results/small/rufff.metrics.csv"
    )


def test_an_unknown_key_a_wrong_type_and_a_duplicate_name(small):
    config = small.folder / "config" / "test.yaml"
    good = config.read_text()
    config.write_text(good + "referense: {}\n")
    assert "config/test.yaml" in (said := refused(small))
    assert "referense: unknown key; did you mean 'reference'?" in said
    config.write_text(good + "plan: {token_budget: many}\n")
    assert "plan.token_budget: found 'many', expected a whole number" in refused(small)
    config.write_text(good)
    inventory = small.folder / "config" / "test-repositories.tsv"
    lines = inventory.read_text().splitlines()
    inventory.write_text("\n".join([*lines, lines[1]]) + "\n")
    assert "test-repositories.tsv:3: name: 'small' is already in line 2" in refused(small)


def test_a_folder_that_is_no_repository(small, tmp_path):
    small.configure(
        [{**row("small", small.history, small.t0, small.t1), "url": str(tmp_path / "none")}],
        {"ruff": RUFF},
    )
    assert "small" in (said := refused(small))
    assert str(tmp_path / "none") in said


def test_an_empty_repository(small, tmp_path):
    empty = HistoryBuilder(tmp_path / "empty.git")
    small.configure([row("small", empty, "2025-01-01", "2026-01-01")], {"ruff": RUFF})
    assert "empty" in refused(small)


def test_a_window_that_is_none(small):
    for t0, t1, expected in [
        ("1990-01-01", small.t1, "1990-01-01"),
        (small.t1, small.t0, small.t0),
        ("f" * 40, small.t1, "f" * 40),
    ]:
        small.configure([row("small", small.history, t0, t1)], {"ruff": RUFF})
        said = refused(small)
        assert said.startswith("small: "), said
        assert expected[:12] in said


def test_a_shallow_clone(small, tmp_path):
    shallow = tmp_path / "shallow"
    subprocess.run(
        ["git", "clone", "-q", "--depth=1", f"file://{small.history.path}", str(shallow)],
        check=True,
    )
    small.configure(
        [{**row("small", small.history, small.t0, small.t1), "url": str(shallow)}], {"ruff": RUFF}
    )
    assert "shallow" in refused(small)


def test_an_address_that_cannot_be_reached_is_said_by_the_job(small):
    unreachable = {"url": "https://127.0.0.1:9/nothing.git"}
    small.configure(
        [{**row("small", small.history, small.t0, small.t1), **unreachable}], {"ruff": RUFF}
    )
    assert small.run("-n").returncode == 0
    done = small.run(check=False)
    assert done.returncode != 0
    assert "1 failed:\n  fetch_history/small: small: " in done.stdout + done.stderr
    assert "Resume with: " in done.stdout + done.stderr
    assert "Traceback (most recent call last)" not in done.stderr


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, "no such SARIF file"),
        ("{", "is not valid JSON"),
        (json.dumps({"version": "2.0.0", "runs": []}), "says version '2.0.0'"),
        ("[" * 100_000, "expected a JSON object"),
    ],
)
def test_a_bad_sarif_file(small, content, expected):
    path = small.folder / "imports" / "small.sarif"
    path.parent.mkdir()
    if content is not None:
        path.write_text(content)
    run = {"kind": "sarif", "path": "imports/{repo}.sarif"}
    small.configure([row("small", small.history, small.t0, small.t1)], {"other": run})
    done = small.run(check=False)
    assert done.returncode != 0
    output = done.stdout + done.stderr
    assert "imports/small.sarif" in output
    assert expected.lower() in output.lower()
    assert "Traceback (most recent call last)" not in output


def test_results_of_another_version(small):
    small.run("results/small/history.json")
    mark = small.folder / "results" / "LAYOUT"
    mark.write_text("0 (old)\n")
    done = small.run("-n", check=False)
    assert done.returncode != 0
    assert "results/LAYOUT: written by a version of PROBE with layout 0" in done.stderr
    assert (small.folder / "results/small/history.json").exists()


def environment_without_tools(folder: Path) -> Path:
    """The same packages in an environment whose bin/ has Python only; returns that Python."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(Path(sys.executable).resolve())
    (folder / "lib").symlink_to(Path(sys.prefix) / "lib")
    shutil.copy2(Path(sys.prefix) / "pyvenv.cfg", folder)
    return folder / "bin" / "python"


def test_a_missing_analyser(small, tmp_path, monkeypatch):
    python = environment_without_tools(tmp_path / "environment")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(sys, "executable", str(python))
    assert "analyser 'ruff' is not installed" in refused(small)


def test_an_environment_with_a_space_in_its_path_works(small, tmp_path, monkeypatch):
    ruff = Path(sys.executable).parent / "ruff"
    python = environment_without_tools(tmp_path / "my environment")
    (python.parent / "ruff").symlink_to(ruff)
    monkeypatch.setattr(sys, "executable", str(python))
    small.run()
    assert (small.folder / "results" / "metrics.csv").exists()


@pytest.mark.tmpfs
def test_a_full_disk_during_a_write(small, full_disk):
    link = small.folder / "results"
    link.symlink_to(full_disk)
    filler = full_disk / "filler"
    filler.write_bytes(b"x" * 900_000)
    done = small.run(check=False)
    assert done.returncode != 0
    assert "No space left on device" in done.stdout + done.stderr
    assert not list(full_disk.rglob("*.tmp"))
    filler.unlink()
    link.unlink()
    shutil.copytree(full_disk, link)
    assert small.run().returncode == 0


def test_ctrl_c_loses_nothing_and_the_next_run_goes_on(small):
    process = subprocess.Popen(
        small.command(),
        cwd=small.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # A shell's background job ignores Ctrl-C, and so does all that it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while not (small.folder / "results/small/history.json").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode != 0
    assert not list((small.folder / "results").rglob("*.tmp"))
    assert small.run().returncode == 0
    assert (small.folder / "results/metrics.csv").exists()
