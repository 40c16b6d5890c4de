"""The estimate's arithmetic, against sums by hand and a turn-by-turn simulation."""

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.config import ModelEntry, Price
from probe.errors import ModelError
from probe.models.base import Model
from probe.models.estimate import (
    NOTHING,
    ONCE,
    EstimateRow,
    PlannedCalls,
    Spread,
    estimate,
    observed,
    total,
)

PRICE = Price(input=2, cache_read=0.5, cache_write=4, output=10, as_of=date(2026, 12, 2))
ENTRY = ModelEntry(
    litellm_id="openai/paid", price=PRICE, context_tokens=100_000, max_output_tokens=10_000
)

CLASSIFY = PlannedCalls(
    stage="classify",
    repo="sqlglot",
    run=None,
    model=Model("luna", ENTRY),
    calls=100,
    recorded=20,
    prompt_tokens=1_000_000,
    output=Spread(100, 200, 1000),
)


def one(planned: PlannedCalls) -> EstimateRow:
    [row] = estimate([planned])
    return row


def test_exact_prompts_by_hand():
    row = one(CLASSIFY)
    # prompts: 1,000,000 at 2 a million = 2; answers: 100 calls of 200 at 10 a million = 0.2
    assert row.usd == pytest.approx(2.2)
    assert row.usd_low == pytest.approx(2 + 0.1)
    # high: the prompt is written to the provider's cache, 4 a million; 100 answers of 1,000
    assert row.usd_high == pytest.approx(4 + 1)
    assert (row.calls, row.recorded) == (100, 20)
    assert (row.input_tokens, row.output_tokens) == (1_000_000, 20_000)
    assert row.basis == "exact prompts; assumed answers of 100/200/1000 tokens"


def test_what_is_recorded_costs_nothing():
    row = one(replace(CLASSIFY, calls=0, recorded=120, prompt_tokens=0))
    assert (row.usd_low, row.usd, row.usd_high) == (0, 0, 0)
    assert (row.calls, row.recorded, row.input_tokens, row.output_tokens) == (0, 120, 0, 0)
    assert row.basis == "all recorded"


def test_an_agent_by_hand():
    row = one(
        replace(
            CLASSIFY,
            stage="finding",
            run="luna",
            calls=2,
            prompt_tokens=None,
            prompt=Spread(1000, 1000, 1000),
            turns=Spread(2, 3, 4),
            output=Spread(100, 100, 100),
            added=Spread(400, 400, 400),
        )
    )
    # three turns of 1,000, 1,500 and 2,000 tokens, of which 2,000 are new and 2,500 read again
    assert row.input_tokens == 2 * 4500
    assert row.output_tokens == 2 * 300
    assert row.usd == pytest.approx(2 * (2000 * 2 + 2500 * 0.5 + 300 * 10) / 1e6)
    # two turns of 1,000 and 1,500: 1,500 new, 1,000 read
    assert row.usd_low == pytest.approx(2 * (1500 * 2 + 1000 * 0.5 + 200 * 10) / 1e6)
    # four turns of 1,000 to 2,500, nothing read, all written
    assert row.usd_high == pytest.approx(2 * (7000 * 4 + 400 * 10) / 1e6)
    assert row.calls == 6
    assert row.basis == (
        "assumed prompts of 1000 tokens; assumed 2/3/4 turns; assumed 400 tokens printed a turn; "
        "assumed answers of 100 tokens"
    )


@given(
    first=st.integers(0, 95_000),
    added=st.integers(0, 20_000),
    output=st.integers(0, 12_000),
    turns=st.integers(1, 60),
)
def test_an_agent_turn_by_turn(first, added, output, turns):
    spread = Spread(turns, turns, turns)
    planned = replace(
        CLASSIFY,
        calls=1,
        prompt_tokens=first,
        output=Spread(output, output, output),
        turns=spread,
        added=Spread(added, added, added),
    )
    said = min(output, 10_000)
    grown, window = said + added, max(90_000, first)
    # the last growing turn fills at most the window; from then on each is counted as full
    lengths = [min(window, first + turn * grown) for turn in range(turns)]
    row = one(planned)
    assert row.input_tokens == pytest.approx(sum(lengths), abs=1)
    assert row.output_tokens == said * turns
    assert 0 <= row.usd_low <= row.usd * (1 + 1e-9) <= row.usd_high * (1 + 1e-6) + 1e-9


def test_an_answer_is_never_longer_than_the_limit():
    row = one(replace(CLASSIFY, output=Spread(20_000, 20_000, 20_000)))
    assert row.output_tokens == 100 * 10_000


def test_free_models_cost_nothing_and_unknown_prices_stop():
    free = ModelEntry(litellm_id="openai/local", price="free")
    assert one(replace(CLASSIFY, model=Model("local", free))).usd_high == 0
    unknown = replace(CLASSIFY, model=Model("nova", ModelEntry(litellm_id="openai/nova")))
    with pytest.raises(ModelError, match=r"models\.yaml: nova: no price"):
        estimate([unknown])
    # nothing would be asked, so nothing has to be known
    assert one(replace(unknown, calls=0)).usd == 0


def test_total():
    rows = estimate([CLASSIFY, replace(CLASSIFY, repo="demo")])
    assert total(rows) == pytest.approx((4.2, 4.4, 10.0))
    assert total([]) == (0, 0, 0)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2, 3, 4], None),
        ([5, 1, 2, 4, 3], Spread(1, 3, 5)),
        (range(1, 11), Spread(1, 5.5, 9)),
        # one long answer carries the mean beyond the ninetieth percentile
        ([1] * 10 + [10_000], Spread(1, 10_010 / 11, 10_010 / 11)),
    ],
)
def test_observed(values, expected):
    assert observed(list(values)) == expected


def test_spreads_are_shown_short():
    assert str(Spread(100, 300, 1000)) == "100/300/1000"
    assert str(ONCE) == "1"
    assert str(NOTHING) == "0"
