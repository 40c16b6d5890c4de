"""An amount with a decimal comma."""

from harness import load, verdict

legacy = load("importers.legacy")
errors = load("errors")
try:
    seen = str(legacy.read_line("Mehl;1,5;kg", 1)[1])
except errors.StockError as error:
    verdict(True, error)
verdict(seen != "1 1/2 kg", seen)
