"""Command-line agents as finders: real programs in real sandboxes; users_ask.md rows 1, 39, 41.

The model is the test server; everything else is real. What an agent can see of the world, its
scripted commands tell the server.
"""

import json
from collections.abc import Iterator

import pytest
from audits import FILES, Project, item
from cli_audits import KEY, KEY_ENV, WAYS, cli_session, installed, play_cli, run_cli
from modelserver import ModelServer

from probe.errors import BudgetError, ModelError
from probe.finders.cli_base import parse_events
from probe.finders.cli_check import tool_of
from probe.gateway.inside import DUMMY_KEY
from probe.gateway.report import GatewayLine
from probe.records import read_jsonl

pytestmark = [pytest.mark.bubblewrap, pytest.mark.npm]

TOLD = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", "QWEN.md")
SNOOP = (
    "head -n 1 pkg/c.py; env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'; "
    "for port in {port} 443; do (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null && echo REACHED; done; "
    "(exec 3<>/dev/tcp/1.1.1.1/53) 2>/dev/null && echo REACHED; echo snooped"
)
GOOD = {"findings": [item()]}
OUTSIDE = {"findings": [item(), item(path="/etc/passwd"), item(path="pkg/none.py")]}


@pytest.fixture(scope="session")
def agents():
    return installed()


@pytest.fixture
def server(monkeypatch) -> Iterator[ModelServer]:
    """It answers the right key only, which is in this process's environment."""
    monkeypatch.setenv(KEY_ENV, KEY)
    with ModelServer(api_key=KEY) as running:
        yield running


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def cut_anywhere(tool: str, lines: list[str]) -> None:
    """No beginning of a turn's output passes for one that ended with an answer."""
    begins = max(i for i, line in enumerate(lines) if line.startswith('{"type": "probe.prompt"'))
    events = parse_events("\n".join(lines[begins + 1 : -2]))
    read = tool_of(tool).read
    assert read(events).answer
    for number in range(len(events)):
        assert read(events[:number]).answer is None


@pytest.mark.parametrize("tool", list(WAYS))
def test_an_agent_audits_through_the_gateway_and_nothing_else(server, agents, tmp_path, tool):
    marked = {name: f"Follow the mark of {name}.\n" for name in TOLD}
    project = Project(tmp_path, FILES | marked)
    effort = {"effort": "low"} if tool_of(tool).efforts else {}
    session = cli_session(project, server, tool, agents=agents, entry=effort)
    snoop = SNOOP.replace("{port}", str(server.port))
    told_so_far = play_cli(server, tool, snoop, "It all looks fine to me.", OUTSIDE)
    result = run_cli(project, session, tool)
    told = told_so_far()
    assert (result.status, result.error) == ("ok", None)
    [found] = result.findings
    assert (found.path, found.first, found.placing) == ("pkg/a.py", 2, "as_reported")
    assert [r.reason for r in result.rejected] == ["outside_snapshot", "no_such_file"]
    assert result.oddities["asked_again"] == 1

    assert "1|def first(items):" in told  # the prompt
    assert "def total(prices):" in told and "snooped" in told and DUMMY_KEY in told
    assert "REACHED\\n" not in told
    read_all_the_same = {"GEMINI.md"} if tool == "gemini-cli" else set()
    assert {name for name in TOLD if f"the mark of {name}" in told} == read_all_the_same
    for request in server.requests:
        offered = json.dumps(request.body.get("tools", "")).lower()
        assert "web_search" not in offered and "websearch" not in offered
        assert "web_fetch" not in offered and "webfetch" not in offered

    lines = (session.transcripts / "a.jsonl").read_text()
    gateway = read_jsonl(session.transcripts / "a.gateway.jsonl", GatewayLine)
    assert json.loads(lines.splitlines()[0])["tool"] == tool
    assert KEY not in told + lines + str(gateway)
    cut_anywhere(tool, lines.splitlines())
    assert result.turns == len(gateway) == len(server.bought)
    assert result.usage.usd == pytest.approx(session.ledger.totals().spent) and result.usage.usd > 0
    assert result.gateway.asked_models == (session.model.entry.litellm_id.partition("/")[2],)
    assert result.gateway.efforts == tuple(effort.values())
    assert result.gateway.stripped == {}
    assert tool in result.provenance.engine_version
    assert result.transcript == "../transcripts/a.jsonl"


