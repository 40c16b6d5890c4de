"""Transcripts of each kind of agent, honest ones and such that were shown the future."""

import json
from datetime import UTC, datetime

import pytest
from test_unknown import LINE, candidate

from probe.errors import IsolationError
from probe.isolation.attempts import commands_in, find_attempts, find_web_tools
from probe.isolation.scan import scan_run, scan_session
from probe.isolation.transcripts import Piece, read_session
from probe.isolation.unknown import learn
from probe.records import Answer, PassResult, Provenance, SandboxUse, ToolCall, Usage, write_jsonl
from probe.records.transcript import AnswerLine, CommandLine, EndLine, HeaderLine

NOW = datetime(2026, 12, 1, tzinfo=UTC)
SECOND = "    return sum(values) / len(values) if values else float('nan')"


@pytest.fixture
def unknown(case):
    return learn(case.history.path, case.pins, [candidate(case.t1, LINE, SECOND)], case.archive)


def header(user="Audit sums/core.py; issue #41 is known."):
    return HeaderLine(
        time=NOW, probe_version="0", model="stub", settings={}, context_tokens=1000, style="tools",
        limits={}, sandbox=SandboxUse(engine="bubblewrap", version="0", image="x", limits={}),
        system="You audit.", user=user, submit_schema={}, content_sha256="0" * 64, sample=1,
        purpose="test",
    )  # fmt: skip


def ran(number, command, shown):
    return CommandLine(
        time=NOW, number=number, call="c", command=command, timeout_s=9, exit=0, shown=shown
    )


def said(text="", **arguments):
    calls = (ToolCall(id="c", name="bash", arguments=json.dumps(arguments)),) if arguments else ()
    return AnswerLine(
        time=NOW, answer=Answer(content=text or None, tool_calls=calls, finish_reason="stop")
    )


def ended(answer=None):
    return EndLine(
        time=NOW, status="submitted", reason=None, detail=None, last_chance=None, answer=answer,
        usage=Usage(), turns=1, commands=1, working_s=1,
    )  # fmt: skip


@pytest.fixture
def scan(tmp_path, unknown):
    def run(*lines):
        path = tmp_path / "a.jsonl"
        write_jsonl(path, lines)
        return [
            (leak.weight, leak.kind, leak.source, leak.where)
            for leak in scan_session(path, "a", unknown)
        ]

    return run


def test_an_honest_session_has_no_hit(scan, case):
    assert not scan(
        header(),
        said("I read it first.", command="cat sums/core.py sums/text.py CHANGELOG.md"),
        ran(1, "cat sums/core.py sums/text.py CHANGELOG.md", "# colours: #fff and #120\nsee #41\n"),
        ran(2, "python3 -m pytest -q", "3 passed in 0.04s, id 1234567 deadbeef\n"),
        ran(3, "sha1sum sums/core.py", f"{'ab' * 20}  sums/core.py\n{case.t0}\n{case.t0[:9]}"),
        ended({"findings": [{"title": "mean fails on nothing", "path": "sums/core.py"}]}),
    )


def test_what_tools_show_of_the_future_is_a_leak(scan, case):
    assert scan(
        header(),
        ran(1, "cat notes", f"commit {case.t1}\n"),
        ran(2, "cat new.py", f"+{LINE}\n+{SECOND}\n"),
        ran(3, "cat page", "https://github.com/ada/little/pull/57"),
    ) == [
        ("leak", "window_sha", "output", "a.jsonl:2"),
        ("leak", "fix_text", "output", "a.jsonl:3"),
        ("leak", "issue_number", "output", "a.jsonl:4"),
    ]


def test_weaker_evidence_is_a_suspect(scan, case):
    assert scan(
        header(),
        ran(1, "cat notes", f"see {case.t1[:8]}"),
        ran(2, "cat new.py", LINE),
        ran(3, "cat page", "Bug #57 of something else"),
    ) == [
        ("suspect", "window_sha", "output", "a.jsonl:2"),
        ("suspect", "fix_text", "output", "a.jsonl:3"),
        ("suspect", "issue_number", "output", "a.jsonl:4"),
    ]


