"""Plays the reader of stage extract: places bugs on the hunks of the diff that it is shown.

It reads the prompt as a model would, message, diff and paths, and goes by simple rules, so that the
same prompt always gets the same answer and a person can tell which one by looking at a commit:

- no hunk in program text outside tests, or a subject that tells of something new: a rejection;
- a subject with ", also ": one bug for each file; otherwise one bug for the commit;
- each hunk that removes lines is a range, each other one an insertion point.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from modelserver.neutral import Asked, Reply

MOST_PLACES = 40
"""Places of one bug, at most: an answer must fit the model's limit."""

_SUBJECT = re.compile(r"^SUBJECT\n(.*)$", re.MULTILINE)
_DIFF = re.compile(r"^DIFF \(changed lines only\)\n(.*?)^BEFORE THE FIX", re.MULTILINE | re.DOTALL)
_HEADER = re.compile(r"^@@ -(\d+),(\d+) \+(\d+),(\d+) @@")
_PROGRAM = re.compile(r"\.(py|pyi|js|mjs|cjs|jsx|ts|mts|cts|tsx|html|sql|j2)$")
_TEST = re.compile(r"(^|/)(tests?|spec|specs|__tests__)/|(^|/)test_|\.(test|spec)\.", re.IGNORECASE)
_NEW = re.compile(r"^(feat|add)\b|\boption\b", re.IGNORECASE)
_PREFIX = re.compile(r"^\s*[\w-]+(\([^)]*\))?!?:\s*|^fix(es|ed)?\s+", re.IGNORECASE)


class Hunk(NamedTuple):
    """The side of a hunk before the fix."""

    path: str
    first: int
    count: int


def extract(asked: Asked) -> Reply | None:
    """The answer to a question of stage extract; None for any other question."""
    properties = (asked.schema or {}).get("properties")
    diff = _DIFF.search(asked.prompt)
    if (
        not isinstance(properties, Mapping)
        or not {"bugs", "rejection"} <= set(properties)
        or not diff
    ):
        return None
    said = _SUBJECT.search(asked.prompt)
    subject = said[1] if said else ""
    by_file: dict[str, list[Hunk]] = {}
    for hunk in hunks_of(diff[1]):
        if _PROGRAM.search(hunk.path) and not _TEST.search(hunk.path):
            by_file.setdefault(hunk.path, []).append(hunk)
    if not by_file or _NEW.search(subject):
        return _said([], "It changes no wrong behaviour of program text.")
    parts = list(by_file.values())
    if ", also " not in subject:
        parts = [[hunk for part in parts for hunk in part]]
    return _said([_bug(subject, part) for part in parts], None)


def hunks_of(diff: str) -> list[Hunk]:
    """The hunks of a shown diff, but for those of new files.

    A removed line may look like a header, so the counts say how many lines to pass over.
    """
    found: list[Hunk] = []
    path: str | None = None
    left = 0
    for line in diff.split("\n"):
        header = _HEADER.match(line)
        if left and not line.startswith("["):
            left -= 1
        elif header:
            left = int(header[2]) + int(header[4])
            if path is not None:
                found.append(Hunk(path, int(header[1]), int(header[2])))
        elif line.startswith("--- "):
            path = line.removeprefix("--- a/") if line.startswith("--- a/") else None
        else:
            left = 0
    return found


def _bug(subject: str, hunks: list[Hunk]) -> dict[str, Any]:
    hunks = hunks[:MOST_PLACES]
    words = _PREFIX.sub("", subject) or subject
    return {
        "title": f"{hunks[0].path} goes wrong: {words}",
        "root_cause": f"The lines at {hunks[0].path}:{hunks[0].first} are wrong.",
        "ranges": [
            {"path": h.path, "first_line": h.first, "last_line": h.first + h.count - 1}
            for h in hunks
            if h.count
        ],
        "insertion_points": [{"path": h.path, "after_line": h.first} for h in hunks if not h.count],
        "suggested_fix": "Change these lines.",
    }


def _said(bugs: list[dict[str, Any]], rejection: str | None) -> Reply:
    rationale = f"{len(bugs)} root causes, by the hunks of the diff."
    return Reply(content=json.dumps({"rationale": rationale, "bugs": bugs, "rejection": rejection}))
