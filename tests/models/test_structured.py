import json

import pytest
from asking import RIGHT, Verdict, said
from call_samples import sample_call

from probe.config import ModelEntry
from probe.models.base import Model, Outcome, Question
from probe.models.structured import SCHEMA_LINE, Dialogue, judge, repair_messages, with_schema
from probe.records import Answer, Failure, ToolCall

TOOL = (ToolCall(id="1", name="bash", arguments="{}"),)


def answer(content=None, finish="stop", **fields):
    return Answer(content=content, finish_reason=finish, **fields)


def dialogue(turns=2, **supports):
    entry = ModelEntry(litellm_id="openai/m", price="free", supports=supports)
    return Dialogue(
        Model("m", entry),
        Question("q", said()),
        Verdict,
        purpose="test",
        sample=1,
        repair_turns=turns,
    )


def take(asked, got, cached=False):
    update = {"answer": got, "key": asked.request.key, "request": asked.request.identity}
    call = sample_call().model_copy(update=update)
    asked.take(Outcome(call, cached=cached))


@pytest.mark.parametrize(
    ("got", "kind"),
    [
        (answer(), "empty"),
        (answer("  \n"), "empty"),
        (answer(None, reasoning="hm"), "reasoning_only"),
        (answer(None, "tool_calls", tool_calls=TOOL), "tool_call"),
        (answer("Let me look.", "tool_calls", tool_calls=TOOL), "tool_call"),
        (answer('{"is_fix": tr', "length"), "truncated"),
        (answer(json.dumps(RIGHT), "length"), "truncated"),
        (answer(None, refusal="I can't"), "refusal"),
        (answer("", "content_filter"), "refusal"),
        (answer("It is a fix."), "invalid"),
        (answer('{"is_fix": true}'), "invalid"),
        (answer('{"is_fix": true, "confidence": 7}'), "invalid"),
        (answer('{"is_fix": true, "confidence": 1, "is_fix": false}'), "invalid"),
        (answer(f"Sure: {json.dumps(RIGHT)}"), "invalid"),
        (answer("[" * 100_000), "invalid"),
    ],
)
def test_an_answer_that_is_none_has_a_name(got, kind):
    value, problem = judge(got, Verdict)
    assert value is None
    assert problem.kind == kind
    assert "\n" not in problem.detail


@pytest.mark.parametrize("text", [json.dumps(RIGHT), f"```json\n{json.dumps(RIGHT)}\n```"])
def test_an_answer_that_fits(text):
    value, problem = judge(answer(text), Verdict)
    assert (value, problem) == (Verdict(**RIGHT), None)


def test_it_is_asked_again_with_the_conversation_so_far():
    asked = dialogue()
    first = asked.request
    take(asked, answer('{"is_fix": true}'))
    second = asked.request
    assert second.messages[:1] == first.messages
    assert second.messages[1] == {"role": "assistant", "content": '{"is_fix": true}'}
    assert "confidence: Field required" in second.messages[2]["content"]
    take(asked, answer(json.dumps(RIGHT)), cached=True)
    reply = asked.finished
    assert reply.value == Verdict(**RIGHT)
    assert reply.calls == (first.key, second.key)
    assert not reply.cached
    assert reply.usage.calls == 2


def test_the_same_answers_lead_to_the_same_requests():
    keys = []
    for _ in range(2):
        asked = dialogue()
        take(asked, answer(None, reasoning="hm"))
        take(asked, answer("no"))
        keys.append(asked.request.key)
    assert keys[0] == keys[1]


def test_turns_are_bounded_and_the_last_problem_counts():
    asked = dialogue(turns=2)
    for got in (answer("no"), answer(None), answer('{"is_fix"', "length")):
        assert asked.reply is None
        take(asked, got)
    assert asked.finished.failure.kind == "truncated"
    assert len(asked.finished.calls) == 3


def test_a_refusal_is_not_asked_again():
    asked = dialogue()
    take(asked, answer(None, refusal="I can't"))
    assert asked.finished.failure == Failure(kind="refusal", detail="I can't")


def test_a_failure_of_transport_in_a_repair_turn_ends_it():
    asked = dialogue()
    take(asked, answer("no"))
    failed = Failure(kind="timeout", detail="none")
    asked.take(Outcome(None, failed, attempts=3, waiting_s=2.0))
    reply = asked.finished
    assert reply.failure == failed
    assert len(reply.calls) == 1
    assert not reply.cached
    assert reply.usage.calls == 1


def test_a_huge_cut_answer_is_not_sent_back_whole():
    cut = answer("x" * 50_000, "length")
    shown, again = repair_messages(cut, judge(cut, Verdict)[1])
    assert len(shown["content"]) < 3_000
    assert "shorter" in again["content"]


def test_the_schema_goes_to_the_provider_or_into_the_prompt():
    native = dialogue().request
    assert native.schema["required"] == ["is_fix", "confidence"]
    assert native.messages == said()
    written = dialogue(json_schema=False).request
    assert written.schema is None
    text = written.messages[-1]["content"]
    assert text.startswith(said()[0]["content"])
    _, _, schema = text.partition(f"\n{SCHEMA_LINE}\n")
    assert json.loads(schema) == native.schema


def test_the_schema_joins_the_last_message_of_the_user():
    parts = [{"type": "text", "text": "a"}]
    chat = [
        {"role": "user", "content": parts},
        {"role": "assistant", "content": "b"},
    ]
    added = with_schema(chat, {"type": "object"})
    assert [message["role"] for message in added] == ["user", "assistant"]
    assert added[0]["content"][0] == parts[0]
    assert added[0]["content"][1]["text"].endswith('JSON schema:\n{"type": "object"}')
    assert chat[0]["content"] == parts
    assert len(with_schema([], {})) == 1
