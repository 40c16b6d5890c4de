"""Scaling a recipe that serves nobody."""

from harness import load, verdict

recipe = load("recipe")
errors = load("errors")
try:
    seen = str(recipe.parse_recipe("= Air\nservings: 0\n").scaled(2))
except ZeroDivisionError as error:
    verdict(True, error)
except errors.RecipeError as error:
    verdict(False, error)
verdict(True, seen)
