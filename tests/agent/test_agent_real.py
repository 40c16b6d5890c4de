"""The loop as it is used: the real client, a real server over HTTP, a real sandbox."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from agent_fakes import Result
from agent_server import action, audit, done, last, pack, run, script
from modelserver import Fault, Reply

from probe.agent import AgentLimits, replay, run_agent
from probe.config import Price
from probe.models.client import Client
from probe.records.transcript import AnswerLine, CommandLine, read_transcript
from probe.sandbox import SandboxSpec, open_sandbox

pytestmark = pytest.mark.bubblewrap

LIMITS = AgentLimits()
PRICE = Price.model_validate({"input": 1.0, "output": 2.0, "as_of": "2026-12-01"})


@contextmanager
def opened(folder):
    sandbox = open_sandbox(SandboxSpec(files=pack(folder / "files.tar")), "bubblewrap")
    try:
        yield sandbox
    finally:
        sandbox.close()


@pytest.fixture
def go(tmp_path, server):
    def run_pass(given=None, limits=LIMITS, usd=0.0):
        path = tmp_path / "pass.jsonl"
        with Client(tmp_path / "cache", usd) as client, opened(tmp_path) as sandbox:
            result = run_agent(client, sandbox, given or audit(server.openai), limits, path)
        assert server.errors == []
        assert replay(path, Result) == result
        return result, read_transcript(path)

    return run_pass


def test_a_pass_with_native_tool_calls(go, server):
    server.answer(
        script(
            run("cat src/a.py; pwd; id -u"),
            run("echo 'assert False' > src/t.py", "python3 src/t.py"),
            lambda messages: done("AssertionError" if "AssertionError" in last(messages) else "?"),
        )
    )
    result, lines = go()
    assert (result.status, result.turns, result.commands) == ("submitted", 3, 3)
    assert result.answer == Result(bugs=["AssertionError"], sure=0.5)
    assert result.served_model == "stub-served" and result.usage.calls == 3
    first, _, third = [line for line in lines if isinstance(line, CommandLine)]
    assert "items[len(items)]" in first.shown and "/work" in first.shown
    assert (third.exit, "Traceback" in third.shown) == (1, True)
    roles = [message["role"] for message in server.bought[-1]["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "tool", "tool"]


@pytest.mark.parametrize("style", ["schema", "prompt"])
def test_a_pass_by_actions(go, server, style):
    server.answer(
        script(
            action(action="bash", command="wc -l < src/a.py", timeout_s=None),
            lambda messages: action(
                action="submit", answer={"bugs": [last(messages).split()[-1]], "sure": 1}
            ),
        )
    )
    result, _ = go(audit(server.openai, style))
    assert result.answer == Result(bugs=["2"], sure=1)
    body = server.bought[0]
    assert "tools" not in body and ("response_format" in body) == (style == "schema")


def test_the_servers_own_answers_fit_the_schema_of_actions(go, server):
    """The server makes an instance of whatever schema it is given: on the last turn a submission."""
    result, _ = go(audit(server.openai, "schema"), replace(LIMITS, turns=4))
    assert (result.status, result.turns, result.last_chance) == ("submitted", 3, "turns")
    assert result.commands == 2


def test_there_is_no_network_and_no_history_inside(go, server):
    server.answer(
        script(
            run("git log --all; ls -a", f"exec 3<>/dev/tcp/127.0.0.1/{server.port}", "env"),
            done(),
        )
    )
    _, lines = go()
    listing, network, variables = [line for line in lines if isinstance(line, CommandLine)]
    assert ".git\n" not in listing.shown
    assert (network.exit != 0 and "No route" in network.shown) or "refused" in network.shown
    assert "KEY" not in variables.shown


def test_a_command_that_hangs_is_killed_and_the_pass_goes_on(go, server):
    server.answer(script(run("echo begun; sleep 600 & sleep 600"), run("ps ax | wc -l"), done()))
    result, lines = go(limits=replace(LIMITS, command_s=1))
    first, second = [line for line in lines if isinstance(line, CommandLine)]
    assert result.status == "submitted"
    assert first.timed_out and first.shown == "command 1: time ran out, killed\nstdout:\nbegun"
    assert second.exit == 0


def test_endless_output_is_cut(go, server):
    server.answer(script(run("yes | head -c 50000000"), done()))
    result, lines = go()
    (command,) = [line for line in lines if isinstance(line, CommandLine)]
    assert result.status == "submitted"
    assert command.truncated and len(command.shown) < 40_000
    assert "the rest is lost" in command.shown and "characters cut here" in command.shown


def _children():
    tasks = Path("/proc/self/task")
    return {int(pid) for task in tasks.iterdir() for pid in (task / "children").read_text().split()}


def test_a_sandbox_that_is_killed_ends_the_pass_as_failed(tmp_path, server):
    before = _children()
    path = tmp_path / "pass.jsonl"
    holders = set()

    def kill(messages):
        for pid in holders:
            os.kill(pid, signal.SIGKILL)
        return run("cat src/a.py")

    server.answer(script(run("echo fine"), kill, done()))
    with Client(tmp_path / "cache", 0.0) as client, opened(tmp_path) as sandbox:
        holders = _children() - before
        assert holders
        result = run_agent(client, sandbox, audit(server.openai), LIMITS, path)
    assert (result.status, result.reason, result.pass_status) == (
        "failed",
        "dead_sandbox",
        "failed",
    )
    assert server.count() == 2, "the model was not asked what it makes of it"
    server.answer(script(run("echo fine"), run("cat src/a.py"), done("found")))
    with Client(tmp_path / "cache", 0.0) as client, opened(tmp_path) as sandbox:
        result = run_agent(client, sandbox, audit(server.openai), LIMITS, path)
    assert result.answer == Result(bugs=["found"], sure=0.5)
    assert server.count() == 3, "in a new sandbox it goes on where it was"


def test_a_dead_server_ends_the_pass_and_a_living_one_goes_on(go, server):
    server.answer(script(run("echo fine"), done("found")))
    server.fail(Fault.latency(0), Fault.status(500), Fault.status(500))
    result, lines = go()
    assert (result.status, result.reason) == ("failed", "server_error")
    assert [line.attempts for line in lines if isinstance(line, AnswerLine)] == [1, 2]
    result, _ = go()
    assert result.status == "submitted"
    assert len(server.bought) == 2


def test_a_refusal_ends_the_pass(go, server):
    server.answer(script(Reply(refusal="I can't help with that.")))
    result, _ = go()
    assert (result.status, result.reason) == ("failed", "refusal")


def test_the_budget_ends_the_pass_and_keeps_what_was_bought(go, server):
    server.answer(script(run("echo 1"), run("echo 2"), done("found")))
    entry = {"price": PRICE, "max_output_tokens": 1_000}
    result, _ = go(audit(server.openai, **entry))
    assert (result.status, result.turns, server.count()) == ("budget", 0, 0)
    assert "budget.usd" in result.detail
    result, _ = go(audit(server.openai, **entry), usd=1.0)
    assert (result.status, result.turns) == ("submitted", 3)
    tokens = result.usage
    spent = (tokens.input_tokens * 1.0 + tokens.output_tokens * 2.0) / 1e6
    assert result.usage.usd == pytest.approx(spent)


def test_no_key_is_written_or_shown(tmp_path, server, monkeypatch):
    key = "sk-live-0123456789abcdef"
    monkeypatch.setenv("STUB_API_KEY", key)
    server.api_key = key
    server.answer(script(run("env; cat /proc/self/environ /proc/1/environ"), done()))
    path = tmp_path / "pass.jsonl"
    with Client(tmp_path / "cache", 0.0) as client, opened(tmp_path) as sandbox:
        given = audit(server.openai, key_env="STUB_API_KEY")
        assert run_agent(client, sandbox, given, LIMITS, path).status == "submitted"
        server.answer(script(run("true")))
        monkeypatch.setenv("STUB_API_KEY", "sk-live-wrong-wrong-wrong")
        failed = run_agent(client, sandbox, replace(given, sample=2), LIMITS, tmp_path / "2.jsonl")
    assert (failed.status, failed.reason) == ("failed", "auth")
    for file in tmp_path.rglob("*"):
        if file.is_file():
            assert b"sk-live" not in file.read_bytes(), file
    assert key not in json.dumps(server.bought)


CHANGING = (
    "date +%s%N; echo $$ $RANDOM; cat n 2>/dev/null; echo $(( $(cat n 2>/dev/null) + 1 )) > n"
)
TURNS = 8


def _count_up(messages):
    """A command each turn whose output is never the same; the last one tells how many ran."""
    turns = sum(message["role"] == "assistant" for message in messages)
    return run(CHANGING) if turns < TURNS else done(last(messages).split()[-1])


def _start(server, cache, transcript):
    command = [sys.executable, Path(__file__).with_name("agent_worker.py")]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent)}
    return subprocess.Popen(
        [*command, server.openai, cache, transcript],
        env=environment, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_killed_in_the_middle_nothing_is_bought_twice(tmp_path, server):
    """Counted at the server; outputs change from run to run, and only calls in flight may repeat."""
    chance = random.Random(4)
    server.answer(script(*[_count_up] * (TURNS + 1)))
    server.latency = 0.1
    kills = 0
    for goal in sorted(chance.sample(range(1, TURNS), 2)):
        with _start(server, tmp_path / "cache", tmp_path / "pass.jsonl") as process:
            while len(server.bought) < goal and process.poll() is None:
                time.sleep(0.005)
            time.sleep(chance.uniform(0, 0.15))
            process.kill()
        assert process.returncode == -signal.SIGKILL
        kills += 1
    with _start(server, tmp_path / "cache", tmp_path / "pass.jsonl") as process:
        said, _ = process.communicate()
    assert process.returncode == 0
    assert said == f"submitted ['{TURNS - 1}']\n", "files in the sandbox were as if never killed"
    bought = Counter(json.dumps(body, sort_keys=True) for body in server.bought)
    assert len(bought) == TURNS + 1
    assert sum(bought.values()) - len(bought) <= kills
    result = replay(tmp_path / "pass.jsonl", Result)
    assert (result.turns, result.commands) == (TURNS + 1, TURNS)
    assert server.errors == []


def test_without_its_transcript_the_cache_pays(go, tmp_path, server):
    server.answer(script(run("cat src/a.py"), run("ls; sleep 60"), done("found")))
    first, _ = go(limits=replace(LIMITS, command_s=1))
    (tmp_path / "pass.jsonl").unlink()
    second, _ = go(limits=replace(LIMITS, command_s=1))
    assert second.calls == first.calls and server.count() == 3
