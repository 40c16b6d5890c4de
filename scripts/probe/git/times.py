"""Times of commits, which git keeps as whatever number somebody once wrote."""

from datetime import UTC, datetime

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def commit_time(seconds: bytes | str) -> datetime:
    """UTC; a broken date, or one beyond the calendar, becomes the epoch."""
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return EPOCH
