"""What a call costs: the provider's token counts brought into one form, times prices of our own.

Costs elsewhere went wrong five times over by tokens that were counted twice. Here the parts of a
prompt are disjoint (new, read from the provider's cache, written to it), and reasoning tokens are
part of the output and never priced again. What the provider itself bills is kept beside ours.
"""

import math
from collections.abc import Mapping
from typing import Final

from probe.config import ModelEntry, Price
from probe.errors import ModelError
from probe.records import Call, Usage

MILLION: Final = 1_000_000

PRICE_GAP: Final = 0.02
"""Share of our figure from which a provider's bill is worth a warning."""

_ROUNDING_USD: Final = 1e-6
"""Providers round the cost of a call to a millionth of a dollar."""

_XAI_TICKS: Final = 1e10
"""Ticks to a dollar in xAI's usage objects."""

Raw = Mapping[str, object]


def usage_from_provider(raw: Raw) -> Usage:
    """The token counts of a provider's usage object, in parts that do not overlap.

    Which form it is, is told by its keys:

    ============================  ==============================================================
    OpenAI chat, litellm's own    ``prompt_tokens`` includes cache reads and writes;
                                  ``completion_tokens`` includes reasoning, except where
                                  ``total_tokens`` shows that it was left out (xAI)
    OpenAI responses              ``input_tokens`` includes both, ``input_tokens_details`` has them
    Anthropic messages            ``input_tokens`` excludes ``cache_read_input_tokens`` and
                                  ``cache_creation_input_tokens``; ``iterations`` are summed
    Gemini                        ``promptTokenCount`` includes ``cachedContentTokenCount``;
                                  ``thoughtsTokenCount`` comes on top of ``candidatesTokenCount``,
                                  except where ``totalTokenCount`` shows that it does not
    ============================  ==============================================================

    Returns:
        Token counts only. What the provider does not say is None; all of it, where it counts
        neither prompt nor answer.
    """
    if "promptTokenCount" in raw or "totalTokenCount" in raw:
        found = _gemini(raw)
    elif "prompt_tokens" in raw or "completion_tokens" in raw:
        found = _openai(raw, "prompt_tokens", "completion_tokens")
    elif "cache_read_input_tokens" in raw or "cache_creation_input_tokens" in raw:
        found = _anthropic(raw)
    else:
        found = _openai(raw, "input_tokens", "output_tokens")
    prompt = (found.input_tokens, found.cache_read_tokens, found.cache_write_tokens)
    if not any(prompt) and not found.output_tokens:
        return Usage()
    return found


def cost_usd(entry: ModelEntry, usage: Usage) -> float:
    """US dollars of a call at the entry's prices; 0 for a free model.

    Raises:
        ModelError: the entry has no price, or the provider said nothing of prompt or output.
    """
    if entry.free:
        return 0.0
    price = _price(entry.litellm_id, entry)
    if usage.input_tokens is None or usage.output_tokens is None:
        raise ModelError(
            f"{entry.litellm_id}: the provider sent no token counts, so the call's cost is unknown"
        )
    parts = (
        usage.input_tokens * price.input,
        (usage.cache_read_tokens or 0) * _or(price.cache_read, price.input),
        (usage.cache_write_tokens or 0) * _or(price.cache_write, price.input),
        usage.output_tokens * price.output,
    )
    return math.fsum(parts) / MILLION


def bound_usd(entry: ModelEntry, prompt_tokens: int) -> float:
    """The most that one call can cost, in US dollars.

    The whole prompt at the dearest of its three prices, and an answer of ``max_output_tokens``,
    which is sent with every call.

    Args:
        entry: the model.
        prompt_tokens: an upper bound (:func:`probe.models.size.bound_tokens`).

    Raises:
        ModelError: the entry has no price.
    """
    if entry.free:
        return 0.0
    price = _price(entry.litellm_id, entry)
    dearest = max(price.input, price.cache_read or 0, price.cache_write or 0)
    return (prompt_tokens * dearest + entry.max_output_tokens * price.output) / MILLION


def check_price(name: str, entry: ModelEntry) -> None:
    """Refuse a model whose price nobody has written down.

    Raises:
        ModelError: with the line to add to ``models.yaml``.
    """
    if entry.price is None:
        raise ModelError(
            f"models.yaml: {name}: no price, so {entry.litellm_id} is never asked; add `price: "
            "{input: USD, cache_read: USD, cache_write: USD, output: USD, as_of: YYYY-MM-DD}` (USD "
            "for a million tokens), or `price: free` for a server that costs nothing"
        )


