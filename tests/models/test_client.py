import threading
from dataclasses import replace

import pytest
from asking import Verdict, client, paid, questions, request, said, stub
from hypothesis import given
from hypothesis import strategies as st
from modelserver import Fault, ModelServer

from probe.config import ModelEntry, Settings, Supports
from probe.errors import ConfigError, ModelError
from probe.models.base import Model, Question, Request
from probe.models.cache import CallStore
from probe.models.client import Client, check_model, get_model
from probe.models.ledger import Ledger


@pytest.fixture(scope="module")
def server():
    with ModelServer() as made:
        yield made


@pytest.fixture(autouse=True)
def fresh(server):
    server.requests.clear()
    server.bought.clear()
    server.peak = 0
    server.latency = 0.0
    server.answer(None)


def test_a_batch_is_answered_in_order_and_only_once(tmp_path, server):
    asked = questions(12)
    server.answer(lambda body: {"is_fix": body["messages"][-1]["content"][-1] in "02468",
                                "confidence": 0.5})  # fmt: skip
    with client(tmp_path) as made:
        first = made.ask(stub(server), asked, Verdict, purpose="test")
        assert server.count() == 12
        second = made.ask(stub(server), asked, Verdict, purpose="test")
    assert server.count() == 12
    assert [reply.id for reply in first] == [question.id for question in asked]
    fixes = [reply.value.is_fix for reply in first]
    assert fixes == [question.messages[0]["content"][-1] in "02468" for question in asked]
    assert not any(reply.cached for reply in first)
    assert all(reply.cached for reply in second)
    assert [(r.value, r.usage, r.calls) for r in second] == [
        (r.value, r.usage, r.calls) for r in first
    ]
    assert {reply.served_model for reply in first} == {"stub-served"}


def test_what_is_sent_is_what_the_entry_says(tmp_path, server):
    model = stub(server, effort="high", temperature=0.5, top_p=0.9, seed=7, max_output_tokens=123)
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    with client(tmp_path) as made:
        made.call(request(model, schema={"type": "object"}))
        made.call(request(model, tools=(tool,)))
    with_schema, with_tools = (received.body for received in server.requests)
    common = {
        "model": "stub",
        "messages": list(said("hello")),
        "reasoning_effort": "high",
        "temperature": 0.5,
        "top_p": 0.9,
        "seed": 7,
        "max_tokens": 123,
    }
    inner = {"name": "answer", "schema": {"type": "object"}, "strict": True}
    assert with_schema == {
        **common,
        "response_format": {"type": "json_schema", "json_schema": inner},
    }
    assert with_tools == {**common, "tools": [tool]}


def test_a_call_is_recorded_whole(tmp_path, server):
    model = paid(server)
    with client(tmp_path, 1.0) as made:
        outcome = made.call(request(model, "hello", purpose="test x"))
    call = outcome.call
    assert CallStore(tmp_path).get(call.key) == call
    assert call.request == request(model, "hello").identity
    counted = call.raw_usage
    usd = (counted["prompt_tokens"] * 1.0 + counted["completion_tokens"] * 2.0) / 1e6
    assert call.usage.usd == pytest.approx(usd)
    assert (call.usage.calls, call.usage.attempts) == (1, 1)
    assert call.usage.working_s == call.latency_s > 0
    assert outcome.attempts == 1
    totals = Ledger(tmp_path, 1.0).totals()
    assert totals.spent == pytest.approx(usd)
    assert (totals.uncertain, totals.open, totals.lost) == (0, 0, 0)


def test_a_hit_keeps_its_first_latency_and_needs_neither_key_nor_price(tmp_path, server):
    with client(tmp_path) as made:
        first = made.call(request(stub(server)))
    unpriced = stub(server, price=None, key_env="NO_SUCH_KEY_ANYWHERE")
    with client(tmp_path) as made:
        again = made.call(request(unpriced))
    assert again.cached
    assert again.call == first.call
    assert (again.attempts, again.waiting_s) == (0, 0.0)
    assert server.count() == 1


