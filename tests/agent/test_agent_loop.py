"""Every way in which a pass can go and end, in each style, with a model and a sandbox in memory."""

import json
from dataclasses import replace
from itertools import count

import pytest
from agent_fakes import (
    GOOD,
    NO_LIMITS,
    STYLES,
    MemorySandbox,
    Result,
    ScriptedCaller,
    bash,
    calls,
    says,
    submit,
    task,
)

from probe.agent import AgentLimits, replay, run_agent
from probe.errors import BudgetError, ModelError
from probe.records import Failure, Usage
from probe.records.transcript import AnswerLine, CommandLine, EndLine, RequestLine, read_transcript


@pytest.fixture
def go(tmp_path):
    """Run a pass over a script; whatever comes of it must replay to the same."""

    numbers = count(1)

    def run(*script, limits=NO_LIMITS, style="tools", sandbox=None, entry=None, **caller_args):
        caller = ScriptedCaller(*script, **caller_args)
        sandbox = sandbox or MemorySandbox()
        path = tmp_path / f"pass-{next(numbers)}.jsonl"
        result = run_agent(caller, sandbox, task(style, **(entry or {})), limits, path)
        assert replay(path, Result) == result
        return result, caller, sandbox, read_transcript(path)

    return run


@pytest.mark.parametrize("style", STYLES)
def test_commands_then_a_submission(go, style):
    result, caller, sandbox, lines = go(
        bash("echo hello", style=style), bash("fail", style=style), submit(style=style), style=style
    )
    assert (result.status, result.pass_status, result.reason) == ("submitted", "ok", None)
    assert result.answer == Result(bugs=["off by one"], sure=0.5)
    assert (result.turns, result.commands) == (3, 2)
    assert result.working_s == 3 * 1.0 + 2 * 0.25
    assert result.usage == Usage(calls=3, input_tokens=300, output_tokens=30, usd=0.03)
    assert result.calls == tuple(request.key for request in caller.asked)
    assert result.served_model == "stub-served"
    assert sandbox.ran == ["echo hello", "fail"]
    assert caller.seen()[1:] == [
        "command 1: exit status 0\nstdout:\nhello",
        "command 2: exit status 1\nno output",
    ]
    kinds = [line.kind for line in lines]
    turn = ["request", "answer", "command"]
    assert kinds == ["header", *turn, *turn, "request", "answer", "end"]


def test_an_empty_submission_is_a_result_and_a_failure_is_none(go):
    result, *_ = go(submit({"bugs": [], "sure": 1}))
    assert (result.pass_status, result.answer) == ("ok", Result(bugs=[], sure=1))
    assert result.error is None
    result, *_ = go(Failure(kind="server_error", detail="HTTP 500"))
    assert (result.pass_status, result.answer) == ("failed", None)


def test_what_each_style_is_offered(go):
    _, caller, *_ = go(submit())
    (request,) = caller.asked
    assert [tool["function"]["name"] for tool in request.tools] == ["bash", "submit"]
    assert request.schema is None and request.messages[0]["content"] == "You audit code."

    _, caller, *_ = go(submit(style="schema"), style="schema")
    (request,) = caller.asked
    assert request.tools == () and len(request.schema["anyOf"]) == 2
    assert "JSON schema:" not in request.messages[0]["content"]

    _, caller, *_ = go(submit(style="prompt"), style="prompt")
    (request,) = caller.asked
    assert request.tools == () and request.schema is None
    assert "One line each." in request.messages[0]["content"].partition("JSON schema:\n")[2]


def test_the_identity_carries_the_repeat_and_not_the_purpose(tmp_path):
    keys = []
    for number, sample, purpose in ((1, 1, "a"), (2, 2, "a"), (3, 1, "b")):
        caller = ScriptedCaller(submit())
        given = replace(task(), sample=sample, purpose=purpose)
        run_agent(caller, MemorySandbox(), given, NO_LIMITS, tmp_path / f"{number}.jsonl")
        keys += caller.bought
        assert caller.asked[0].purpose == purpose
    assert keys[0] == keys[2] != keys[1]


