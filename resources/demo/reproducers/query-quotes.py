"""Quoted words stay together."""

from harness import load, verdict

query = load("query")
seen = query.matches(query.parse_query('name:"red lentils"'), "Lentils and red beans", [])
verdict(seen is not False, seen)