def test_samples_never_share_an_answer(tmp_path, server):
    model = stub(server)
    with client(tmp_path) as made:
        for sample in (1, 2, 3):
            made.ask(model, questions(2), Verdict, purpose="test", sample=sample)
        assert server.count() == 6
        for sample in (1, 2, 3):
            replies = made.ask(model, questions(2), Verdict, purpose="test", sample=sample)
            assert all(reply.cached for reply in replies)
    assert server.count() == 6


def test_equal_requests_at_once_share_one_call(tmp_path, server):
    server.latency = 0.3
    model = stub(server)
    outcomes = []
    with client(tmp_path) as made:
        made.call(request(model, "warm"))
        threads = [
            threading.Thread(target=lambda: outcomes.append(made.call(request(model))))
            for _ in range(5)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert server.count() == 2
    assert len({outcome.call.key for outcome in outcomes}) == 1
    assert sum(outcome.attempts for outcome in outcomes) == 1
    assert sum(outcome.cached for outcome in outcomes) == 4


def test_equal_questions_in_a_batch_share_one_call(tmp_path, server):
    asked = [Question(f"q{n}", said()) for n in range(6)]
    with client(tmp_path) as made:
        replies = made.ask(stub(server), asked, Verdict, purpose="test")
    assert server.count() == 1
    assert all(reply.value == replies[0].value for reply in replies)


def test_no_more_in_flight_than_the_entry_says(tmp_path, server):
    server.latency = 0.05
    with client(tmp_path) as made:
        made.ask(stub(server, concurrency=3), questions(15), Verdict, purpose="test")
    assert server.peak == 3


def test_replay_sends_nothing(tmp_path, server):
    with client(tmp_path) as made:
        made.ask(stub(server), questions(2), Verdict, purpose="test")
    with client(tmp_path, replay=True) as made:
        replies = made.ask(stub(server), questions(2), Verdict, purpose="test")
        with pytest.raises(ModelError, match=r"^test: calls.replay is on, and call [0-9a-f]{64} "):
            made.ask(stub(server), questions(3), Verdict, purpose="test")
        with pytest.raises(ModelError, match="is not in the cache"):
            made.call(request(stub(server), "never asked"))
    assert server.count() == 2
    assert all(reply.value and reply.cached for reply in replies)


def test_a_model_without_schemas_gets_it_in_the_prompt(tmp_path, server):
    model = stub(server, supports=Supports(json_schema=False))
    with client(tmp_path) as made:
        (reply,) = made.ask(model, questions(1), Verdict, purpose="test")
    assert isinstance(reply.value, Verdict)
    assert "response_format" not in server.requests[0].body


def test_a_server_of_the_older_form_gets_the_schema_in_it(tmp_path, server):
    model = stub(server, supports=Supports(json_schema="json_object"))
    with client(tmp_path) as made:
        (reply,) = made.ask(model, questions(1), Verdict, purpose="test")
    assert isinstance(reply.value, Verdict)
    form = server.requests[0].body["response_format"]
    assert form["type"] == "json_object"
    assert "is_fix" in form["schema"]["properties"]


def test_an_answer_that_does_not_fit_is_asked_again_and_both_are_kept(tmp_path, server):
    server.fail(Fault.wrong_json)
    with client(tmp_path) as made:
        (reply,) = made.ask(stub(server), questions(1), Verdict, purpose="test")
    assert reply.value is not None
    assert len(reply.calls) == server.count() == 2
    assert all(CallStore(tmp_path).get(key) for key in reply.calls)
    assert reply.usage.calls == 2


def test_a_corrupt_entry_is_asked_again(tmp_path, server):
    with client(tmp_path) as made:
        outcome = made.call(request(stub(server)))
        CallStore(tmp_path).path(outcome.call.key).write_text("{")
        again = made.call(request(stub(server)))
    assert not again.cached
    assert server.count() == 2


def test_two_questions_of_one_id_are_a_fault_of_the_caller(tmp_path, server):
    twice = [Question("q", said("a")), Question("q", said("b"))]
    with client(tmp_path) as made, pytest.raises(ValueError, match="two questions"):
        made.ask(stub(server), twice, Verdict, purpose="test")


def test_a_model_that_cannot_be_asked_is_told_before_anything_is_sent(tmp_path, server):
    with client(tmp_path, 1.0) as made:
        with pytest.raises(ModelError, match="no price"):
            made.ask(stub(server, price=None), questions(2), Verdict, purpose="test")
        with pytest.raises(ModelError, match="NO_SUCH_KEY_ANYWHERE is not set"):
            made.call(request(stub(server, key_env="NO_SUCH_KEY_ANYWHERE")))
    assert server.count() == 0
    assert not (tmp_path / "ledger.jsonl").exists()


def test_a_closed_client_says_so(tmp_path, server):
    made = Client(tmp_path, 0.0)
    made.close()
    made.close()
    with pytest.raises(ModelError, match="closed"):
        made.call(request(stub(server)))


def test_the_settings_make_a_client(tmp_path, server, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = Settings.model_validate(
        {"repositories": ("r",), "runs": ("ruff",), "calls": {"folder": "kept"}}
    )
    with Client.from_settings(settings) as made:
        outcome = made.call(request(stub(server)))
    assert (tmp_path / "kept" / "calls" / outcome.call.key[:2]).is_dir()


def test_get_model_names_the_nearest():
    models = {"luna": ModelEntry(litellm_id="openai/luna", price="free")}
    assert get_model(models, "luna") == Model("luna", models["luna"])
    with pytest.raises(ConfigError, match="no model 'lunna'; did you mean 'luna'"):
        get_model(models, "lunna")


def test_check_model(monkeypatch):
    model = Model("m", ModelEntry(litellm_id="openai/m", price="free", key_env="SOME_TEST_KEY"))
    monkeypatch.delenv("SOME_TEST_KEY", raising=False)
    with pytest.raises(ModelError, match=r"m: no key: .* SOME_TEST_KEY"):
        check_model(model)
    monkeypatch.setenv("SOME_TEST_KEY", "  ")
    with pytest.raises(ModelError):
        check_model(model)
    monkeypatch.setenv("SOME_TEST_KEY", "value")
    check_model(model)


TEXTS = st.text(max_size=20)
ENTRIES = st.builds(
    ModelEntry,
    litellm_id=st.sampled_from(["openai/a", "openai/b"]),
    price=st.just("free"),
    revision=st.none() | st.just("2"),
    effort=st.none() | st.sampled_from(["low", "high"]),
    temperature=st.none() | st.sampled_from([0.0, 1.0]),
    top_p=st.none() | st.sampled_from([0.5, 1.0]),
    seed=st.none() | st.integers(0, 2),
    max_output_tokens=st.sampled_from([100, 200]),
    supports=st.builds(Supports, json_schema=st.booleans(), tools=st.booleans()),
)
REQUESTS = st.builds(
    Request,
    model=st.builds(Model, name=st.just("m"), entry=ENTRIES),
    messages=st.lists(
        st.fixed_dictionaries({"role": st.sampled_from(["user", "system"]), "content": TEXTS}),
        max_size=2,
    ).map(tuple),
    schema=st.none() | st.dictionaries(TEXTS, TEXTS, max_size=2),
    tools=st.lists(st.dictionaries(TEXTS, TEXTS, max_size=1), max_size=1).map(tuple),
    sample=st.integers(1, 3),
)


@given(REQUESTS, REQUESTS)
def test_any_difference_in_a_request_is_another_key(one, other):
    assert (one.key == other.key) == (one.identity == other.identity)


@given(REQUESTS, REQUESTS, st.sampled_from(["model", "messages", "schema", "tools", "sample"]))
def test_every_field_is_part_of_the_key(one, other, name):
    changed = replace(one, **{name: getattr(other, name)})
    assert (changed.key == one.key) == (getattr(one, name) == getattr(other, name))


@given(REQUESTS)
def test_what_cannot_change_an_answer_is_no_part_of_the_key(one):
    entry = one.model.entry.model_copy(
        update={
            "rpm": 3,
            "timeout_s": 1.0,
            "max_attempts": 9,
            "api_base": "http://x",
            "price": None,
        }
    )
    moved = replace(one, model=Model("other", entry), purpose="something else")
    assert moved.key == one.key
