"""Intervals of proportions."""

from typing import NamedTuple


class Interval(NamedTuple):
    """A two-sided interval."""

    low: float
    high: float


def wilson(successes: int, trials: int, confidence: float = 0.95) -> Interval | None:
    """Wilson's score interval of a proportion (Wilson 1927), by scipy.

    Args:
        successes: 0 … trials.
        trials: number of independent trials.
        confidence: coverage, 0–1.

    Returns:
        None without trials: no interval is claimed where nothing was observed.

    Raises:
        ValueError: more successes than trials, or a negative number.
    """
    if trials == 0:
        return None
    from scipy.stats import binomtest

    interval = binomtest(successes, trials).proportion_ci(confidence, method="wilson")
    return Interval(float(interval.low), float(interval.high))
