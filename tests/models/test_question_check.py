"""A question's own check of answers that fit the schema: told to the model, and never lost."""

import json

import pytest
from asking import RIGHT, Verdict, client, said, stub
from call_samples import sample_call
from modelserver import Fault, Reply

from probe.config import ModelEntry
from probe.errors import GitError
from probe.models.base import Model, Outcome, Question
from probe.models.structured import Dialogue
from probe.records import Answer

UNSURE = {"is_fix": True, "confidence": 0.1}


def sure(verdict: Verdict) -> str | None:
    return None if verdict.confidence >= 0.5 else f"confidence {verdict.confidence} is too low"


def dialogue(turns: int = 2) -> Dialogue[Verdict]:
    model = Model("m", ModelEntry(litellm_id="openai/m", price="free"))
    question = Question("q", said(), sure)
    return Dialogue(model, question, Verdict, purpose="test", sample=1, repair_turns=turns)


def take(asked: Dialogue[Verdict], content: str | None, finish: str = "stop", **fields) -> None:
    got = Answer(content=content, finish_reason=finish, **fields)
    update = {"answer": got, "key": asked.request.key, "request": asked.request.identity}
    asked.take(Outcome(sample_call().model_copy(update=update)))


def test_what_the_check_finds_is_told_and_asked_again():
    asked = dialogue()
    take(asked, json.dumps(UNSURE))
    assert asked.reply is None
    shown, again = asked.request.messages[-2:]
    assert shown == {"role": "assistant", "content": json.dumps(UNSURE)}
    assert "The answer does not fit: confidence 0.1 is too low." in again["content"]
    take(asked, json.dumps(RIGHT))
    reply = asked.finished
    assert (reply.value, reply.failure, reply.rejected) == (Verdict(**RIGHT), None, None)
    assert len(reply.calls) == 2


def test_after_the_last_turn_the_answer_is_rejected_and_kept():
    asked = dialogue(turns=1)
    take(asked, json.dumps(UNSURE))
    take(asked, json.dumps({**UNSURE, "confidence": 0.2}))
    reply = asked.finished
    assert reply.value is None
    assert (reply.failure.kind, reply.failure.detail) == ("invalid", "confidence 0.2 is too low")
    assert reply.rejected == Verdict(is_fix=True, confidence=0.2)
    assert len(reply.calls) == 2


def test_the_last_rejected_answer_stays_whatever_follows_it():
    asked = dialogue()
    take(asked, json.dumps(UNSURE))
    take(asked, "no JSON")
    take(asked, None, refusal="I can't")
    reply = asked.finished
    assert reply.failure.kind == "refusal"
    assert reply.rejected == Verdict(**UNSURE)


def test_the_schema_comes_first_and_the_check_sees_records_only():
    asked = dialogue(turns=0)
    take(asked, '{"is_fix": true}')
    reply = asked.finished
    assert "Field required" in reply.failure.detail
    assert reply.rejected is None


def test_a_check_is_no_part_of_the_request():
    plain = Dialogue(
        Model("m", ModelEntry(litellm_id="openai/m", price="free")),
        Question[Verdict]("q", said()),
        Verdict,
        purpose="test",
        sample=1,
        repair_turns=2,
    )
    assert plain.request.key == dialogue().request.key


def test_checked_answers_are_replayed_from_the_cache(server, tmp_path):
    def answer(body):
        again = any(message["role"] == "assistant" for message in body["messages"])
        return RIGHT if again else UNSURE

    server.answer(answer)
    asked = [Question(f"q{n}", said(f"is it {n}?"), sure) for n in range(3)]
    with client(tmp_path) as opened:
        first = opened.ask(stub(server), asked, Verdict, purpose="test")
    assert server.count() == 6
    with client(tmp_path, replay=True) as opened:
        again = opened.ask(stub(server), asked, Verdict, purpose="test")
    assert server.count() == 6
    assert [(r.value, r.calls) for r in again] == [(r.value, r.calls) for r in first]
    assert all(reply.cached for reply in again)


def test_a_rejected_answer_comes_back_from_the_server_too(server, tmp_path):
    server.answer(lambda body: UNSURE)
    with client(tmp_path, repair_turns=1) as opened:
        [reply] = opened.ask(stub(server), [Question("q", said(), sure)], Verdict, purpose="test")
    assert reply.rejected == Verdict(**UNSURE)
    assert reply.failure.kind == "invalid"
    assert server.count() == 2


def test_a_failed_call_after_a_rejected_answer_says_so(server, tmp_path):
    def answer(body):
        server.fail(Fault.status(400))
        return Reply(content=json.dumps(UNSURE))

    server.answer(answer)
    with client(tmp_path) as opened:
        [reply] = opened.ask(stub(server), [Question("q", said(), sure)], Verdict, purpose="test")
    assert reply.failure.kind == "bad_request"
    assert reply.rejected == Verdict(**UNSURE)


def test_a_check_that_cannot_be_made_stops_the_batch(server, tmp_path):
    def broken(verdict: Verdict) -> str | None:
        raise GitError("the mirror is gone")

    server.answer(lambda body: RIGHT)
    with client(tmp_path) as opened, pytest.raises(GitError, match="the mirror is gone"):
        opened.ask(stub(server), [Question("q", said(), broken)], Verdict, purpose="test")