def billed_usd(raw: Raw) -> float | None:
    """What a provider's usage object says the call cost; None where it does not say."""
    cost = raw.get("cost")
    if isinstance(cost, Mapping):
        cost = cost.get("total_cost")
    ticks = raw.get("cost_in_usd_ticks")
    if cost is None and isinstance(ticks, int | float) and not isinstance(ticks, bool):
        cost = ticks / _XAI_TICKS
    if isinstance(cost, bool) or not isinstance(cost, int | float):
        return None
    return float(cost) if math.isfinite(cost) and cost >= 0 else None


def price_gap(call: Call) -> float | None:
    """By what share of our figure the provider's bill differs, where that is worth a warning.

    Returns:
        0.5 for a bill half as high again as our figure, −0.1 for one a tenth lower, infinity for a
        bill of a call that should be free. None up to :data:`PRICE_GAP`, and where either figure
        is unknown.
    """
    ours, theirs = call.usage.usd, call.provider_usd
    if ours is None or theirs is None or abs(theirs - ours) <= _ROUNDING_USD:
        return None
    if ours == 0:
        return math.inf
    gap = theirs / ours - 1
    return gap if abs(gap) > PRICE_GAP else None


def _price(shown: str, entry: ModelEntry) -> Price:
    check_price(shown, entry)
    if not isinstance(entry.price, Price):
        raise TypeError(f"{shown}: free models have no price list")
    return entry.price


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


def _count(raw: Raw, *names: str) -> int | None:
    """The first of the keys that holds a count; None where none does."""
    for name in names:
        value = raw.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
            return int(value)
    return None


def _part(raw: Raw, *names: str) -> Raw:
    for name in names:
        value = raw.get(name)
        if isinstance(value, Mapping):
            return value
    return {}


def _rest(whole: int | None, *parts: int | None) -> int | None:
    """What is left of a whole; all of it where the parts are larger and so cannot be inside."""
    if whole is None:
        return None
    inside = sum(part or 0 for part in parts)
    return whole - inside if inside <= whole else whole


def _openai(raw: Raw, prompt_key: str, output_key: str) -> Usage:
    prompt, output = _count(raw, prompt_key), _count(raw, output_key)
    before = _part(raw, "prompt_tokens_details", "input_tokens_details")
    after = _part(raw, "completion_tokens_details", "output_tokens_details")
    read = _most(
        _count(before, "cached_tokens"),
        _count(raw, "cache_read_input_tokens", "prompt_cache_hit_tokens"),
    )
    written = _most(
        _count(before, "cache_write_tokens", "cache_creation_tokens"),
        _count(raw, "cache_creation_input_tokens"),
    )
    reasoning = _most(
        _count(after, "reasoning_tokens", "thinking_tokens"), _count(raw, "reasoning_tokens")
    )
    if reasoning and output is not None:
        apart = _count(raw, "total_tokens") == (prompt or 0) + output + reasoning
        output += reasoning if apart else 0
        reasoning = min(reasoning, output)
    return Usage(
        input_tokens=_rest(prompt, read, written),
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=output,
        reasoning_tokens=reasoning,
    )


def _most(*values: int | None) -> int | None:
    """The larger of one count under two names; None where neither is there."""
    return max((value for value in values if value is not None), default=None)


def _anthropic(raw: Raw) -> Usage:
    iterations = raw.get("iterations")
    if isinstance(iterations, list) and iterations:
        parts = [_one_anthropic(part) for part in iterations if isinstance(part, Mapping)]
        return sum(parts, Usage())
    return _one_anthropic(raw)


def _one_anthropic(raw: Raw) -> Usage:
    details = _part(raw, "output_tokens_details")
    return Usage(
        input_tokens=_count(raw, "input_tokens"),
        cache_read_tokens=_count(raw, "cache_read_input_tokens"),
        cache_write_tokens=_count(raw, "cache_creation_input_tokens"),
        output_tokens=_count(raw, "output_tokens"),
        reasoning_tokens=_count(details, "thinking_tokens", "reasoning_tokens"),
    )


def _gemini(raw: Raw) -> Usage:
    prompt = _count(raw, "promptTokenCount")
    tools = _count(raw, "toolUsePromptTokenCount") or 0
    read = _count(raw, "cachedContentTokenCount")
    written = _count(raw, "candidatesTokenCount", "responseTokenCount")
    thoughts = _count(raw, "thoughtsTokenCount")
    output = written
    if written is not None or thoughts is not None:
        total = _count(raw, "totalTokenCount")
        inside = thoughts and written and total == (prompt or 0) + tools + written
        output = (written or 0) + (0 if inside else thoughts or 0)
    rest = _rest(prompt, read)
    return Usage(
        input_tokens=rest if rest is None else rest + tools,
        cache_read_tokens=read,
        output_tokens=output,
        reasoning_tokens=thoughts,
    )
