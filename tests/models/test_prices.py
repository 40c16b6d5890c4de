"""What calls cost: token counts of every provider's form, against arithmetic by hand."""

import json
import math
from datetime import date
from pathlib import Path

import pytest
from call_samples import sample_call
from hypothesis import given
from hypothesis import strategies as st

from probe.config import ModelEntry, Price
from probe.errors import ModelError
from probe.models.prices import (
    billed_usd,
    bound_usd,
    check_price,
    cost_usd,
    price_gap,
    usage_from_provider,
)
from probe.records import Usage

GOLDEN = Path(__file__).parent / "golden_usage"

PRICE = Price(input=2, cache_read=0.5, cache_write=4, output=10, as_of=date(2026, 12, 2))
PAID = ModelEntry(litellm_id="openai/paid", price=PRICE, max_output_tokens=1000)
FREE = ModelEntry(litellm_id="openai/free", price="free")
UNPRICED = ModelEntry(litellm_id="openai/unknown")

# file: new, cache read, cache write, output, of it reasoning; US dollars at 2, 0.5, 4 and 10 a million
BY_HAND = {
    # 12,000 - 9,000 - 1,000 = 2,000 new: 0.004 + 0.0045 + 0.004 + 0.009
    "openai_chat": ((2000, 9000, 1000, 900, 700), 0.0215),
    # 5,000 - 4,096 = 904 new: 0.001808 + 0.002048 + 0.003
    "openai_responses": ((904, 4096, None, 300, 256), 0.006856),
    # input_tokens is new only: 0.00008 + 0.009 + 0.008 + 0.006
    "anthropic_messages": ((40, 18000, 2000, 600, 450), 0.02308),
    # 0.003 + 0.0025
    "anthropic_plain": ((1500, None, None, 250, None), 0.0055),
    # both turns: 9,100 new, 1,000 read, 850 output: 0.0182 + 0.0005 + 0.0085
    "anthropic_iterations": ((9100, 1000, 0, 850, None), 0.0272),
    # 10,000 - 6,000 = 4,000 new; 200 + 1,800 output: 0.008 + 0.003 + 0.02
    "gemini": ((4000, 6000, None, 2000, 1800), 0.031),
    # total 12,000 = 10,000 + 2,000: the thoughts are inside: 0.02 + 0.02
    "gemini_thoughts_inside": ((10000, None, None, 2000, 1800), 0.04),
    # thoughts only: 0.0014 + 0.01024
    "gemini_cut_while_thinking": ((700, None, None, 1024, 1024), 0.01164),
    # hits are part of the prompt: 232 new: 0.000464 + 0.000384 + 0.004
    "deepseek": ((232, 768, None, 400, 350), 0.004848),
    # 0.004 + 0.001
    "openrouter": ((2000, 0, None, 100, 0), 0.005),
    # total 135 = 32 + 9 + 94: reasoning is apart: 26 new, 103 output: 0.000052 + 0.000003 + 0.00103
    "xai": ((26, 6, None, 103, 94), 0.001085),
    # 0.00042 + 0.00048
    "llama_cpp": ((210, None, None, 48, None), 0.0009),
}


def counts(usage: Usage) -> tuple[int | None, ...]:
    return (
        usage.input_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.output_tokens,
        usage.reasoning_tokens,
    )


def golden(name):
    return json.loads((GOLDEN / f"{name}.json").read_text())


def test_every_golden_record_has_its_arithmetic():
    assert {file.stem for file in GOLDEN.glob("*.json")} == set(BY_HAND)


@pytest.mark.parametrize("name", BY_HAND)
def test_golden_usage(name):
    expected, usd = BY_HAND[name]
    usage = usage_from_provider(golden(name))
    assert counts(usage) == expected
    assert cost_usd(PAID, usage) == pytest.approx(usd, rel=1e-12)
    assert cost_usd(FREE, usage) == 0
    assert usage.usd is usage.calls is None


@pytest.mark.parametrize("name", ["anthropic_messages", "anthropic_plain", "anthropic_iterations"])
def test_anthropic_through_litellm_comes_to_the_same(name):
    """The installed litellm adds cache tokens to the prompt: they must not be counted twice."""
    from litellm.llms.anthropic.chat.transformation import AnthropicConfig

    normalised = AnthropicConfig().calculate_usage(golden(name), reasoning_content=None)
    usage = usage_from_provider(normalised.model_dump())
    plain = [count or 0 for count in BY_HAND[name][0][:4]]
    assert [count or 0 for count in counts(usage)[:4]] == plain
    assert cost_usd(PAID, usage) == pytest.approx(BY_HAND[name][1], rel=1e-12)


@pytest.mark.parametrize("name", ["gemini", "gemini_thoughts_inside", "gemini_cut_while_thinking"])
def test_gemini_through_litellm_comes_to_the_same(name):
    from litellm.llms.vertex_ai.gemini.vertex_and_google_ai_studio_gemini import VertexGeminiConfig

    normalised = VertexGeminiConfig.calculate_usage({"usageMetadata": golden(name)})
    usage = usage_from_provider(normalised.model_dump())
    assert cost_usd(PAID, usage) == pytest.approx(BY_HAND[name][1], rel=1e-12)
    assert usage.reasoning_tokens == BY_HAND[name][0][4]