@pytest.mark.docker
@pytest.mark.parametrize("tool", ["codex", "pi"])
def test_an_agent_works_in_docker_with_an_image_that_has_no_node(server, agents, project, tool):
    told = play_cli(server, tool, "command -v node || echo bare; id -u", GOOD)
    session = cli_session(project, server, tool, engine="docker", agents=agents)
    result = run_cli(project, session, tool)
    assert (result.status, result.error, len(result.findings)) == ("ok", None, 1)
    assert "bare" in told()
    assert (result.sandbox.engine, result.turns) == ("docker", 2)
    assert "asked_again" not in result.oddities


KILLED = "touch /tmp/x; kill -9 -1"
HALF = json.dumps(GOOD)[:60]


@pytest.mark.parametrize(
    ("tool", "command", "answers", "status", "error"),
    [
        ("codex", KILLED, (GOOD,), "failed", "crashed: codex ended with status 137"),
        ("pi", KILLED, (GOOD,), "failed", "crashed: pi ended with status 137"),
        (
            "codex",
            "",
            (HALF,),
            "failed",
            "invalid_answer: the last message is no JSON object alone",
        ),
        ("pi", "", ("Two bugs: " + json.dumps(GOOD),), "failed", "begins: Two bugs"),
        ("codex", "", ('{"bugs": []}',), "failed", "no object with a list 'findings'"),
    ],
)
def test_an_agent_that_breaks_is_a_recorded_failure(
    server, agents, project, tool, command, answers, status, error
):
    play_cli(server, tool, command, *answers)
    session = cli_session(project, server, tool, agents=agents)
    result = run_cli(project, session, tool)
    assert (result.status, result.findings) == (status, ())
    assert error in result.error
    assert "\n" not in result.error
    assert result.usage.usd == pytest.approx(session.ledger.totals().spent) and result.usage.usd > 0
    assert (session.transcripts / "a.jsonl").exists()


def test_findings_that_do_not_fit_are_asked_for_again_and_then_counted(server, agents, project):
    bad = {"findings": [item(), item(severity="awful"), "no item"]}
    play_cli(server, "pi", "", json.dumps(bad))
    result = run_cli(project, cli_session(project, server, "pi", agents=agents), "pi")
    assert (result.status, len(result.findings), result.turns) == ("ok", 1, 2)
    assert [r.reason for r in result.rejected] == ["malformed", "malformed"]


def test_limits_of_a_session(server, agents, project):
    play_cli(server, "codex", "sleep 60", GOOD)
    session = cli_session(project, server, "codex", agents=agents)
    slow = run_cli(project, session, "codex", working_s=2.0)
    assert (slow.status, slow.error) == ("timeout", "time: no answer within working_s: 2")
    play_cli(server, "codex", "true", GOOD)
    capped = run_cli(project, session, "codex", calls=1)
    assert (capped.status, capped.error) == ("limit", "calls: no answer within calls: 1")
    dear = run_cli(project, session, "codex", usd=0.0001)
    assert (dear.status, dear.error) == ("limit", "usd: no answer within usd: 0.0001")
    assert session.ledger.totals().open == 0


def test_what_is_not_the_agents_fault_fails_the_job(server, agents, project, monkeypatch):
    play_cli(server, "codex", "", GOOD)
    session = cli_session(project, server, "codex", agents=agents, budget=0.0001)
    with pytest.raises(BudgetError, match=r"budget\.usd leaves no room for the next call"):
        run_cli(project, session, "codex")
    assert server.requests == []
    session = cli_session(project, server, "codex", agents=agents)
    monkeypatch.setenv(KEY_ENV, "sk-wrong-0123456789")
    with pytest.raises(ModelError, match="does not answer: status 401"):
        run_cli(project, session, "codex")
    server.close()
    with pytest.raises(ModelError, match="does not answer: connection"):
        run_cli(project, session, "codex")
