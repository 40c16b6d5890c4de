"""A link with a fragment."""

from harness import load, verdict

seen = load("recipe").parse_recipe("= Soup\nsource: https://example.org/soups#lentils\n").source
verdict(not seen.endswith("#lentils"), seen)
