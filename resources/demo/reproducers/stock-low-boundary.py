"""An item exactly at its minimum."""

from fractions import Fraction

from harness import load, need, verdict

stock = load("stock").Stock()
need(stock, "low")
one = load("quantity").Quantity(Fraction(1), load("units").find_unit("kg"))
stock.add("flour", one, None, [])
seen = stock.low({"flour": one})
verdict(seen != ["flour"], seen)
