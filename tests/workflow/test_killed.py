"""kill -9 at random moments: no answer is bought twice, and none is lost."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from histories import ROOT

from probe.records import Call, LedgerLine, read_json, read_jsonl

pytestmark = pytest.mark.workflow

KILLS = 20
CELL = "results/demo/stub-model.metrics.csv"


@pytest.fixture
def server(tmp_path):
    """The test server as a process of its own, with a line for every whole answer."""
    log = tmp_path / "answers.jsonl"
    log.touch()
    command = [sys.executable, "-m", "modelserver", "--port", "0", "--latency", "0.8"]
    process = subprocess.Popen(
        [*command, "--log", str(log)], cwd=ROOT / "tests", stdout=subprocess.PIPE, text=True
    )
    try:
        yield process.stdout.readline().strip(), log
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


@pytest.fixture
def demo(workflow, server):
    """The bundled repository, its commits and files asked of the server one call at a time."""
    address, _ = server
    models = (workflow.folder / "config/models.yaml").read_text()
    entry = f'stub: {{litellm_id: openai/stub, api_base: "{address}", price: free, concurrency: 1}}'
    (workflow.folder / "config/test-models.yaml").write_text(_without_stub(models) + entry + "\n")
    settings = yaml.safe_load((workflow.folder / "config/stub.yaml").read_text())
    settings |= {"models_file": "config/test-models.yaml", "runs": ["stub-model"]}
    del settings["context"]  # no run here sees it
    # one judged stage: with one call at a time, the others would take minutes
    settings["reference"] = {"block_size": 10, "classify": {"engine": "stub"}}
    (workflow.folder / "config/test.yaml").write_text(yaml.safe_dump(settings))
    return workflow


def _without_stub(models: str) -> str:
    """The models without the block of the test server."""
    kept, inside = [], False
    for line in models.splitlines(keepends=True):
        if not line.startswith((" ", "#", "\n")):
            inside = line.startswith("stub:")
        if not inside:
            kept.append(line)
    return "".join(kept)


def start(workflow, *arguments: str) -> subprocess.Popen:
    return subprocess.Popen(
        workflow.command(*arguments),
        cwd=workflow.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def kill(process: subprocess.Popen, whole_group: bool) -> None:
    """End Snakemake alone, whose jobs then go on, or everything that it started."""
    with suppress(ProcessLookupError):
        if whole_group:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def wait_for_answers(process: subprocess.Popen, log: Path, more: int) -> None:
    """Until the server has given so many more answers, or the build has ended."""
    wanted = len(log.read_text().splitlines()) + more
    while process.poll() is None and len(log.read_text().splitlines()) < wanted:
        time.sleep(0.02)


def wait_for_jobs(workflow) -> None:
    """Until no job of a killed Snakemake is left."""
    marker = str(workflow.folder).encode()
    while any(marker in _command_line(folder) for folder in Path("/proc").glob("[0-9]*")):
        time.sleep(0.1)


def _command_line(folder: Path) -> bytes:
    try:
        return (folder / "cmdline").read_bytes()
    except OSError:
        return b""


def test_resuming_buys_no_answer_twice_and_loses_none(demo, server):
    _, log = server
    demo.run("prepare")
    moments = random.Random(4)
    interrupted = 0
    for number in range(KILLS):
        process = start(demo, CELL)
        wait_for_answers(process, log, more=moments.randint(0, 2))
        time.sleep(moments.uniform(0, 0.8))
        interrupted += process.poll() is None
        kill(process, whole_group=number % 10 != 9)
        wait_for_jobs(demo)
        demo.run("--unlock")
        whole_so_far(demo)
    assert interrupted == KILLS, "the build ended too early to be interrupted"
    demo.run(CELL)

    bought = Counter(json.loads(line)["sha256"] for line in log.read_text().splitlines())
    recorded = whole_so_far(demo)
    assert len(recorded) == len(bought), "every answer that was bought is in the cache"
    lines = read_jsonl(demo.folder / "cache/ledger.jsonl", LedgerLine)
    settled = {line.booking for line in lines if line.event == "settle"}
    open_at_kill = [line for line in lines if line.event == "book" and line.booking not in settled]
    again = sum(count - 1 for count in bought.values())
    assert again <= len(open_at_kill), "only calls in flight at a kill may be asked again"
    assert len(settled) + len(open_at_kill) == sum(line.event == "book" for line in lines)
    assert demo.jobs(CELL) == []


def whole_so_far(workflow) -> set[str]:
    """Keys of the recorded calls; every one of them can be read."""
    folder = workflow.folder / "cache/calls"
    return {read_json(path, Call).key for path in folder.rglob("*.json")}
