"""`and` binds tighter than `or`."""

from harness import load, verdict

query = load("query")
seen = query.matches(query.parse_query("soup or rice and tag:dry"), "Soup", [])
verdict(seen is not True, seen)
