"""Values in an HTML template."""

from harness import load, verdict

template = load("template").Template('<a title="{{ x }}">', html=True)
seen = template.render(x='"<&')
verdict(seen.count('"') != 2 or "<&" in seen, seen)
