"""A title without any Latin letter."""

from harness import load, verdict

seen = load("_vendor.tinyslug").slug("\u5473\u564c\u6c41")
verdict(seen == "", seen)