def test_turns_run_out_after_the_last_chance(go):
    script = [bash("echo x")] * 5
    result, caller, sandbox, lines = go(*script, limits=AgentLimits(turns=5, reminders=9))
    assert (result.status, result.pass_status, result.reason) == ("limit", "limit", "turns")
    assert (result.detail, result.error) == ("5 of 5 turns", "turns: 5 of 5 turns")
    assert result.last_chance == "turns"
    assert sandbox.ran == ["echo x"] * 3, "no command is run on the last two turns"
    assert "Last chance: the limit on turns is near, and at most 2 answers" in caller.seen()[3]
    assert [tool["function"]["name"] for tool in caller.asked[3].tools] == ["submit"]
    assert caller.seen()[4] == "not carried out: only a submission is accepted now"
    assert [line.final for line in lines if isinstance(line, RequestLine)] == [False] * 3 + [
        True
    ] * 2


def test_a_last_chance_that_is_taken_is_a_submission(go):
    result, *_ = go(bash("echo"), bash("echo"), submit(), limits=AgentLimits(turns=4))
    assert (result.status, result.reason, result.last_chance) == ("submitted", None, "turns")


def test_the_last_chance_leaves_room_for_a_correction(go):
    result, *_ = go(bash("echo"), submit({}), submit(), limits=AgentLimits(turns=3))
    assert (result.status, result.turns, result.last_chance) == ("submitted", 3, "turns")


@pytest.mark.parametrize(
    ("limits", "reason", "status", "detail"),
    [
        (AgentLimits(working_s=5), "time", "timeout", "5.75 of 5 s"),
        (AgentLimits(output_tokens=40), "output_tokens", "limit", "40 of 40 output tokens"),
        (AgentLimits(total_tokens=500), "total_tokens", "limit", "550 of 500 tokens"),
        (AgentLimits(usd=0.05), "usd", "limit", "0.05 of 0.05 USD"),
    ],
)
def test_each_limit_has_its_name_and_its_value(go, limits, reason, status, detail):
    limits = replace(limits, reminders=9)
    result, caller, *_ = go(*[bash("echo")] * 9, limits=limits)
    assert (result.status, result.reason, result.pass_status) == ("limit", reason, status)
    assert result.detail == detail
    assert result.last_chance == reason
    notices = [text for text in caller.seen() if text.startswith("Last chance")]
    assert len(notices) == 1


def test_one_call_can_pass_a_limit_and_no_more(go):
    huge = Usage(calls=1, input_tokens=10**6, output_tokens=10**5, usd=9.0)
    result, caller, *_ = go(bash("echo"), limits=replace(NO_LIMITS, usd=2.0), usage=huge)
    assert (result.status, result.reason, result.detail) == ("limit", "usd", "9 of 2 USD")
    assert len(caller.asked) == 1


def test_tokens_that_nobody_counted_are_estimated(go):
    limits = replace(NO_LIMITS, output_tokens=500, final_turns=1)
    result, *_ = go(*[bash("echo")] * 30, limits=limits, usage=Usage(calls=1))
    assert result.reason == "output_tokens" and 4 < result.turns < 20
    assert result.usage.output_tokens is None, "unknown stays unknown in the record"


def test_a_command_is_given_the_time_that_is_left(go):
    limits = AgentLimits(working_s=30, command_s=20)
    _, _, sandbox, _ = go(
        calls(("bash", {"command": "echo", "timeout_s": 5})),
        bash("echo"),
        bash("echo"),
        submit(),
        limits=limits,
        sandbox=MemorySandbox(wall_s=6),
    )
    assert sandbox.timeouts == [5, 20, 30 - 3 * 1 - 2 * 6]


def test_commands_after_the_time_are_not_run(go):
    limits = AgentLimits(working_s=10, final_turns=1)
    result, _, sandbox, _ = go(bash("echo 1", "echo 2"), limits=limits, sandbox=MemorySandbox(9.5))
    assert sandbox.ran == ["echo 1"]
    assert (result.pass_status, result.detail) == ("timeout", "10.5 of 10 s")


@pytest.mark.parametrize("command", ["vanish", "die"])
def test_a_dead_sandbox_is_never_shown_to_the_model(go, command):
    result, caller, _, lines = go(bash("echo 1"), bash(command))
    assert (result.status, result.reason, result.pass_status) == (
        "failed",
        "dead_sandbox",
        "failed",
    )
    assert result.detail.startswith("the sandbox died: ")
    assert len(caller.asked) == 2
    dead = [line for line in lines if isinstance(line, CommandLine)][-1]
    assert dead.command == command and dead.dead