def test_what_the_model_says_itself_and_its_echo_are_suspects(scan, case):
    assert scan(
        header(),
        said(f"I remember {case.t1}."),
        ran(1, f"cat >x.py <<'END'\n{LINE}\n{SECOND}\nEND\ncat x.py", f"{LINE}\n{SECOND}\n{case.t1}"),
        ended({"findings": [{"suggested_fix": f"{LINE}\n{SECOND}"}]}),
    ) == [
        ("suspect", "window_sha", "message", "a.jsonl:2"),
        ("suspect", "fix_text", "command", "a.jsonl:3"),
        ("suspect", "window_sha", "output", "a.jsonl:3"),
        ("suspect", "fix_text", "output", "a.jsonl:3"),
        ("suspect", "fix_text", "message", "a.jsonl:4"),
    ]  # fmt: skip


def test_a_prompt_that_knows_the_future_is_the_one_hit(scan, case):
    hits = scan(header(f"Mind {case.t1}."), ran(1, "cat x", case.t1), said(f"As {case.t1} says"))
    assert hits == [("leak", "window_sha", "prompt", "a.jsonl:1")]


def test_attempts_are_counted_and_are_no_leaks(scan):
    assert scan(
        header(),
        ran(
            1,
            "cd /work && git log --all -p | head; git -C . show HEAD",
            "fatal: not a git repository",
        ),
        ran(2, "timeout 20 pip download little-sums==1.1", "ERROR: no network"),
        ran(3, "grep -rn 'git log' . ; echo curl", ""),
    ) == [
        ("attempt", "history", "command", "a.jsonl:2"),
        ("attempt", "history", "command", "a.jsonl:2"),
        ("attempt", "network", "command", "a.jsonl:3"),
    ]


@pytest.mark.parametrize(
    ("command", "tried"),
    [
        ("git log -3", ["git log"]),
        ("GIT_DIR=/x git --no-pager reflog", ["git reflog"]),
        ("true && (cd x; git blame a.py)", ["git blame"]),
        ("bash -lc 'git show HEAD'", ["git show"]),
        ("curl -s https://pypi.org/simple/x", ["curl"]),
        ("python3 -m pip install -U x", ["pip install"]),
        ("npm view marked versions", ["npm view"]),
        ("npx marked", ["npx"]),
        ("git clone https://x/y", ["git clone"]),
        ("python -c \"import urllib.request as u; u.urlopen('https://pypi.org')\"", ["urlopen"]),
        ("exec 3<>/dev/tcp/example.org/80", ["/dev/tcp"]),
        ("python -c \"urlopen('http://localhost:80')\"", []),
        ("grep -rn curl src; cat git.log", []),
        ("git status; git diff a b; git init", []),
        ("pip --version; pip list; npm test; npm run build", []),
        ("echo 'do not git log'", []),
    ],
)
def test_commands_that_ask_for_history_or_a_network(command, tried):
    assert [one.name for one in find_attempts(Piece("command", command, 1))] == tried


def test_simple_commands_of_a_script():
    assert list(commands_in("if true; then FOO=1 sudo ls -l\nfi | wc -l")) == [
        "true",
        "ls -l",
        "fi",
        "wc -l",
    ]


EVENTS = {
    "codex": (
        {"type": "item.completed", "item": {"id": "1", "type": "command_execution",
         "command": "bash -lc 'cat x'", "aggregated_output": "OUT", "exit_code": 0}},
        {"type": "item.completed", "item": {"type": "agent_message", "text": "SAID"}},
    ),
    "claude-code": (
        {"type": "assistant", "message": {"role": "assistant", "content": [
            {"type": "text", "text": "SAID"},
            {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "cat x"}}]}},
        {"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "OUT"}]}]}},
    ),
    "opencode": (
        {"type": "tool_use", "part": {"type": "tool", "tool": "bash",
         "state": {"status": "completed", "input": {"command": "cat x"}, "output": "OUT"}}},
        {"type": "text", "part": {"type": "text", "text": "SAID"}},
    ),
    "gemini-cli": (
        {"type": "tool_use", "tool_name": "run_shell_command", "parameters": {"command": "cat x"}},
        {"type": "tool_result", "status": "success", "output": "OUT"},
        {"type": "message", "role": "assistant", "content": "SA", "delta": True},
        {"type": "message", "role": "assistant", "content": "ID", "delta": True},
        {"type": "result", "status": "success"},
    ),
    "pi": (
        {"type": "tool_execution_start", "toolCallId": "c", "args": {"command": "cat x"}},
        {"type": "tool_execution_end", "result": {"content": [{"type": "text", "text": "OUT"}]}},
        {"type": "message_end", "message": {"role": "assistant", "content": [{"type": "text", "text": "SAID"}]}},
    ),
}  # fmt: skip
"""Events as the six agents print them, cut down (qwen-code's are of Claude Code's form)."""


