"""Everything that can go wrong on the wire, against a real server."""

import logging
import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from asking import Verdict, client, kept, paid, questions, request, stub
from modelserver import Fault, Reply

from probe.config import ModelEntry
from probe.models.base import Model
from probe.models.ledger import Ledger


def totals(folder):
    return Ledger(folder, 0.0).totals()


PASSING = [
    (Fault.status(500), "server_error", True),
    (Fault.status(503, retry_after=0), "server_error", True),
    (Fault.status(429, retry_after=0), "rate_limited", True),
    (Fault.drop(), "connection", False),
    (Fault.half_answer(), "connection", False),
    (Fault.not_protocol(), "malformed", False),
]


@pytest.mark.parametrize(("fault", "kind", "free"), PASSING)
def test_what_can_pass_is_tried_again_up_to_the_attempts(tmp_path, server, fault, kind, free):
    model = paid(server)
    server.fail(fault)
    with client(tmp_path, 1.0) as made:
        good = made.call(request(model, "a"))
        assert good.answer.content
        assert good.attempts == good.call.usage.attempts == 2
        server.fail(fault, fault)
        bad = made.call(request(model, "b"))
    assert bad.failure.kind == kind
    assert "(after 2 attempts)" in bad.failure.detail
    assert server.count() == 4
    assert kept(tmp_path) == [good.call.key]
    assert (totals(tmp_path).uncertain == 0) == free
    assert totals(tmp_path).open == totals(tmp_path).lost == 0


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault.status(400), "bad_request"),
        (Fault.status(401), "auth"),
        (Fault.status(403), "auth"),
        (Fault.status(404), "bad_request"),
        (
            Fault.status(400, message="This model's maximum context length is 8192 tokens."),
            "context_length",
        ),
        (Fault.status(429, message="insufficient_quota"), "auth"),
        (Fault.status(429, retry_after=3_600), "rate_limited"),
    ],
)
def test_what_cannot_pass_is_not_tried_again(tmp_path, server, fault, kind):
    server.fail(fault)
    with client(tmp_path, 1.0) as made:
        outcome = made.call(request(paid(server)))
    assert outcome.failure.kind == kind
    assert outcome.attempts == server.count() == 1
    assert totals(tmp_path) == (0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault.empty, "empty"),
        (Fault.length, "truncated"),
        (Fault.tool_call, "tool_call"),
        (Fault.reasoning_only, "reasoning_only"),
        (Fault.wrong_json, "invalid"),
        (Fault.not_json_content, "invalid"),
        (Fault.cut_json, "invalid"),
    ],
)
def test_a_useless_answer_is_kept_and_asked_again(tmp_path, server, fault, kind):
    server.fail(fault, fault, fault, fault)
    with client(tmp_path, repair_turns=2) as made:
        (bad,) = made.ask(stub(server), questions(1), Verdict, purpose="test")
        assert bad.failure.kind == kind
        assert len(bad.calls) == server.count() == 3
        (mended,) = made.ask(stub(server), questions(1, "other"), Verdict, purpose="test")
        assert mended.value is not None
        assert len(mended.calls) == 2
        (again,) = made.ask(stub(server), questions(1), Verdict, purpose="test")
    assert (again.failure, again.cached) == (bad.failure, True)
    assert server.count() == 5
    assert len(kept(tmp_path)) == 5


@pytest.mark.parametrize("fault", [Fault.refusal, Fault.content_filter])
def test_a_refusal_is_kept_and_not_asked_again(tmp_path, server, fault):
    server.fail(fault)
    with client(tmp_path) as made:
        (reply,) = made.ask(stub(server), questions(1), Verdict, purpose="test")
    assert reply.failure.kind == "refusal"
    assert len(reply.calls) == server.count() == 1


def test_one_failed_item_leaves_the_others(tmp_path, server):
    server.answer(lambda body: "no JSON" if "fix? 3" in body["messages"][0]["content"] else None)
    with client(tmp_path, repair_turns=0) as made:
        replies = made.ask(stub(server), questions(6), Verdict, purpose="test")
    assert [reply.failure is None for reply in replies] == [n != 3 for n in range(6)]


