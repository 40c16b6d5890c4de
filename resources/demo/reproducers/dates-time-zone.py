"""Half an hour before midnight in UTC, two hours further east."""

from datetime import datetime, timezone

from harness import load, verdict

dates = load("dates")
dates.utc_now = lambda: datetime(2025, 5, 15, 23, 30, tzinfo=timezone.utc)
seen = str(dates.today("+02:00"))
verdict(seen != "2025-05-16", seen)
