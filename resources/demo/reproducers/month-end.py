"""A monthly rule that begins on the 31st."""

from datetime import date
from itertools import islice

from harness import load, verdict

schedule = load("recurrence", "schedule")
try:
    seen = [str(day) for day in islice(schedule.days_of(schedule.Rule("month"), date(2025, 1, 31)), 2)]
except ValueError as error:
    verdict(True, error)
verdict(seen != ["2025-01-31", "2025-02-28"], seen)
