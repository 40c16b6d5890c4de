"""A rule that never moves on."""

from datetime import date
from itertools import islice

from harness import load, verdict

schedule = load("recurrence", "schedule")
try:
    rule = schedule.parse_rule("every 0 days")
except load("errors").RuleError as error:
    verdict(False, error)
seen = [str(day) for day in islice(schedule.days_of(rule, date(2025, 5, 1)), 3)]
verdict(len(set(seen)) == 1, seen)
