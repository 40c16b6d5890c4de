"""A negative mixed number."""

from fractions import Fraction

from harness import load, verdict

seen = load("quantity").parse_amount("-1 1/2")
verdict(seen != Fraction(-3, 2), str(seen))