@pytest.mark.parametrize("name", ["openai_chat", "deepseek", "openrouter", "llama_cpp"])
def test_openai_through_litellm_comes_to_the_same(name):
    from litellm.types.utils import Usage as LitellmUsage

    raw = LitellmUsage(**golden(name)).model_dump()
    assert cost_usd(PAID, usage_from_provider(raw)) == pytest.approx(BY_HAND[name][1], rel=1e-12)


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        {"prompt_tokens": None, "completion_tokens": None},
        {"input_tokens": "12", "output_tokens": True},
        {"promptTokenCount": -1},
        {"unknown": {"form": 3}},
    ],
)
def test_a_provider_that_counts_nothing_is_unknown_not_free(raw):
    usage = usage_from_provider(raw)
    assert usage == Usage()
    with pytest.raises(ModelError, match="sent no token counts"):
        cost_usd(PAID, usage)
    assert cost_usd(FREE, usage) == 0


def test_parts_larger_than_the_whole_are_not_inside_it():
    # a server that hands Anthropic's counts through under OpenAI's names
    raw = {"prompt_tokens": 40, "completion_tokens": 5, "cache_read_input_tokens": 18000}
    assert counts(usage_from_provider(raw))[:2] == (40, 18000)


_tokens = st.integers(0, 10**7)


@given(new=_tokens, read=_tokens, write=_tokens, text=_tokens, reasoning=_tokens)
def test_openai_and_anthropic_forms_of_one_call_cost_the_same(new, read, write, text, reasoning):
    output = text + reasoning
    openai = {
        "prompt_tokens": new + read + write,
        "completion_tokens": output,
        "total_tokens": new + read + write + output,
        "prompt_tokens_details": {"cached_tokens": read, "cache_write_tokens": write},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }
    anthropic = {
        "input_tokens": new,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": write,
        "output_tokens": output,
        "output_tokens_details": {"thinking_tokens": reasoning},
    }
    found = usage_from_provider(openai)
    assert found == usage_from_provider(anthropic)
    if any((new, read, write, output)):
        assert counts(found) == (new, read, write, output, reasoning)


@given(new=_tokens, read=_tokens, write=_tokens, output=st.integers(1, 1000))
def test_the_bound_holds(new, read, write, output):
    usage = Usage(
        input_tokens=new, cache_read_tokens=read, cache_write_tokens=write, output_tokens=output
    )
    assert cost_usd(PAID, usage) <= bound_usd(PAID, new + read + write) * (1 + 1e-12)


def test_bound_by_hand():
    # 10,000 at the dearest prompt price (4, for writing) and 1,000 at 10: 0.04 + 0.01
    assert bound_usd(PAID, 10_000) == pytest.approx(0.05)
    assert bound_usd(FREE, 10_000) == 0


def test_without_prices_of_their_own_cache_tokens_cost_as_input():
    price = Price(input=2, output=10, as_of=date(2026, 12, 2))
    entry = PAID.model_copy(update={"price": price})
    usage = Usage(input_tokens=0, cache_read_tokens=1000, cache_write_tokens=500, output_tokens=0)
    assert cost_usd(entry, usage) == pytest.approx(0.003)
    assert bound_usd(entry, 1000) == pytest.approx(0.012)


def test_a_cache_price_of_zero_is_a_price():
    price = Price(input=2, output=10, cache_read=0, cache_write=0, as_of=date(2026, 12, 2))
    usage = Usage(input_tokens=0, cache_read_tokens=1000, cache_write_tokens=9, output_tokens=0)
    assert cost_usd(PAID.model_copy(update={"price": price}), usage) == 0


def test_a_missing_price_names_the_line_to_add():
    with pytest.raises(ModelError) as caught:
        check_price("nova", UNPRICED)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("models.yaml: nova: no price, so openai/unknown is never")
    assert "`price: {input: USD" in str(caught.value)
    check_price("paid", PAID)
    check_price("free", FREE)
    for price in (lambda: cost_usd(UNPRICED, Usage()), lambda: bound_usd(UNPRICED, 1)):
        with pytest.raises(ModelError, match="no price"):
            price()


@pytest.mark.parametrize(
    ("raw", "usd"),
    [
        (golden("openrouter"), 0.0061),
        (golden("xai"), 0.000525),  # 5,250,000 ticks of 10^-10 dollars
        ({"cost": {"total_cost": 0.5}}, 0.5),
        ({"cost": 0}, 0.0),
        ({"cost": None}, None),
        ({"cost": True}, None),
        ({"cost": "0.5"}, None),
        ({"cost": float("nan")}, None),
        ({"cost": -1}, None),
        (golden("openai_chat"), None),
    ],
)
def test_what_the_provider_bills(raw, usd):
    assert billed_usd(raw) == usd


@pytest.mark.parametrize(
    ("ours", "theirs", "gap"),
    [
        (1.0, 1.5, 0.5),
        (1.0, 0.9, -0.1),
        (1.0, 1.019, None),
        (1.0, 0.981, None),
        (1.0, 1.021, 0.021),
        (0.0, 0.5, math.inf),
        (0.0, 0.0, None),
        (0.0000012, 0.000001, None),  # the provider rounds to a millionth
        (1.0, None, None),
        (None, 1.0, None),
    ],
)
def test_price_gap(ours, theirs, gap):
    call = sample_call(usd=ours).model_copy(update={"provider_usd": theirs})
    assert price_gap(call) == (None if gap is None else pytest.approx(gap))
