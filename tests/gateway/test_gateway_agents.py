"""What the gateway keeps from real command-line agents, and when it ends them; users_ask.md rows 1, 39, 41.

The model is the test server; everything else is real: the agents at pinned versions from npm, the
sandbox, the socket. ``tests/finders/test_cli_finder.py`` lets all of them audit.
"""

import json

import pytest
from agents_at_work import AGENTS, installed
from gateway_helpers import model_at, until
from modelserver import Fault, ModelServer, Reply, Tool

from probe.finders.cli_base import INSIDE
from probe.gateway import Caps, Gateway, client_environment, through
from probe.sandbox import Limits, Mount, SandboxSpec, open_sandbox

pytestmark = [pytest.mark.bubblewrap, pytest.mark.npm]


@pytest.fixture(scope="session")
def agents():
    """The folder with the agents."""
    return installed()


def play(server: ModelServer, *turns: Tool | str) -> None:
    """Let the model take these turns, one a request that offers the agent's tools."""
    names = {turn.name for turn in turns if isinstance(turn, Tool)} | {
        agent.shell for agent in AGENTS.values()
    }

    def answer(body):
        offered = json.dumps(body.get("tools", ""))
        if not any(f'"{name}"' in offered for name in names):
            return "a title"
        taken = json.dumps(body).count("call_turn_") or json.dumps(body).count("toolu_turn_")
        done = max((i for i in range(len(turns)) if f"_turn_{i}_" in json.dumps(body)), default=-1)
        if not taken and "functionResponse" in json.dumps(body):
            done = json.dumps(body).count('"functionResponse"') - 1
        turn = turns[min(done + 1, len(turns) - 1)]
        if isinstance(turn, str):
            return turn
        return Reply(tool_calls=[Tool(turn.name, turn.arguments, f"call_turn_{done + 1}_")])

    server.answer(answer)


class Ran:
    """What came of an agent's run."""

    def __init__(self, output, report):
        self.output = output
        self.report = report


@pytest.fixture
def run(server, ledger, agents):
    """Run an agent in a new sandbox through a gateway."""

    def start(name, caps=None, *, timeout_s=120, settings=None, before=None):
        agent = AGENTS[name]
        model = model_at(server, agent.provider, **(settings or {}))
        with Gateway(model, ledger, caps or Caps(), purpose=f"audit demo/{name}") as gateway:
            spec = SandboxSpec(
                limits=Limits(memory_mb=8_000, processes=512),
                mounts=[gateway.mount, Mount(agents, INSIDE)],
                environment={**client_environment(), **agent.environment, "TERM": "dumb"},
            )
            with open_sandbox(spec, "bubblewrap") as sandbox:
                sandbox.write("secret.txt", b"the magic word is xyzzy\n")
                for path, text in agent.files.items():
                    sandbox.write(path, text.encode())
                if before:
                    before()
                output = sandbox.run(through(agent.command), timeout_s)
        return Ran(output, gateway.report())

    return start


def test_codex_offers_web_search_in_every_call_and_it_is_taken_out(server, run):
    play(server, "Nothing to do.")
    ran = run("codex")
    assert ran.report.stripped == {"web_search": ran.report.calls}
    assert "web_search" not in json.dumps([body["tools"] for body in server.bought])


@pytest.mark.parametrize("name", ["claude-code", "gemini-cli"])
def test_a_search_through_the_provider_is_refused_and_the_agent_goes_on(server, run, name):
    play(server, AGENTS[name].search, "There is no search.")
    ran = run(name)
    assert ran.output.exit == 0, ran.output
    assert "There is no search." in ran.output.stdout
    assert set(ran.report.refused) == {"server_tool"}
    assert "not available" in json.dumps([request.body for request in server.requests])


@pytest.mark.parametrize("name", list(AGENTS))
def test_a_limit_ends_an_agent(server, run, name):
    play(server, *[AGENTS[name].run(f"echo {number}") for number in range(50)])
    ran = run(name, Caps(calls=1))
    assert not ran.output.timed_out
    assert ran.report.limit == "calls"
    assert ran.report.calls == 1
    assert "on calls of this session is reached" in ran.output.stdout + ran.output.stderr


@pytest.mark.parametrize("name", ["codex", "claude-code"])
def test_a_provider_that_dies_ends_an_agent(server, run, name):
    ran = run(name, Caps(failures=3), before=server.close)
    assert not ran.output.timed_out
    assert ran.report.limit == "failures"
    assert ran.report.errors == {"connection": 3}


def test_codex_does_not_hang_on_a_provider_that_hangs(server, run):
    server.fail(*[Fault.hang()] * 9)
    ran = run("codex", Caps(failures=2), settings={"timeout_s": 1.0})
    assert not ran.output.timed_out
    assert (ran.report.limit, ran.report.uncertain) == ("failures", 2)


def test_an_agent_that_runs_out_of_time_is_killed_and_its_call_settled(server, ledger, run):
    server.fail(Fault.hang())
    ran = run("claude-code", timeout_s=3)
    assert ran.output.timed_out
    assert ran.report.errors == {"client_gone": 1}
    until(lambda: server.in_flight == 0)
    totals = ledger.totals()
    assert totals.open == 0
    assert totals.uncertain == ran.report.usage.usd > 0
