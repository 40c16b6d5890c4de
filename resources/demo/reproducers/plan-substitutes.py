"""A shopping list with stand-ins."""

from datetime import date

from harness import load, verdict

plan = load("plan")
meals = plan.Plan([plan.Meal(date(2025, 5, 1), load("recipe").parse_recipe("= Soup\n- 1 onion\n"))])
try:
    seen = plan.shopping_list(meals, load("stock").Stock(), {"onion": ["leek"]})
except TypeError as error:
    verdict(True, error)
verdict([name for name, _ in seen] != ["onion"], str(seen))
