"""Calls that differ in a keyword argument."""

from harness import load, verdict

cached = load("cache").Cache().memoize(lambda base, exponent=2: base**exponent)
seen = [cached(2), cached(2, exponent=3)]
verdict(seen != [4, 8], seen)
