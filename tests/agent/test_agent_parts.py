"""Properties of the parts: what is read from an answer, what is shown, what is dropped."""

import json
from typing import get_args

import pytest
from agent_fakes import STYLES, bash, calls, says, task
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from probe.agent import AgentLimits
from probe.agent.actions import (
    Bad,
    Bash,
    Submit,
    call_ids,
    object_actions,
    screen,
    tool_actions,
)
from probe.agent.tools import action_schema, cut_middle, show_output, tool_specs
from probe.agent.window import LOW_WATER, Talk, plan_drops
from probe.agent.words import last_chance
from probe.code.tokens import count_tokens
from probe.records import Answer, ToolCall, Usage
from probe.records.transcript import LimitName
from probe.sandbox.base import Output

text = st.text(st.characters(exclude_categories=("Cs",)), max_size=60)
command = text.filter(lambda value: value.strip() and "\0" not in value)


@given(command, st.one_of(st.none(), st.integers(1, 999), st.floats(0.01, 999)))
def test_a_command_is_read_as_it_was_meant(value, seconds):
    arguments = {"command": value, "timeout_s": seconds}
    assert tool_actions(calls(("bash", arguments))) == [Bash("id0", value, seconds)]
    said = says(json.dumps({"action": "bash", **arguments}, ensure_ascii=False))
    assert object_actions(said) == [Bash("", value, seconds)]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_a_submission_is_handed_on_unchanged(value):
    (action,) = object_actions(says(json.dumps({"action": "submit", "answer": value})))
    assert isinstance(action, Submit) and json.loads(action.document) == value


@given(st.one_of(text, json_values.map(json.dumps), st.text()))
def test_any_text_is_read_without_an_exception(content):
    actions = object_actions(says(content))
    assert len(actions) <= 1
    raw = ToolCall(id="", name="bash", arguments=content)
    (action,) = tool_actions(Answer(content=None, tool_calls=(raw,), finish_reason="stop"))
    assert isinstance(action, Bash | Bad)


def test_nothing_is_searched_for_in_prose():
    (action,) = object_actions(says('I will run {"action": "bash", "command": "ls"} now.'))
    assert isinstance(action, Bad)
    (action,) = object_actions(says('```json\n{"action": "bash", "command": "ls",}\n```'))
    assert action == Bash("", "ls", None), "a fence and a stray comma are no content"
    (action,) = object_actions(says('{"action": "bash", "command": "ls"'))
    assert isinstance(action, Bad), "what was cut is never completed"


@given(st.lists(st.sampled_from(["", "a", "b", "call-1", "call-2", "a+"]), max_size=8))
def test_ids_are_unique(ids):
    made = tuple(ToolCall(id=one, name="bash", arguments="{}") for one in ids)
    found = call_ids(Answer(content=None, tool_calls=made, finish_reason=None))
    assert len(set(found)) == len(found) == len(ids) and all(found)


action = st.sampled_from([Bash("1", "ls", None), Submit("2", "{}"), Bad("3", "unknown")])


@given(st.lists(action, max_size=12), st.booleans(), st.booleans(), st.integers(1, 5))
def test_what_is_carried_out(actions, cut, final, commands):
    screened = screen(actions, cut=cut, final=final, commands=commands)
    assert [one for one, _ in screened] == actions, "in order, none left out"
    done = [one for one, reason in screened if reason is None]
    if cut:
        assert done == []
    ran, submitted = ([one for one in done if isinstance(one, kind)] for kind in (Bash, Submit))
    assert len(done) == len(ran) + len(submitted) and len(submitted) <= 1
    assert len(ran) <= commands and not (final and ran)
    assert not (ran and submitted), "a submission never stands beside commands that run"
    if not cut and not final:
        assert len(ran) == min(commands, sum(isinstance(one, Bash) for one in actions))


class Inner(BaseModel):
    path: str
    line: int


class Outer(BaseModel):
    found: list[Inner]
    note: str | None = None