@pytest.mark.parametrize("fault", [Fault.hang(), Fault.latency(5.0), Fault.slow_stream(0.2)])
def test_the_deadline_bounds_each_attempt(tmp_path, server, fault):
    server.fail(fault, fault)
    with client(tmp_path, 1.0) as made:
        outcome = made.call(request(paid(server, timeout_s=0.5)))
    assert outcome.failure.kind == "timeout"
    assert outcome.attempts == 2
    assert outcome.waiting_s < 5
    assert totals(tmp_path).uncertain > 0
    assert totals(tmp_path).spent == totals(tmp_path).open == 0


def test_waiting_is_no_working_time(tmp_path, server):
    server.fail(Fault.status(429, retry_after=1))
    with client(tmp_path) as made:
        outcome = made.call(request(stub(server)))
    usage = outcome.call.usage
    assert usage.waiting_s >= 1
    assert outcome.waiting_s >= 1
    assert usage.working_s == outcome.call.latency_s
    sent = [received.time for received in server.requests]
    assert sent[1] - sent[0] >= 1


def test_a_date_to_wait_for_is_obeyed(tmp_path, server):
    until = datetime.now(UTC) + timedelta(seconds=2)
    server.fail(Fault.status(429, retry_after=format_datetime(until, usegmt=True)))
    with client(tmp_path) as made:
        outcome = made.call(request(stub(server)))
    assert outcome.answer
    assert server.requests[1].time >= until.replace(microsecond=0).timestamp()


def test_a_rate_limit_without_a_time_backs_off(tmp_path, server):
    server.fail(Fault.status(429))
    with client(tmp_path) as made:
        outcome = made.call(request(stub(server)))
    assert outcome.attempts == 2
    assert server.requests[1].time - server.requests[0].time >= 2


def test_a_limit_of_the_server_is_found_and_nothing_is_lost(tmp_path, server):
    server.rpm_limit, server.rpm_window_s = 4, 1.0
    with client(tmp_path) as made:
        replies = made.ask(
            stub(server, concurrency=8, max_attempts=8), questions(12), Verdict, purpose="test"
        )
    assert all(reply.value is not None for reply in replies)
    assert len(server.bought) == 12


def test_a_server_that_is_not_there(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        base = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        entry = ModelEntry(
            litellm_id="openai/m", api_base=base, max_attempts=2,
            price={"input": 1.0, "output": 1.0, "as_of": "2026-12-01"},
        )  # fmt: skip
        with client(tmp_path, 1.0) as made:
            outcome = made.call(request(Model("m", entry)))
    assert outcome.failure.kind == "connection"
    assert outcome.attempts == 2
    assert "refused" in outcome.failure.detail or "Connect call failed" in outcome.failure.detail
    assert totals(tmp_path) == (0, 0, 0, 0, 0)


def test_an_answer_without_token_counts_is_booked_at_its_bound(tmp_path, server, caplog):
    server.answer(lambda _: Reply(content="hi", usage={}))
    with client(tmp_path, 1.0) as made:
        outcome = made.call(request(paid(server)))
    assert outcome.call.usage.usd is None
    assert totals(tmp_path).uncertain > 0
    assert "no token counts" in caplog.text


def test_a_bill_that_differs_is_told(tmp_path, server, caplog):
    usage = {"prompt_tokens": 1_000, "completion_tokens": 1_000, "cost": 0.5}
    server.answer(lambda _: Reply(content="hi", usage=usage))
    with client(tmp_path, 1.0) as made:
        outcome = made.call(request(paid(server)))
    assert outcome.call.provider_usd == 0.5
    assert outcome.call.usage.usd == pytest.approx(0.003)
    assert "billed 0.500000 USD" in caplog.text


def test_keys_are_written_nowhere(tmp_path, server, caplog, capfd, monkeypatch):
    key = "sk-never-to-be-written-0123456789"
    monkeypatch.setenv("PROBE_TEST_ACCESS", key)
    server.api_key = key
    caplog.set_level(logging.DEBUG)
    model = stub(server, key_env="PROBE_TEST_ACCESS")
    with client(tmp_path) as made:
        assert made.call(request(model, "a")).answer
        server.fail(Fault.status(401, message=f"Incorrect API key provided: {key}."))
        refused = made.call(request(model, "b"))
        server.fail(Fault.status(500, message=f"{key}"), Fault.drop())
        failed = made.call(request(model, "c"))
    assert server.requests[0].headers["Authorization"] == f"Bearer {key}"
    assert "[key]" in refused.failure.detail
    said = capfd.readouterr()
    texts = [caplog.text, said.out, said.err, refused.failure.detail, failed.failure.detail]
    texts += [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(key in text for text in texts)
