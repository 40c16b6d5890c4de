"""A comma in a calendar event's title."""

from datetime import date

from harness import load, verdict

ics = load("ics")
plan = load("plan")
recipe = load("recipe").Recipe("Rice, beans")
seen = ics.plan_to_ics(plan.Plan([plan.Meal(date(2025, 6, 1), recipe)]))
verdict("SUMMARY:Rice\\, beans" not in seen, seen)