def test_actions_fit_the_schema_that_asks_for_them():
    schema = action_schema(Outer, final=False)
    Draft202012Validator.check_schema(schema)
    valid = Draft202012Validator(schema).is_valid
    answer = {"found": [{"path": "a.py", "line": 3}], "note": None}
    assert valid({"action": "bash", "command": "ls", "timeout_s": None})
    assert valid({"action": "submit", "answer": answer})
    assert not valid({"action": "submit", "answer": {"found": [{"path": "a.py"}], "note": None}})
    assert not valid({"action": "bash", "command": 3, "timeout_s": None})
    assert not valid({"action": "rm"})
    last = Draft202012Validator(action_schema(Outer, final=True)).is_valid
    assert last({"action": "submit", "answer": answer})
    assert not last({"action": "bash", "command": "ls", "timeout_s": None})


def test_tools_carry_the_stages_schema():
    both = tool_specs(Outer, final=False)
    assert [tool["function"]["name"] for tool in both] == ["bash", "submit"]
    assert tool_specs(Outer, final=True) == both[1:]
    for tool in both:
        Draft202012Validator.check_schema(tool["function"]["parameters"])
    assert "found" in both[1]["function"]["parameters"]["properties"]


def test_the_last_chance_says_what_is_near_and_how_often_is_read():
    said = {last_chance(name, 2) for name in get_args(LimitName)}
    assert len(said) == len(get_args(LimitName))
    assert "at most one answer of yours" in last_chance("usd", 1)


long_text = st.lists(
    st.text(st.characters(exclude_categories=("Cs",)), max_size=300), max_size=40
).map("\n".join)


@given(long_text, st.integers(8, 400))
def test_cut_text_keeps_head_and_tail_within_its_budget(value, budget):
    shown = cut_middle(value, budget)
    if count_tokens(value) <= budget:
        assert shown == value
        return
    head, note, tail = shown.partition(" lines, ")
    assert note and value.startswith(head.rpartition("\n[")[0])
    assert value.endswith(tail.partition("cut here]\n")[2])
    assert count_tokens(shown) <= budget + 30


def test_what_was_cut_is_counted():
    value = "".join(f"{n}\n" for n in range(10_000))
    shown = cut_middle(value, 100)
    head, _, rest = shown.partition("\n[")
    note, _, tail = rest.partition("]\n")
    lines, characters = (int(part.split()[0]) for part in note.split(", "))
    assert shown.startswith("0\n1\n2") and shown.endswith("9998\n9999\n")
    assert lines == 10_000 - len(head.splitlines()) - len(tail.splitlines())
    assert characters == len(value) - len(head) - len("\n") - len(tail)


def test_one_endless_line_is_cut_too():
    shown = cut_middle("x" * 1_000_000, 200)
    assert len(shown) < 2_000 and "cut here]" in shown


def _output(**given):
    return Output(**{**Output(0, "", "", False, False, 1.0)._asdict(), **given})


def test_output_says_how_the_command_ended():
    assert show_output(3, _output(), 100) == "command 3: exit status 0\nno output"
    assert show_output(1, _output(exit=None, timed_out=True, stdout="a\n"), 100) == (
        "command 1: time ran out, killed\nstdout:\na"
    )
    assert show_output(1, _output(exit=2, stdout="a", stderr="b\n", truncated=True), 100) == (
        "command 1: exit status 2\n[the command printed more than the sandbox keeps: the rest is "
        "lost]\nstdout:\na\nstderr:\nb"
    )


@given(long_text, long_text, st.integers(40, 300))
def test_both_streams_share_one_budget(stdout, stderr, budget):
    shown = show_output(1, _output(stdout=stdout, stderr=stderr), budget)
    assert count_tokens(shown) <= budget + 100
    if stderr.strip():
        assert "stderr:" in shown


def test_the_same_output_gives_the_same_text_whatever_the_time():
    assert show_output(1, _output(wall_s=1.0), 100) == show_output(1, _output(wall_s=9.0), 100)


