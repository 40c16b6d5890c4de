"""The unit "each" by its own name."""

from harness import load, verdict

units = load("units")
try:
    seen = units.find_unit("Each").name
except load("errors").UnitError as error:
    verdict(True, error)
verdict(seen != "each", seen)
