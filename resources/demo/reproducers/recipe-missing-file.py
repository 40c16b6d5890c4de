"""A recipe file that does not exist."""

import tempfile
from pathlib import Path

from harness import load, verdict

recipe = load("recipe")
with tempfile.TemporaryDirectory() as folder:
    try:
        recipe.load_recipe(Path(folder) / "none.recipe")
    except FileNotFoundError as error:
        verdict(True, error.strerror)
    except recipe.RecipeError:
        verdict(False, "RecipeError")
verdict(True, "no error")
