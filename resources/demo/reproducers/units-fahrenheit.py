"""212 degrees Fahrenheit are 100 degrees Celsius."""

from fractions import Fraction

from harness import load, verdict

units = load("units")
seen = units.convert(Fraction(212), units.find_unit("f"), units.find_unit("c"))
verdict(seen != 100, str(seen))
