"""An entry that is too old."""

from harness import load, verdict

now = [0]
cache = load("cache").Cache(ttl=10, clock=lambda: now[0])
cache.put("a", 1)
now[0] = 11
seen = cache.get("a")
verdict(seen is not None, seen)
