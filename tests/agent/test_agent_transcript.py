"""What is written survives a kill, is gone on with, and replays to the same or names the line."""

import fcntl
import json
import logging
from dataclasses import replace

import pytest
from agent_fakes import (
    GOOD,
    NO_LIMITS,
    MemorySandbox,
    Result,
    ScriptedCaller,
    bash,
    calls,
    cut_file,
    says,
    submit,
    task,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from probe.agent import replay, run_agent
from probe.errors import BudgetError, RecordError, SandboxError
from probe.records import Failure
from probe.records.transcript import (
    AnswerLine,
    CommandLine,
    HeaderLine,
    RerunLine,
    ResumedLine,
    read_transcript,
)

SCRIPT = [
    bash("count"),
    bash("echo a", "now"),
    calls(("grep", {})),
    says("hm"),
    bash("count"),
    submit({"bugs": 3}),
    submit(),
]


def run(path, caller, sandbox=None, given=None, limits=NO_LIMITS):
    sandbox = sandbox or MemorySandbox(outputs=["first"])
    return run_agent(caller, sandbox, given or task(), limits, path)


def compared(path):
    """All lines of the loop, without their times and without asides on what was gone on with."""
    lines = [line for line in read_transcript(path) if line.kind not in ("resumed", "rerun")]
    return [line.model_dump(mode="json", exclude={"time", "cached", "attempts"}) for line in lines]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "passes" / "one.jsonl"


def test_the_header_says_what_the_pass_is(path):
    run(path, ScriptedCaller(submit()))
    header = read_transcript(path)[0]
    assert isinstance(header, HeaderLine)
    assert (header.model, header.style, header.sample) == ("stub", "tools", 1)
    assert header.settings["litellm_id"] == "openai/stub"
    assert header.limits["turns"] == 50 and header.limits["working_s"] is None
    assert (header.sandbox.engine, header.sandbox.limits["memory_mb"]) == ("bubblewrap", 4096)
    assert (header.system, header.user) == ("You audit code.", "Look at a.py.")
    assert header.submit_schema == Result.model_json_schema()
    first, last = read_transcript(path)[0], read_transcript(path)[-1]
    assert first.time <= last.time


def test_lines_are_on_disk_as_they_come(path):
    kinds = []

    def look(request):
        kinds.append([line.kind for line in read_transcript(path)])
        return bash("echo") if len(kinds) < 2 else submit()

    run(path, ScriptedCaller(look, look))
    assert kinds == [
        ["header", "request"],
        ["header", "request", "answer", "command", "request"],
    ]


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_killed_anywhere_it_goes_on_to_the_same_end(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("kill") / "pass.jsonl"
    caller = ScriptedCaller(*SCRIPT)
    result = run(path, caller)
    whole, raw = compared(path), path.read_bytes()
    asked = len(caller.asked)
    for _ in range(data.draw(st.integers(1, 3), label="kills")):
        path.write_bytes(raw[: data.draw(st.integers(0, len(raw)), label="bytes")])
        answers = sum(isinstance(line, AnswerLine) for line in read_transcript(path))
        before = len(caller.asked)
        assert run(path, caller) == result
        assert len(caller.asked) - before == asked - answers, "what is recorded is not asked"
        assert compared(path) == whole
        assert replay(path, Result) == result
    assert len(caller.bought) == len(set(caller.bought)) == asked


def test_the_sandbox_catches_up_before_its_first_new_command(path):
    caller = ScriptedCaller(*SCRIPT)
    run(path, caller)
    lines = [line.kind for line in read_transcript(path)]
    cut_file(path, [i for i, kind in enumerate(lines) if kind == "command"][3], b'{"kind": "com')
    sandbox = MemorySandbox(outputs=["second"])
    result = run(path, caller, sandbox)
    assert sandbox.ran == ["count", "echo a", "now", "count"]
    assert result.status == "submitted"
    last = [line for line in read_transcript(path) if isinstance(line, CommandLine)][-1]
    assert last.shown == "command 4: exit status 0\nstdout:\n2", "the first count had its effect"
    (resumed,) = [line for line in read_transcript(path) if isinstance(line, ResumedLine)]
    (rerun,) = [line for line in read_transcript(path) if isinstance(line, RerunLine)]
    assert (rerun.commands, rerun.differing) == (3, ())
    assert resumed.lines == lines.index("command", lines.index("notice"))


def test_an_output_that_changes_with_time_buys_nothing_twice(path):
    """The command prints something else when it is run again; the model is told what it saw."""
    caller = ScriptedCaller(bash("now"), bash("count"), submit())
    run(path, caller)
    cut_file(path, 5)
    result = run(path, caller, MemorySandbox(outputs=["second"]))
    assert result.status == "submitted"
    assert len(caller.bought) == 3
    assert "first" in str(caller.asked[-1].messages)


def test_commands_that_end_otherwise_when_run_again_are_named(path):
    class Moody(MemorySandbox):
        def _now(self, rest):
            return self._output("", "", int(self.changing.pop(0)))

    caller = ScriptedCaller(bash("now"), bash("now"), bash("count"), submit())
    run(path, caller, Moody(outputs=["0", "1"]))
    cut_file(path, 8)
    run(path, caller, Moody(outputs=["0", "0"]))
    (rerun,) = [line for line in read_transcript(path) if isinstance(line, RerunLine)]
    assert (rerun.commands, rerun.differing) == (2, (2,))


def test_without_its_transcript_a_pass_asks_the_same_again(path):
    """The cache alone is enough as long as commands print the same."""
    caller = ScriptedCaller(bash("count"), bash("big x"), submit())
    first = run(path, caller)
    path.unlink()
    assert run(path, caller, MemorySandbox(wall_s=9.0)).calls == first.calls
    assert len(caller.bought) == 3


def test_a_finished_pass_is_not_run_again(path):
    result = run(path, ScriptedCaller(*SCRIPT))
    before = path.read_bytes()
    sandbox = MemorySandbox()
    assert run(path, ScriptedCaller(), sandbox) == result
    assert sandbox.ran == [] and path.read_bytes() == before


@pytest.mark.parametrize(
    "said", [Failure(kind="connection", detail="gone"), BudgetError("2 of 2 USD are spent")]
)
def test_a_pass_that_broke_goes_on_from_there(path, said):
    caller = ScriptedCaller(bash("count"), said, submit())
    assert run(path, caller).status in ("failed", "budget")
    result = run(path, caller)
    assert (result.status, result.turns, result.commands) == ("submitted", 2, 1)
    assert [line["kind"] for line in compared(path)][-3:] == ["request", "answer", "end"]
    assert replay(path, Result) == result


def test_a_pass_whose_sandbox_died_goes_on_in_a_new_one(path):
    caller = ScriptedCaller(bash("count"), bash("die"), submit())
    sandbox = MemorySandbox()
    assert run(path, caller, sandbox).reason == "dead_sandbox"

    class Sturdy(MemorySandbox):
        def _die(self, rest):
            return self._output("alive\n")

    fresh = Sturdy()
    assert run(path, caller, fresh).status == "submitted"
    assert fresh.ran == ["count", "die"]


def test_a_sandbox_that_dies_while_catching_up_ends_the_pass(path):
    class Fragile(MemorySandbox):
        def _count(self, rest):
            raise SandboxError("no container any more")

    caller = ScriptedCaller(bash("count"), bash("echo"), submit())
    run(path, caller)
    cut_file(path, 5)
    result = run(path, caller, Fragile())
    assert (result.reason, result.detail) == (
        "dead_sandbox", "the sandbox died: no container any more",
    )  # fmt: skip
    assert run(path, caller).status == "submitted"
    assert len(caller.bought) == 3


@pytest.mark.parametrize(
    "said",
    [says(None, refusal="no"), submit({}), says("prose")],
    ids=["refusal", "invalid", "no action"],
)
def test_the_models_own_failures_are_not_rolled_again(path, said):
    result = run(path, ScriptedCaller(*[said] * 3))
    assert result.status == "failed"
    assert run(path, ScriptedCaller()) == result


@pytest.mark.parametrize(
    "change",
    [
        {"system": "You audit Rust."},
        {"user": "Look at b.py."},
        {"sample": 2},
        {"content_sha256": "1" * 64},
    ],
)
def test_the_transcript_of_another_task_is_overwritten(path, change):
    run(path, ScriptedCaller(bash("count"), submit()))
    caller = ScriptedCaller(submit({"bugs": [], "sure": 0}))
    result = run(path, caller, given=replace(task(), **change))
    assert result.answer == Result(bugs=[], sure=0)
    assert [line.kind for line in read_transcript(path)] == ["header", "request", "answer", "end"]


def test_other_limits_are_another_task(path):
    run(path, ScriptedCaller(bash("count"), submit()))
    result = run(path, ScriptedCaller(submit()), limits=replace(NO_LIMITS, turns=9))
    assert result.turns == 1


def test_a_loop_that_goes_another_way_keeps_what_agrees(path, caplog):
    """As after a change of PROBE itself: live, the rest is forgotten, and the cache pays."""
    caller = ScriptedCaller(bash("count"), says("hm"), bash("count"), submit())
    run(path, caller)
    text = path.read_text().replace("Your answer called no tool", "You called no tool")
    path.write_text(text)
    sandbox = MemorySandbox()
    with caplog.at_level(logging.WARNING):
        result = run(path, caller, sandbox)
    assert result.status == "submitted" and len(caller.bought) == 4
    assert sandbox.ran == ["count", "count"]
    assert "notice.text: recorded" in caplog.text and ":7:" in caplog.text
    assert replay(path, Result) == result


def test_two_processes_do_not_write_one_transcript(path):
    path.parent.mkdir()
    with path.open("ab") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        with pytest.raises(RecordError, match="another process is at work on this pass"):
            run(path, ScriptedCaller(submit()))
    assert run(path, ScriptedCaller(submit())).status == "submitted"


def test_a_file_that_is_no_transcript_is_named(path):
    path.parent.mkdir()
    path.write_text("hello\n")
    with pytest.raises(RecordError, match=r"one\.jsonl:1: "):
        run(path, ScriptedCaller())
    assert path.read_text() == "hello\n"


@pytest.mark.tmpfs
def test_a_full_disk_is_an_error_that_names_the_file(full_disk):
    caller = ScriptedCaller(says("long " * 400_000), submit())
    with pytest.raises(RecordError, match="cannot write"):
        run(full_disk / "pass.jsonl", caller)


def test_a_transcript_without_an_end_does_not_replay(path):
    run(path, ScriptedCaller(*SCRIPT))
    cut_file(path, 5)
    with pytest.raises(RecordError, match="stops after line 5, before the pass ended"):
        replay(path, Result)


def test_missing_and_empty_transcripts(path):
    with pytest.raises(RecordError, match="cannot read"):
        replay(path, Result)
    path.parent.mkdir()
    path.touch()
    with pytest.raises(RecordError, match=":1: a transcript starts with a header"):
        replay(path, Result)


def test_lines_after_the_end_do_not_replay(path):
    run(path, ScriptedCaller(submit()))
    path.write_bytes(path.read_bytes() + path.read_bytes().splitlines(keepends=True)[-1])
    with pytest.raises(RecordError, match=r":5: replay differs"):
        replay(path, Result)


def test_another_submission_type_does_not_replay(path):
    class Other(BaseModel):
        text: str

    run(path, ScriptedCaller(submit()))
    with pytest.raises(RecordError, match="not a Other of this version"):
        replay(path, Other)


def _tampered(raw, number, change):
    lines = raw.splitlines(keepends=True)
    line = json.loads(lines[number - 1])
    change(line)
    lines[number - 1] = json.dumps(line).encode() + b"\n"
    return b"".join(lines)


@pytest.mark.parametrize(
    ("number", "change", "found"),
    [
        (1, lambda line: line.update(user="Look at c.py."), ":2: replay differs: request.key"),
        (3, lambda line: line["answer"].update(content="hi"), ":5: replay differs: request.key"),
        (4, lambda line: line.update(shown="nothing"), ":5: replay differs: request."),
        (4, lambda line: line.update(command="rm"), ":4: replay differs: recorded is a line 'com"),
        (4, lambda line: line.update(wall_s=7.0), "end.working_s: recorded 2.25, now 9.0"),
        (5, lambda line: line.update(key="0" * 64), ":5: replay differs: request.key"),
        (6, lambda line: line["usage"].update(usd=0.0), "end.usage"),
        (7, lambda line: line["answer"]["bugs"].append("x"), ":7: replay differs: end.answer"),
    ],
)
def test_a_changed_line_is_found(path, number, change, found):
    run(path, ScriptedCaller(bash("count"), submit(GOOD)))
    path.write_bytes(_tampered(path.read_bytes(), number, change))
    with pytest.raises(RecordError) as caught:
        replay(path, Result)
    assert found in str(caught.value)


def test_a_removed_line_is_found(path):
    run(path, ScriptedCaller(*SCRIPT))
    lines = path.read_bytes().splitlines(keepends=True)
    for number in range(1, len(lines)):
        path.write_bytes(b"".join(lines[:number] + lines[number + 1 :]))
        with pytest.raises(RecordError):
            replay(path, Result)


def test_no_key_gets_into_a_transcript(path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "sk-test-123456789")
    caller = ScriptedCaller(
        bash("echo sk-test-123456789 leaked"), BudgetError("for sk-test-123456789")
    )
    caller.script[0] = bash("now")
    run(path, caller, MemorySandbox(outputs=["sk-test-123456789 leaked"]))
    assert "sk-test" not in path.read_text()
    assert "[key] leaked" in str(caller.asked[1].messages[-1]["content"])


def test_a_transcript_of_another_version_says_so_when_it_differs(path):
    run(path, ScriptedCaller(bash("count"), submit(GOOD)))
    raw = _tampered(path.read_bytes(), 1, lambda line: line.update(probe_version="0.0.1"))
    path.write_bytes(raw)
    assert replay(path, Result).status == "submitted"
    path.write_bytes(_tampered(raw, 5, lambda line: line.update(tokens=1)))
    with pytest.raises(RecordError, match=r"PROBE 0\.0\.1 wrote it and may replay it"):
        replay(path, Result)