def write_events(path, events):
    added = [{"type": "probe.session", "tool": "x"}, {"type": "probe.prompt", "text": "ASKED"}]
    path.write_text("".join(json.dumps(line) + "\n" for line in (*added, *events)))
    return path


@pytest.mark.parametrize("tool", EVENTS)
def test_texts_of_command_line_agents_are_told_apart(tmp_path, tool):
    pieces = read_session(write_events(tmp_path / "a.jsonl", EVENTS[tool])).pieces
    by_source = {source: [p.text for p in pieces if p.source == source] for source, _, _ in pieces}
    assert by_source["prompt"] == ["ASKED"]
    assert by_source["output"][-1] == "OUT"
    assert any("cat x" in text for text in by_source["command"])
    assert "SAID" in by_source["message"]
    assert not {"OUT", "cat x"} & set(by_source["message"])


def test_a_leak_in_a_command_line_agents_output(tmp_path, unknown, case):
    events = json.loads(json.dumps(EVENTS["claude-code"]).replace("OUT", f"commit {case.t1}"))
    found = scan_session(write_events(tmp_path / "a.jsonl", events), "a", unknown)
    assert [(leak.weight, leak.kind, leak.where) for leak in found] == [
        ("leak", "window_sha", "a.jsonl:4")
    ]


@pytest.mark.parametrize(
    ("line", "weights"),
    [
        ('{"type":"item.completed","item":{"type":"web_search","query":"x"}}', ["leak"]),
        ('{"content":[{"type":"web_search_tool_result","content":[]}]}', ["leak"]),
        ('{"candidates":[{"groundingMetadata":{"webSearchQueries":["x"]}}]}', ["leak"]),
        ('{"type":"tool_use","name":"WebFetch","input":{"url":"https://x"}}', ["attempt"]),
        ('{"type":"tool_use","tool_name":"google_web_search"}', ["attempt"]),
        ('{"usage":{"server_tool_use":{"web_search_requests":0}},"tools":["WebSearch"]}', []),
        (json.dumps({"output": '{"type": "web_search", "name": "web_fetch"}'}), []),
    ],
)
def test_web_tools_of_command_line_agents(line, weights):
    assert [one.weight for one in find_web_tools(line, 1)] == weights


def result(name, transcript):
    return PassResult(
        repo="little", run="luna", pass_id=name, status="ok", findings=(), usage=Usage(), wall_s=1,
        transcript=transcript, provenance=Provenance.of_heuristic("1"),
    )  # fmt: skip


def test_a_run_is_scanned_pass_by_pass(tmp_path, unknown, case):
    write_jsonl(tmp_path / "transcripts/a.jsonl", [header(), ran(1, "cat x", case.t1)])
    write_jsonl(tmp_path / "transcripts/b.jsonl", [header()])
    passes = [(tmp_path / f"passes/{n}.json", result(n, f"../transcripts/{n}.jsonl")) for n in "ab"]
    scan = scan_run([*passes, (tmp_path / "passes/c.json", result("c", None))], unknown)
    assert scan.transcripts == 2
    assert [(leak.pass_id, leak.weight) for leak in scan.leaks] == [("a", "leak")]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "No such file"),
        ("no json\n", "no transcript"),
        ("[]\n", "no transcript"),
        ("", "no transcript"),
    ],
)
def test_a_transcript_that_cannot_be_read_is_no_clean_pass(tmp_path, unknown, content, words):
    if content is not None:
        (tmp_path / "a.jsonl").write_text(content)
    with pytest.raises(IsolationError, match=words):
        scan_run([(tmp_path / "passes/a.json", result("a", "../a.jsonl"))], unknown)
