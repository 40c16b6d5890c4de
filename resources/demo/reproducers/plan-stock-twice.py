"""An item in two units; the stock counts once."""

from datetime import date
from fractions import Fraction

from harness import load, verdict

plan = load("plan")
parse = load("recipe").parse_recipe
meals = [plan.Meal(date(2025, 5, 1), parse(f"= Bread\n- {amount} flour\n")) for amount in ("1 kg", "500 g")]
stock = load("stock").Stock()
stock.add("flour", load("quantity").Quantity(Fraction(1), load("units").find_unit("kg")), None, [])
seen = [(name, str(quantity)) for name, quantity in plan.shopping_list(plan.Plan(meals), stock)]
verdict(seen != [("flour", "500 g")], seen)
