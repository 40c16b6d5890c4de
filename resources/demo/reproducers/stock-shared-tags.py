"""Entries without tags of their own."""

from datetime import date
from fractions import Fraction

from harness import load, verdict

stock = load("stock").Stock()
some = load("quantity").Quantity(Fraction(1))
stock.add("milk", some, date(2025, 1, 1))
seen = list(stock.add("rice", some).tags)
verdict(seen != [], seen)
