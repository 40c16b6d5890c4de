"""A row with a cell too many."""

from harness import load, verdict

table = load("table")
try:
    table.Table(["item"]).add("rice", 2)
except TypeError as error:
    verdict(True, error)
except load("errors").TableError as error:
    verdict(False, error)
verdict(True, "no error")
