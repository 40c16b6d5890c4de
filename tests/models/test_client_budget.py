"""Money: what is booked, refused, waited for and kept."""

import asyncio
import threading
import time

import pytest
from asking import Verdict, client, kept, paid, questions, request, said, stub
from modelserver import Reply, Tokens

from probe.errors import BudgetError
from probe.models.ledger import Ledger
from probe.models.prices import bound_usd
from probe.models.purse import Purse, _Others
from probe.models.size import bound_tokens
from probe.models.structured import Dialogue
from probe.models.threads import Threads


def bound(model, question):
    """The most that the first call of a question can cost."""
    first = Dialogue(model, question, Verdict, purpose="", sample=1, repair_turns=0).request
    return bound_usd(model.entry, bound_tokens(first.messages, first.schema))


def test_a_budget_of_nothing_allows_free_models_only(tmp_path, server):
    with client(tmp_path, 0.0) as made:
        assert made.call(request(stub(server))).answer
        with pytest.raises(BudgetError, match=r"budget\.usd"):
            made.call(request(paid(server), "other"))
    assert server.count() == 1


def test_a_call_waits_for_those_in_flight_before_it_is_refused(tmp_path, server):
    """The budget holds two bounds at once, but all ten real costs."""
    server.latency = 0.1
    model = paid(server, concurrency=8)
    asked = questions(10)
    with client(tmp_path, 2.5 * bound(model, asked[0])) as made:
        replies = made.ask(model, asked, Verdict, purpose="test")
    assert all(reply.value is not None for reply in replies)
    assert server.peak == 2


def test_a_refusal_stops_the_batch_and_keeps_what_was_bought(tmp_path, server):
    server.latency = 0.05
    model = paid(server, concurrency=4)
    asked = questions(30)
    one = bound(model, asked[0])
    answer = '{"is_fix": true, "confidence": 0.5}'
    server.answer(lambda _: Reply(content=answer, usage=Tokens(input=0, output=4_096)))
    each = 4_096 * 2.0 / 1e6
    with client(tmp_path, 10 * each + one) as made:
        with pytest.raises(BudgetError, match=r"\((\d+) of 30 items are answered\)") as caught:
            made.ask(model, asked, Verdict, purpose="classify x")
        bought = len(server.bought)
        assert server.count() == bought
        assert f"({bought} of 30 items" in str(caught.value)
        assert "raise budget.usd to" in str(caught.value)
        assert 10 <= bought < 30
        assert len(kept(tmp_path)) == bought
    totals = Ledger(tmp_path, 1.0).totals()
    assert totals.spent == pytest.approx(bought * each)
    assert totals.open == totals.uncertain == totals.lost == 0
    with client(tmp_path, 31 * each + one) as made:
        replies = made.ask(model, asked, Verdict, purpose="classify x")
    assert all(reply.value is not None for reply in replies)
    assert len(server.bought) == 30


def test_free_calls_are_in_the_ledger_too(tmp_path, server):
    with client(tmp_path) as made:
        made.ask(stub(server), questions(3), Verdict, purpose="classify x")
    ledger = Ledger(tmp_path, 0.0)
    assert sum(ledger.counts().values()) == 3
    assert ledger.totals() == (0, 0, 0, 0, 0)


@pytest.fixture
def purse(tmp_path):
    threads = Threads(1, "test")
    yield Purse(Ledger(tmp_path, 1.0), threads)
    threads.close()


def test_all_who_wait_are_refused_when_nobody_can_make_room(purse):
    async def main():
        held = await purse.book("m", 0.9, purpose="x", key="k")
        waiting = [
            asyncio.create_task(purse.book("m", 0.5, purpose="x", key="k")) for _ in range(5)
        ]
        await asyncio.sleep(0.1)
        assert not any(task.done() for task in waiting)
        await purse.settle(held, 0.8, outcome="answered")
        ended = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 10)
        assert all(isinstance(error, BudgetError) for error in ended)

    asyncio.run(main())


def test_those_who_wait_get_in_one_after_the_other(purse, tmp_path):
    async def main():
        async def use():
            booking = await purse.book("m", 0.6, purpose="x", key="k")
            await asyncio.sleep(0.01)
            await purse.settle(booking, 0.01, outcome="answered")

        await asyncio.wait_for(asyncio.gather(*(use() for _ in range(10))), 10)

    asyncio.run(main())
    assert Ledger(tmp_path, 1.0).totals().spent == pytest.approx(0.1)


def test_what_another_process_has_booked_is_waited_for(purse, tmp_path):
    other = Ledger(tmp_path, 1.0)

    async def main():
        held = other.book("m", 0.9, purpose="other")
        waiting = asyncio.create_task(purse.book("m", 0.5, purpose="x", key="k"))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        other.settle(held, 0.1, outcome="answered")
        await asyncio.wait_for(waiting, 10)
        with pytest.raises(BudgetError, match="could cost"):
            await asyncio.wait_for(full.book("m", 1.5, purpose="x", key="k"), 10)

    threads = Threads(1, "test")
    full = Purse(Ledger(tmp_path / "another", 1.0), threads)
    asyncio.run(main())
    threads.close()


def test_a_node_that_died_is_not_waited_for_for_ever():
    others = _Others()
    assert others.may_settle(0.9, 0.0)
    assert others.may_settle(0.9, 899.0)
    assert not others.may_settle(0.9, 901.0)
    assert others.may_settle(0.5, 902.0)
    assert not others.may_settle(0.0, 903.0)


def test_a_cancelled_booking_leaves_nothing_behind(purse, tmp_path):
    async def main():
        tasks = [asyncio.create_task(purse.book("m", 0.1, purpose="x", key="k")) for _ in range(5)]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(main())
    assert Ledger(tmp_path, 1.0).totals() == (0, 0, 0, 0, 0)


def test_closing_books_what_was_in_flight_at_its_bound(tmp_path, server):
    server.latency = 30
    model = paid(server, timeout_s=60)
    errors = []

    def wait():
        try:
            made.call(request(model))
        except BaseException as error:
            errors.append(error)

    with client(tmp_path, 1.0) as made:
        waiting = threading.Thread(target=wait)
        waiting.start()
        while not server.in_flight:
            time.sleep(0.01)
    waiting.join()
    assert len(errors) == 1
    totals = Ledger(tmp_path, 1.0).totals()
    assert totals.uncertain == pytest.approx(bound_usd(model.entry, bound_tokens(said("hello"))))
    assert totals.open == totals.spent == 0
