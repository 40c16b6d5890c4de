import asyncio
from contextlib import AsyncExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.models.pacing import Slots


async def settled():
    """Let all other tasks run until they wait."""
    for _ in range(5):
        await asyncio.sleep(0)


def test_no_more_than_the_ceiling_in_the_order_of_asking():
    async def main():
        slots, order, most = Slots("m", 2), [], 0

        async def call(number):
            nonlocal most
            async with slots.slot():
                order.append(number)
                most = max(most, slots.in_use)
                await asyncio.sleep(0)

        await asyncio.gather(*(call(number) for number in range(9)))
        assert order == list(range(9))
        assert most == 2
        assert slots.in_use == slots.waiting == 0

    asyncio.run(main())


def test_halved_once_a_burst_and_back_to_the_ceiling_with_answers():
    async def main():
        slots = Slots("m", 8)
        now = asyncio.get_running_loop().time()
        for _ in range(8):
            slots.back_off(now)
        assert slots.limit == 4
        slots.back_off(asyncio.get_running_loop().time())
        assert slots.limit == 2
        slots.succeeded()
        slots.succeeded()
        assert slots.limit == pytest.approx(2.9)
        for _ in range(60):
            slots.succeeded()
        assert slots.limit == 8

    asyncio.run(main())


@given(st.integers(1, 40), st.lists(st.booleans(), max_size=200))
def test_the_limit_stays_between_one_and_the_ceiling(ceiling, answers):
    async def main():
        slots = Slots("m", ceiling)
        for answered in answers:
            if answered:
                slots.succeeded()
            else:
                slots.back_off(asyncio.get_running_loop().time())
            assert 1 <= slots.limit <= ceiling

    asyncio.run(main())


def test_a_new_ceiling_admits_those_who_wait_and_ends_a_back_off():
    async def main():
        slots = Slots("m", 1)
        async with AsyncExitStack() as held:
            await held.enter_async_context(slots.slot())
            waiting = [asyncio.create_task(held.enter_async_context(slots.slot())) for _ in "123"]
            await settled()
            assert (slots.in_use, slots.waiting) == (1, 3)
            slots.set_ceiling(3)
            await settled()
            assert (slots.in_use, slots.waiting) == (3, 1)
            slots.back_off(asyncio.get_running_loop().time())
            slots.set_ceiling(4)
            await settled()
            assert (slots.in_use, slots.waiting) == (4, 0)
            await asyncio.gather(*waiting)
        assert slots.in_use == 0

    asyncio.run(main())


def test_a_lowered_ceiling_stops_nobody_who_is_on_the_way():
    async def main():
        slots = Slots("m", 4)
        async with AsyncExitStack() as held:
            for _ in range(4):
                await held.enter_async_context(slots.slot())
            slots.set_ceiling(2)
            late = asyncio.create_task(held.enter_async_context(slots.slot()))
            await settled()
            assert (slots.in_use, slots.waiting) == (4, 1)
            late.cancel()
        assert slots.in_use == 0

    asyncio.run(main())


def test_a_cancelled_wait_gives_its_place_to_the_next():
    async def main():
        slots = Slots("m", 1)
        got = []

        async def call(number):
            async with slots.slot():
                got.append(number)

        async with slots.slot():
            first, second = (asyncio.create_task(call(number)) for number in (1, 2))
            await settled()
            first.cancel()
        await second
        with pytest.raises(asyncio.CancelledError):
            await first
        assert got == [2]
        assert slots.in_use == 0

    asyncio.run(main())


def test_a_place_that_was_just_given_to_a_cancelled_call_comes_back():
    async def main():
        slots = Slots("m", 1)

        async def call():
            async with slots.slot():
                await asyncio.sleep(1)

        async with slots.slot():
            late = asyncio.create_task(call())
            await settled()
        late.cancel()  # its place was given above, and it has not run since
        await asyncio.gather(late, return_exceptions=True)
        assert slots.in_use == 0
        async with asyncio.timeout(1), slots.slot():
            assert slots.in_use == 1

    asyncio.run(main())


def test_a_pause_holds_everybody_for_its_time():
    async def main():
        slots = Slots("m", 5)
        loop = asyncio.get_running_loop()
        began = loop.time()
        slots.pause(0.2)
        slots.pause(0.1)
        async with slots.slot():
            assert loop.time() - began >= 0.2

    asyncio.run(main())
