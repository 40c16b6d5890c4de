"""The last day of a rule."""

from datetime import date

from harness import load, verdict

schedule = load("recurrence", "schedule")
rule = schedule.Rule("day", until=date(2025, 5, 3))
seen = [day.day for day in schedule.occurrences(rule, date(2025, 5, 1), date(2025, 5, 1), date(2025, 5, 9))]
verdict(seen != [1, 2, 3], seen)
