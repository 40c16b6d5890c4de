"""What a build would cost, before anything is spent: arithmetic from planned calls to rows.

Prompts of reference stages are known to the token, because they can be rendered beforehand. What a
model will say, and how many turns an agent takes, is assumed, and each row says so.

**One turn.** The prompt costs the price of new input; in the high case the dearer of that and of
writing to the provider's cache. Nothing is assumed to be read from the cache: the prompts of one
stage share little but their beginning.

**Several turns.** Each turn sends the whole conversation again. With a first prompt of *P* tokens
and *g* tokens more a turn (the answer, and what its commands print), *T* turns send
*T·P + g·T·(T−1)/2* tokens, each turn at most what the model's window leaves beside an answer. Of
them *P + g·(T−1)* are new. The low and the expected case read the rest from the provider's cache;
the high case finds nothing there, and new input costs what it costs in one turn. That old output
is dropped once the window is full, which spoils the provider's cache, is left to the high case.

**How many.** Items whose inputs are there are counted. The others are a spread too, made of assumed
shares of what is there; the ends of a product are the products of the ends.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import Field

from probe.models.base import Model
from probe.models.prices import check_price, cost_usd
from probe.records import Record, Usage

_FEWEST = 5
"""Recorded calls from which they say more than an assumption."""


class Spread(NamedTuple):
    """A figure that is not known: nine times in ten between the ends, in the person's judgement."""

    low: float
    expected: float
    high: float

    def times(self, other: "Spread") -> "Spread":
        """The product, end by end."""
        low, expected, high = (mine * theirs for mine, theirs in zip(self, other, strict=True))
        return Spread(low, expected, high)

    def plus(self, other: "Spread") -> "Spread":
        """The sum, end by end."""
        low, expected, high = (mine + theirs for mine, theirs in zip(self, other, strict=True))
        return Spread(low, expected, high)

    def __str__(self) -> str:
        """``100/300/1000``; one number where all three are the same."""
        ends = [f"{value:g}" for value in self]
        return ends[0] if len(set(ends)) == 1 else "/".join(ends)


ONCE = Spread(1, 1, 1)
NOTHING = Spread(0, 0, 0)


@dataclass(frozen=True)
class PlannedCalls:
    """Calls of one stage, repository, run and model that are alike."""

    stage: str
    """The stage: ``classify``, ``finding`` …"""
    repo: str
    """Key of the repository."""
    run: str | None
    """Key of the run; None for the reference set."""
    model: Model
    """Whom they would ask."""
    calls: int
    """Items, or passes of an agent, that are not recorded yet; expected ones where ``items``."""
    recorded: int
    """Items whose answer is in the cache already: they cost nothing."""
    output: Spread
    """Tokens of one answer, reasoning included."""
    prompt_tokens: int | None = None
    """Sum of the first prompts of ``calls``, counted exactly; None where they cannot be known."""
    prompt: Spread = NOTHING
    """Assumed tokens of one first prompt; used where ``prompt_tokens`` is None."""
    turns: Spread = ONCE
    """Calls of one item: more than one for an agent."""
    added: Spread = NOTHING
    """Tokens that a turn adds beside its answer: what commands print."""
    items: Spread | None = None
    """Items that are not recorded yet, where they cannot be counted; None where they were."""
    of_what: str = ""
    """What ``items`` is assumed from, for the basis."""

    @property
    def number(self) -> Spread:
        """Items that are not recorded yet, counted or assumed."""
        return self.items or Spread(self.calls, self.calls, self.calls)


class EstimateRow(Record):
    """One row of ``estimate.csv``."""

    stage: str
    """The stage."""
    repo: str
    """Key of the repository."""
    run: str | None
    """Key of the run; None for the reference set."""
    model: str
    """Key of the model in ``models.yaml``."""
    calls: int = Field(ge=0)
    """Calls that would be made, expected; repair turns and retries are not counted."""
    recorded: int = Field(ge=0)
    """Items that are answered from the cache, at no cost."""
    input_tokens: int = Field(ge=0)
    """Tokens of all prompts, expected, cached ones included."""
    output_tokens: int = Field(ge=0)
    """Tokens of all answers, expected, reasoning included."""
    usd_low: float = Field(ge=0)
    """US dollars at the low end."""
    usd: float = Field(ge=0)
    """US dollars, expected."""
    usd_high: float = Field(ge=0)
    """US dollars at the high end: no bound, which only the budget is."""
    basis: str
    """What is exact, and what is assumed (low/expected/high)."""


