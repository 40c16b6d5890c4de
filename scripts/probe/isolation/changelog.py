"""Entries of changelogs that are younger than the snapshot.

Only headings count: a line that names a version or is marked up as a heading, or that says when
something was released. A date in running text (the end of support, a deadline) tells nothing of a
later state of the code.
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import PurePosixPath
from typing import NamedTuple

_FILE = re.compile(
    r"(?:change[-_ ]?log|changes|history|news|release[-_ ]?notes?|releases?|what'?s[-_ ]?new)"
    r"(?:[-_. ].*)?",
    re.IGNORECASE,
)
_FOLDER = re.compile(
    r"change[-_ ]?logs?(?:\.d)?|changes|news(?:fragments?)?|release[-_ ]?notes|releases|what'?s[-_ ]?new",
    re.IGNORECASE,
)
_TEXT = {"", ".md", ".mdx", ".markdown", ".rst", ".txt", ".adoc", ".org", ".html", ".htm"}
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?"
_DATES = (
    re.compile(r"(?<![\d.])(?P<y>20\d\d)[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?![\d.]*\d)"),
    re.compile(
        rf"\b{_MONTH}\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y>20\d\d)\b", re.IGNORECASE
    ),
    re.compile(
        rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?[ -]{_MONTH},?[ -](?P<y>20\d\d)\b", re.IGNORECASE
    ),
    re.compile(rf"\b{_MONTH},?\s+(?P<y>20\d\d)\b", re.IGNORECASE),
)
_HEADING = re.compile(
    r"""\s{0,3}(?:
        \#{1,6}\s | ={1,6}\s | <h[1-6]\b | \*\*\s*\S
      | [\[(]?v?\d+\.\d+
      | (?:version|release)\s+v?\d
      | (?:[-*:]\s*)?(?:released|release[ ]date|date)\b
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_UNDERLINE = re.compile(r"\s{0,3}([=\-~^\"'+*#])\1{3,}\s*")
_LONGEST = 200
_SLACK = timedelta(days=1)
"""A maintainer's calendar can be a day ahead of the commit's time in UTC."""


class LateEntry(NamedTuple):
    """A heading that is younger than the snapshot."""

    line: int
    """1-based."""
    text: str
    """The heading."""
    day: date
    """Its date; the first of the month where it names no day."""


def is_changelog(path: str) -> bool:
    """Whether a file is a changelog, or a part of one, by its name or its folder's."""
    at = PurePosixPath(path)
    if at.suffix.lower() not in _TEXT and not re.fullmatch(r"\.\d+", at.suffix):
        return False
    return bool(_FILE.fullmatch(at.name) or _FOLDER.fullmatch(at.parent.name))


def late_entries(text: str, cutoff: datetime) -> Iterator[LateEntry]:
    """Headings with a date after the day that follows the snapshot's.

    Args:
        text: a changelog.
        cutoff: T0's time.
    """
    last = cutoff.astimezone(UTC).date() + _SLACK
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if len(line) > _LONGEST or "20" not in line:
            continue
        under = lines[number] if number < len(lines) else ""
        if not (_HEADING.match(line) or _UNDERLINE.fullmatch(under)):
            continue
        for day in _dates(line):
            if day > last:
                yield LateEntry(number, line.strip(), day)
                break


def _dates(line: str) -> Iterator[date]:
    for pattern in _DATES:
        for match in pattern.finditer(line):
            parts = match.groupdict()
            month = parts.get("m") or str(_MONTHS.index(parts["month"].lower()) + 1)
            try:
                yield date(int(parts["y"]), int(month), int(parts.get("d") or 1))
            except ValueError:  # no such day
                continue
