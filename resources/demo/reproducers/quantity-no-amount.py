"""A text that begins with no amount."""

from harness import load, verdict

quantity = load("quantity")
try:
    seen = quantity.parse_quantity("some salt")
except AttributeError as error:
    verdict(True, error)
except load("errors").QuantityError as error:
    verdict(False, error)
verdict(True, seen)
