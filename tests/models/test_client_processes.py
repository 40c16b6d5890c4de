"""Several processes, kill -9, and a live change of pace."""

import subprocess
import sys
import time

import pytest
from asking import Verdict, client, kept, questions, stub

from probe.cli import main
from probe.models.ledger import Ledger
from probe.models.tuning import read_tuning, write_tuning

ASK = """
import sys
from pathlib import Path
from asking import PRICE, Verdict, questions
from probe.config import ModelEntry
from probe.models.base import Model
from probe.models.client import Client
folder, base, number, sample = sys.argv[1:]
entry = ModelEntry(litellm_id="openai/stub", api_base=base, price=PRICE, concurrency=4)
with Client(Path(folder), 100.0) as client:
    replies = client.ask(
        Model("stub", entry), questions(int(number)), Verdict, purpose="classify x",
        sample=int(sample),
    )
print(sum(reply.value is not None for reply in replies))
"""


@pytest.fixture
def start(pytestconfig):
    """Start a process that asks questions."""
    begun = []

    def run(folder, server, number, sample=1):
        root = pytestconfig.rootpath
        paths = (
            f"import sys; sys.path[:0] = [{str(root / 'tests')!r}, {str(root / 'tests/models')!r}]"
        )
        arguments = [str(folder), server.openai, str(number), str(sample)]
        process = subprocess.Popen(
            [sys.executable, "-c", f"{paths}\n{ASK}", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        begun.append(process)
        return process

    yield run
    for process in begun:
        process.kill()
        process.communicate()


def messages(body):
    return str(body["messages"])


def test_two_processes_at_once_share_cache_and_ledger(tmp_path, server, start):
    server.latency = 0.05
    processes = [start(tmp_path, server, 20) for _ in range(2)]
    for process in processes:
        said, error = process.communicate(timeout=120)
        assert process.returncode == 0, error
        assert said == "20\n"
    assert len(kept(tmp_path)) == 20
    ledger = Ledger(tmp_path, 100.0)
    assert sum(ledger.counts().values()) == len(server.bought)
    totals = ledger.totals()
    assert totals.open == totals.lost == totals.uncertain == 0
    bought = len(server.bought)
    with start(tmp_path, server, 20) as third:
        assert third.communicate(timeout=120)[0] == "20\n"
    assert len(server.bought) == bought


@pytest.mark.parametrize("killed_after", [9])
def test_after_kill_nothing_is_bought_twice_but_what_was_in_flight(
    tmp_path, server, start, killed_after
):
    server.latency = 0.05
    process = start(tmp_path, server, 40)
    while len(server.bought) < killed_after:
        time.sleep(0.001)
        assert process.poll() is None
    process.kill()
    process.communicate()
    time.sleep(0.2)  # the server ends what it had begun
    before = [messages(body) for body in server.bought]
    known = len(kept(tmp_path))
    in_flight = Ledger(tmp_path, 100.0).lost()
    assert len(in_flight) <= 4
    assert len(before) - 4 <= known <= len(before)

    resumed = start(tmp_path, server, 40)
    said, error = resumed.communicate(timeout=120)
    assert said == "40\n", error
    everything = [messages(body) for body in server.bought]
    twice = {body for body in everything if everything.count(body) > 1}
    assert len(set(everything)) == 40
    assert len(twice) == len(before) - known <= len(in_flight)
    assert len(kept(tmp_path)) == 40


def test_the_pace_changes_while_calls_run(tmp_path, server):
    server.latency = 0.1
    with client(tmp_path) as made:
        made.ask(stub(server, concurrency=2), questions(4, "warm"), Verdict, purpose="test")
        assert server.peak == 2
        server.answer(lambda _: write_tuning(tmp_path, "stub", 6))
        made.ask(stub(server, concurrency=2), questions(60), Verdict, purpose="test")
    assert server.peak == 6


MODELS = """
stub: {litellm_id: openai/stub, price: free, concurrency: 9}
"""


def test_probe_tune(tmp_path, capsys):
    models = tmp_path / "models.yaml"
    models.write_text(MODELS)
    common = ["stub", "--folder", str(tmp_path / "cache"), "--models", str(models)]

    def tune(*arguments):
        assert main(["tune", *common, *arguments]) == 0
        return capsys.readouterr().out

    assert tune() == f"stub: 9 calls in flight at most ({models})\n"
    assert not (tmp_path / "cache").exists()
    assert tune("--concurrency", "3") == "stub: 3 calls in flight at most (probe tune)\n"
    assert read_tuning(tmp_path / "cache", "stub").concurrency == 3
    assert tune() == "stub: 3 calls in flight at most (probe tune)\n"
    assert tune("--reset") == f"stub: 9 calls in flight at most ({models})\n"
    assert read_tuning(tmp_path / "cache", "stub") is None


def test_probe_tune_says_what_is_wrong(tmp_path, capsys):
    models = tmp_path / "models.yaml"
    models.write_text(MODELS)
    assert main(["tune", "stab", "--models", str(models)]) == 1
    assert "did you mean 'stub'" in capsys.readouterr().err
    assert main(["tune", "stub", "--models", str(tmp_path / "none.yaml")]) == 1
    assert "--models" in capsys.readouterr().err
    for wrong in ("0", "1025", "many"):
        with pytest.raises(SystemExit):
            main(["tune", "stub", "--concurrency", wrong, "--models", str(models)])
        assert "from 1 to 1024" in capsys.readouterr().err


def test_a_broken_tuning_changes_nothing(tmp_path, server, caplog):
    (tmp_path / "tune").mkdir()
    (tmp_path / "tune" / "stub.json").write_text('{"concurrency": 0}')
    with client(tmp_path) as made:
        made.ask(stub(server, concurrency=2), questions(4), Verdict, purpose="test")
    assert server.peak <= 2
    assert "the tuning is left at 2" in caplog.text