def test_a_failing_command_in_a_living_sandbox_is_an_output(go):
    result, caller, *_ = go(bash("fail oops"), bash("sleep 99"), submit())
    assert result.status == "submitted"
    assert caller.seen()[1] == "command 1: exit status 1\nstderr:\noops"
    assert caller.seen()[2] == "command 2: time ran out, killed\nstdout:\nstarted"


@pytest.mark.parametrize("kind", ["connection", "server_error", "rate_limited", "timeout", "auth"])
def test_a_dead_server_ends_the_pass_under_its_name(go, kind):
    result, _, _, lines = go(bash("echo"), Failure(kind=kind, detail="gone"))
    assert (result.status, result.reason, result.detail) == ("failed", kind, "gone")
    assert [line.waiting_s for line in lines if isinstance(line, AnswerLine)] == [0, 3.0]
    assert result.usage.usd == 0.01, "what was bought before stays counted"


@pytest.mark.parametrize("said", [says(None, refusal="I can't"), says("", "content_filter")])
def test_a_refusal_ends_the_pass(go, said):
    result, *_ = go(bash("echo"), said)
    assert (result.status, result.reason, result.pass_status) == ("failed", "refusal", "failed")


def test_the_budget_of_the_workflow_ends_the_pass(go):
    result, *_ = go(bash("echo"), BudgetError("2.00 of 2.00 USD are spent; raise budget.usd"))
    assert (result.status, result.pass_status) == ("budget", "budget")
    assert result.detail == "2.00 of 2.00 USD are spent; raise budget.usd"


def test_a_server_that_finds_the_prompt_too_long_is_the_limit_on_context(go):
    result, *_ = go(Failure(kind="context_length", detail="9000 > 8192"))
    assert (result.status, result.reason) == ("limit", "context")


def test_a_model_that_cannot_be_asked_stops_the_job(tmp_path):
    path = tmp_path / "pass.jsonl"
    with pytest.raises(ModelError):
        run_agent(
            ScriptedCaller(bash("echo"), ModelError("no key")),
            MemorySandbox(), task(), NO_LIMITS, path,
        )  # fmt: skip
    assert not any(isinstance(line, EndLine) for line in read_transcript(path))


@pytest.mark.parametrize("style", STYLES)
def test_prose_is_reminded_and_then_fails(go, style):
    result, caller, *_ = go(*[says("I found no bugs.")] * 3, style=style)
    assert (result.status, result.reason) == ("failed", "no_action")
    assert result.detail == "3 answers in a row without anything to carry out"
    assert len(caller.asked) == 3


def test_reminders_count_in_a_row(go):
    idle = says("Hmm.")
    result, *_ = go(idle, idle, bash("echo"), idle, idle, submit())
    assert result.status == "submitted"


def test_an_invalid_submission_is_corrected(go):
    result, caller, *_ = go(submit({"bugs": "none", "sure": 2}), submit())
    assert result.status == "submitted"
    text = caller.seen()[1]
    assert "bugs: Input should be a valid array" in text and "sure: " in text


@pytest.mark.parametrize("style", STYLES)
def test_corrections_are_bounded(go, style):
    result, *_ = go(*[submit({"bugs": 1}, style=style)] * 3, style=style)
    assert (result.status, result.reason) == ("failed", "invalid_submission")
    assert result.detail.startswith("3 submissions that do not fit the schema; the last: bugs: ")


def test_several_commands_run_in_order_up_to_a_bound(go):
    limits = replace(NO_LIMITS, commands_a_turn=2)
    _, caller, sandbox, _ = go(bash("echo 1", "echo 2", "echo 3"), submit(), limits=limits)
    assert sandbox.ran == ["echo 1", "echo 2"]
    results = [str(message["content"]) for message in caller.asked[1].messages[-3:]]
    assert results[0].endswith("1") and results[1].endswith("2")
    assert results[2] == "not carried out: at most 2 commands are run in one turn"


def test_a_submission_beside_commands_waits(go):
    both = calls(("bash", {"command": "echo"}), ("submit", GOOD))
    result, caller, sandbox, _ = go(both, submit({"bugs": [], "sure": 0}))
    assert sandbox.ran == ["echo"]
    assert "submit alone" in caller.seen()[1]
    assert result.answer == Result(bugs=[], sure=0)