@given(
    st.lists(st.integers(-5, 500), max_size=30),
    st.integers(0, 6),
    st.integers(0, 3_000),
    st.integers(1, 3_000),
)
def test_the_plan_of_drops(savings, keep, fixed, budget):
    total = fixed + sum(max(0, saving) for saving in savings)
    plan = plan_drops(savings, keep, total, budget)
    assert plan == sorted(set(plan)), "oldest first, each once"
    assert all(place < len(savings) - keep and savings[place] > 0 for place in plan)
    left = total - sum(savings[place] for place in plan)
    droppable = [n for n in range(max(0, len(savings) - keep)) if savings[n] > 0]
    if total <= budget:
        assert plan == []
    elif left > budget * LOW_WATER:
        assert plan == droppable, "all that may be dropped is"
    if plan:
        before = left + savings[plan[-1]]
        assert before > budget * LOW_WATER, "no more than is needed"
        assert plan == droppable[: len(plan)], "none is passed over"


@given(st.lists(st.integers(1, 1_500), min_size=1, max_size=25), st.sampled_from(sorted(STYLES)))
def test_a_fitted_conversation_is_within_the_window_and_in_order(sizes, style):
    talk = Talk(task(style, context_tokens=4_000, max_output_tokens=500), AgentLimits())
    dropped = []
    for number, size in enumerate(sizes, 1):
        talk.hear(bash("ls", style=style))
        talk.reply("id1", f"command {number}:" + " word" * min(size, talk.shown_tokens), number)
        fitted = talk.fit(final=False)
        dropped += fitted.commands
        assert fitted.fits == (talk.tokens <= talk.window - talk.reserve)
    assert dropped == sorted(set(dropped))
    roles = [message["role"] for message in talk.request(final=False).messages]
    reply = "tool" if style == "tools" else "user"
    assert roles == ["system", "user", *["assistant", reply] * len(sizes)]
    contents = [str(message["content"]) for message in talk.messages[3::2]]
    for number, content in enumerate(contents, 1):
        gone = content.startswith(f"[output of command {number} dropped: ")
        assert gone == (number in dropped)
        assert gone or content.startswith(f"command {number}:")
    assert not set(range(len(sizes) - 2, len(sizes) + 1)) & set(dropped), "the last three stay"


def test_dropping_asks_the_same_whenever_it_is_done_again():
    def keys():
        talk = Talk(task(context_tokens=4_000, max_output_tokens=500), AgentLimits())
        for number in range(1, 20):
            talk.hear(bash("ls"))
            talk.reply("id1", "word " * 300, number)
            talk.observe(Usage(input_tokens=900 * number))
            talk.fit(final=False)
            yield talk.request(final=False).key

    assert list(keys()) == list(keys())


def test_a_history_is_one_that_providers_take_back():
    talk = Talk(task(), AgentLimits())
    talk.hear(calls(("functions.bash!", "not json"), ("", "[1]")))
    first, second = talk.messages[-1]["tool_calls"]
    assert first["function"] == {
        "name": "functions_bash_",
        "arguments": '{"unreadable": "not json"}',
    }
    assert second["function"] == {"name": "nameless", "arguments": '{"unreadable": "[1]"}'}
    talk.hear(says(None))
    assert talk.messages[-1] == {"role": "assistant", "content": "(no text)"}


def test_the_estimate_follows_the_provider_within_reason():
    talk = Talk(task(), AgentLimits())
    plain = talk.tokens
    talk.observe(Usage())
    assert talk.tokens == plain, "unknown counts change nothing"
    talk.observe(Usage(input_tokens=plain, cache_read_tokens=plain // 2))
    assert talk.tokens == pytest.approx(1.5 * plain, rel=0.05)
    talk.observe(Usage(input_tokens=10**9))
    assert talk.tokens <= 2 * plain, "an absurd count is not believed"
