from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.isolation.changelog import is_changelog, late_entries

CUTOFF = datetime(2024, 12, 31, 23, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    "path",
    ["CHANGELOG.md", "/work/docs/changelog.mdx", "CHANGES", "CHANGES.rst", "HISTORY.txt", "NEWS", "doc/whats-new.rst",
     "RELEASE_NOTES.md", "release-notes-v2.md", "docs/changes/123.fix.rst", "changelog.d/77.md", "newsfragments/1.txt"],
)  # fmt: skip
def test_changelogs_are_known_by_name_or_folder(path):
    assert is_changelog(path)


@pytest.mark.parametrize(
    "path", ["history.py", "src/changes.ts", "news/feed.py", "README.md", "CHANGELOG.png"]
)
def test_code_and_pictures_are_no_changelogs(path):
    assert not is_changelog(path)


@pytest.mark.parametrize(
    ("line", "day"),
    [
        ("## 26.1.0 - 2025-02-03", date(2025, 2, 3)),
        ("## [v26.1.0](https://example.org/compare/a...b) (2025-02-03)", date(2025, 2, 3)),
        ("# 2025-02-03, 14.1.0", date(2025, 2, 3)),
        ("### 3.1 (February 3rd, 2025)", date(2025, 2, 3)),
        ("1.2.3 (3 Feb 2025)", date(2025, 2, 3)),
        ("v2.0.0 / 2025.02.03", date(2025, 2, 3)),
        ("**2.0** 2025/02/03", date(2025, 2, 3)),
        ("Version 5.1.0, 2025-02-03", date(2025, 2, 3)),
        ("Released 2025-02-03", date(2025, 2, 3)),
        (":release date: 2025-02-03", date(2025, 2, 3)),
        ("- Release date: 2025-02-03", date(2025, 2, 3)),
        ("# 9.0 (planned for March 2025)", date(2025, 3, 1)),
        ("## 1.0 - 2024-12-31", None),
        ("## 1.0 - 2025-01-01", None),  # a calendar can be a day ahead
        ("Support for 3.8 ends on 2025-10-01.", None),
        ("- Deprecated until 2026-01-01", None),
        ("## Unreleased", None),
        ("## 2025-99-99", None),
        ("Copyright 2025 by the authors", None),
    ],
)
def test_headings_younger_than_the_snapshot_count(line, day):
    assert [late.day for late in late_entries(line, CUTOFF)] == ([day] if day else [])


def test_an_underlined_heading_counts_too():
    (late,) = late_entries("Changes\n\nFoo of 2025-05-06\n-----------------\n", CUTOFF)
    assert (late.line, late.day) == (3, date(2025, 5, 6))


@given(st.text(max_size=300))
def test_no_text_breaks_it(text):
    list(late_entries(text, CUTOFF))


@given(
    st.dates(date(2025, 1, 2), date(2099, 12, 31)),
    st.sampled_from(["%Y-%m-%d", "%d %B %Y", "%B %d, %Y"]),
)
def test_every_later_day_is_found_in_every_form(day, form):
    (late,) = late_entries(f"## 1.0 ({day.strftime(form)})", CUTOFF)
    assert late.day == day
