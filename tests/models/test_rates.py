import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.config import ModelEntry
from probe.models.rates import Pace, Rates
from probe.models.threads import Threads
from probe.records import read_json


@pytest.fixture
def threads():
    threads = Threads(2, "test")
    yield threads
    threads.close()


def entry(**limits):
    return ModelEntry(litellm_id="openai/m", price="free", **limits)


async def fits(rates, tokens=1):
    """Whether a call is let through at once."""
    try:
        async with asyncio.timeout(0.3):
            return await rates.acquire(tokens)
    except TimeoutError:
        return None


def test_without_limits_no_file_is_touched(tmp_path, threads):
    rates = Rates(tmp_path, "m", entry(), threads)
    assert asyncio.run(rates.acquire(10**9)) is None
    assert list(tmp_path.iterdir()) == []


def test_requests_a_minute(tmp_path, threads):
    async def main():
        rates = Rates(tmp_path, "m", entry(rpm=3), threads)
        assert [bool(await fits(rates)) for _ in range(4)] == [True, True, True, False]

    asyncio.run(main())


def test_two_processes_share_the_limit(tmp_path, threads, run_python):
    code = f"""
import asyncio
from pathlib import Path
from probe.config import ModelEntry
from probe.models.rates import Rates
from probe.models.threads import Threads
entry = ModelEntry(litellm_id="openai/m", price="free", rpm=5)
threads = Threads(1, "x")
async def main():
    rates = Rates(Path({str(tmp_path)!r}), "m", entry, threads)
    for _ in range(3):
        await rates.acquire(1)
asyncio.run(main())
threads.close()
"""
    ended = run_python(code)
    assert ended.returncode == 0, ended.stderr

    async def main():
        rates = Rates(tmp_path, "m", entry(rpm=5), threads)
        assert [bool(await fits(rates)) for _ in range(3)] == [True, True, False]

    asyncio.run(main())


def test_tokens_that_were_not_used_come_back(tmp_path, threads):
    async def main():
        rates = Rates(tmp_path, "m", entry(tpm=1_000), threads)
        grant = await fits(rates, 900)
        assert await fits(rates, 200) is None
        await rates.give_back(grant, 300)
        assert await fits(rates, 200)
        assert await fits(rates, 600) is None
        granted = read_json(tmp_path / "pace" / "m.json", Pace).granted
        assert sum(tokens for _, tokens in granted.values()) == 500

    asyncio.run(main())


def test_a_call_larger_than_the_limit_goes_alone(tmp_path, threads):
    async def main():
        rates = Rates(tmp_path, "m", entry(tpm=100), threads)
        assert await fits(rates, 500)
        assert await fits(rates, 1) is None

    asyncio.run(main())


def test_a_broken_file_is_begun_anew(tmp_path, threads):
    (tmp_path / "pace").mkdir()
    (tmp_path / "pace" / "m.json").write_text("{")
    assert asyncio.run(fits(Rates(tmp_path, "m", entry(rpm=1), threads)))


@given(
    st.integers(1, 5),
    st.lists(st.floats(0, 30, allow_nan=False), min_size=1, max_size=60),
)
def test_no_minute_has_more_than_the_limit(rpm, gaps):
    pace, now, sent = Pace(), 1_000.0, []
    for gap in gaps:
        now += gap
        pace = pace.at(now)
        while not pace.fits(1, rpm, None):
            now += max(0.02, pace.wait_s(now))
            pace = pace.at(now)
        pace = pace.plus(int(now), 1, 1)
        sent.append(now)
    for place in range(len(sent) - rpm):
        assert sent[place + rpm] - sent[place] >= 60
