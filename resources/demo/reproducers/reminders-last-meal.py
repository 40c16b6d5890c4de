"""Reminders of two meals."""

from datetime import date

from harness import load, verdict

plan = load("plan")
parse = load("recipe").parse_recipe
meals = [plan.Meal(date(2025, 5, day), parse(f"= Meal {day}\n")) for day in (1, 2)]
seen = []
for _, callback in load("reminders").build_reminders(meals, lambda title, day: seen.append(title)):
    callback()
verdict(seen != ["Meal 1", "Meal 2"], seen)