def test_of_two_submissions_none_is_taken(go):
    result, caller, *_ = go(calls(("submit", GOOD), ("submit", GOOD)), submit())
    assert "submit once only" in caller.seen()[1]
    assert (result.status, result.turns) == ("submitted", 2)


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (calls(("grep", {})), "no tool 'grep'"),
        (calls(("bash", '{"command": ')), "bad arguments of bash"),
        (calls(("bash", {})), "command: Field required"),
        (calls(("bash", {"command": " "})), "not empty"),
        (calls(("bash", {"command": "a\0b"})), "NUL"),
        (calls(("bash", '{"command": "\\ud800"}')), "bad arguments of bash"),
        (calls(("bash", {"command": "echo", "timeout_s": -1})), "greater than 0"),
        (bash("echo").model_copy(update={"finish_reason": "length"}), "was cut off"),
    ],
)
def test_bad_calls_get_an_error_each_and_run_nothing(go, bad, told):
    result, caller, sandbox, _ = go(bad, submit())
    assert result.status == "submitted" and sandbox.ran == []
    answer, reply = caller.asked[1].messages[-2:]
    assert reply["role"] == "tool" and told in reply["content"]
    assert reply["tool_call_id"] == answer["tool_calls"][0]["id"]
    assert isinstance(json.loads(answer["tool_calls"][0]["function"]["arguments"]), dict)


def test_only_bad_calls_count_as_nothing_to_carry_out(go):
    result, *_ = go(*[calls(("grep", {}))] * 3)
    assert (result.status, result.reason) == ("failed", "no_action")


def test_a_cut_submission_is_never_taken(go):
    cut = submit().model_copy(update={"finish_reason": "length"})
    result, *_ = go(cut, cut, cut)
    assert result.reason == "no_action"


def test_endless_text_is_quoted_in_part(go):
    _, caller, *_ = go(says("blah " * 10_000, "length"), submit())
    said, told = caller.asked[1].messages[-2:]
    assert len(said["content"]) < 2_100 and "cut off" in told["content"]


SMALL = {"context_tokens": 4_096, "max_output_tokens": 1_000}
UNCOUNTED = Usage(calls=1)


def test_old_output_is_dropped_and_said_to_be(go):
    script = [bash(f"big {n}") for n in range(20)]
    wider = {"context_tokens": 6_096, "max_output_tokens": 1_000}
    result, caller, _, lines = go(*script, submit(), entry=wider, usage=UNCOUNTED)
    assert result.status == "submitted"
    dropped = [number for line in lines if line.kind == "drop" for number in line.commands]
    assert dropped == list(range(1, len(dropped) + 1)), "oldest first, each once"
    last = [str(message["content"]) for message in caller.asked[-1].messages]
    assert last[:2] == ["You audit code.", "Look at a.py."]
    assert sum(text.startswith("[output of command 1 dropped: ") for text in last) == 1
    assert all("characters cut here" in text for text in last[-5::2]), "the last three stay"
    assert all(line.tokens <= 5_096 for line in lines if isinstance(line, RequestLine))


def test_a_conversation_that_cannot_be_shortened_ends_at_the_limit_on_context(go):
    chatty = bash("echo").model_copy(update={"content": "thinking aloud " * 120})
    result, caller, _, lines = go(*[chatty] * 30, entry=SMALL, usage=UNCOUNTED)
    assert (result.status, result.reason, result.pass_status) == ("limit", "context", "limit")
    assert result.last_chance == "context"
    assert all(line.tokens <= 3_096 for line in lines if isinstance(line, RequestLine))
    assert any("the length of this conversation" in text for text in caller.seen())


def test_prompts_that_do_not_fit_are_never_sent(go):
    result, caller, *_ = go(entry={"context_tokens": 1_024, "max_output_tokens": 1_000})
    assert (result.status, result.reason, caller.asked) == ("limit", "context", [])


def test_the_providers_own_count_shortens_the_window(go):
    dense = Usage(calls=1, input_tokens=2_000, output_tokens=10)
    firsts = []
    for usage in (UNCOUNTED, dense):
        script = [bash(f"big {n}") for n in range(8)]
        _, _, _, lines = go(*script, submit(), entry=SMALL, usage=usage)
        firsts.append([line.kind for line in lines].index("drop"))
    assert firsts[1] < firsts[0]
