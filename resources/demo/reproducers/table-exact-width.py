"""A cell exactly as wide as the limit."""

from harness import load, verdict

table = load("table").Table(["item"], limit=5)
table.add("beans")
seen = table.render()
verdict("beans" not in seen, seen)