def estimate(planned: Sequence[PlannedCalls]) -> list[EstimateRow]:
    """A row for each group of planned calls, in their order.

    Raises:
        ModelError: a model that would be asked has no price.
    """
    return [_row(group) for group in planned]


def total(rows: Sequence[EstimateRow]) -> Spread:
    """US dollars of all rows; the ends are sums of ends, so wider than nine times in ten."""
    return Spread(
        math.fsum(row.usd_low for row in rows),
        math.fsum(row.usd for row in rows),
        math.fsum(row.usd_high for row in rows),
    )


def observed(values: Sequence[float]) -> Spread | None:
    """The tenth percentile, mean and ninetieth percentile of earlier calls, None for fewer than five.

    Percentiles are the nearest values at or beyond their rank. The mean keeps sums right where a few
    long answers carry most of the cost.
    """
    if len(values) < _FEWEST:
        return None
    ranked = sorted(values)
    low = ranked[math.ceil(0.1 * len(ranked)) - 1]
    high = ranked[math.ceil(0.9 * len(ranked)) - 1]
    mean = math.fsum(ranked) / len(ranked)
    return Spread(low, mean, max(high, mean))


class _Case(NamedTuple):
    """Tokens of all calls of a group in one of the three cases."""

    new: float
    read: float
    output: float


def _row(group: PlannedCalls) -> EstimateRow:
    if group.number.high > 0:
        check_price(group.model.name, group.model.entry)
    low, expected, high = (_case(group, which) for which in range(3))
    return EstimateRow(
        stage=group.stage,
        repo=group.repo,
        run=group.run,
        model=group.model.name,
        calls=round(group.number.expected * group.turns.expected),
        recorded=group.recorded,
        input_tokens=round(expected.new + expected.read),
        output_tokens=round(expected.output),
        usd_low=_usd(group, low),
        usd=_usd(group, expected),
        usd_high=_usd(group, high, cautious=True),
        basis=_basis(group),
    )


def _case(group: PlannedCalls, which: int) -> _Case:
    """All calls of the group at the low (0), expected (1) or high (2) end."""
    items = group.number[which]
    if not items:
        return _Case(0, 0, 0)
    entry, turns, output = group.model.entry, group.turns[which], group.output[which]
    output = min(output, entry.max_output_tokens)
    first = group.prompt[which]
    if group.prompt_tokens is not None:
        first = group.prompt_tokens / items
    grown = output + group.added[which]
    sent = _sent(first, grown, turns, entry.prompt_room)
    new = min(sent, first + grown * max(0.0, turns - 1))
    return _Case(new * items, (sent - new) * items, output * turns * items)


def _sent(first: float, grown: float, turns: float, window: float) -> float:
    """Prompt tokens of a conversation: its turns grow by ``grown`` until the window is full.

    A first prompt beyond the window stays what it is: the provider counts it, or refuses it.
    """
    window = max(window, first)
    free = math.inf if grown <= 0 else (window - first) / grown + 1
    growing = min(turns, math.floor(free)) if free < turns else turns
    growth = growing * first + grown * growing * (growing - 1) / 2
    return max(0.0, growth + (turns - growing) * window)


def _usd(group: PlannedCalls, case: _Case, *, cautious: bool = False) -> float:
    """US dollars of a case; a cautious one reads nothing from the cache and writes all to it."""
    new, read = (case.new + case.read, 0.0) if cautious else (case.new, case.read)
    plain = _cost(group, new=new, read=read, output=case.output)
    if not cautious:
        return plain
    return max(plain, _cost(group, written=new, output=case.output))


def _cost(
    group: PlannedCalls, *, output: float, new: float = 0, read: float = 0, written: float = 0
) -> float:
    usage = Usage(
        input_tokens=round(new),
        cache_read_tokens=round(read),
        cache_write_tokens=round(written),
        output_tokens=round(output),
    )
    return cost_usd(group.model.entry, usage) if group.number.high > 0 else 0.0


def _basis(group: PlannedCalls) -> str:
    if not group.number.high > 0:
        return "all recorded" if group.recorded else "nothing to ask"
    exact = group.prompt_tokens is not None
    parts = [f"assumed {_rounded(group.items)} items ({group.of_what})"] if group.items else []
    parts.append("exact prompts" if exact else f"assumed prompts of {group.prompt} tokens")
    if group.turns != ONCE:
        parts.append(f"assumed {group.turns} turns")
    if group.added != NOTHING:
        parts.append(f"assumed {group.added} tokens printed a turn")
    parts.append(f"assumed answers of {group.output} tokens")
    return "; ".join(parts)


def _rounded(items: Spread) -> Spread:
    low, expected, high = (float(round(value)) for value in items)
    return Spread(low, expected, high)
