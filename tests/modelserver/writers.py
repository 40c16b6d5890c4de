"""Plays the writer of stage synthesize and the judge of stage deduplicate, by simple rules.

The same prompt always gets the same answer, and a person can tell which one by looking at it:

- a report names the unit, file and line of its first place, and the identifiers of that line;
- where the repair's title holds "a slip", the first answer speaks of the fix, and the next does not;
  where it holds "slips always", every answer does;
- two reports are one defect where their titles are equal.
"""

import json
import re
from collections.abc import Mapping

from modelserver.neutral import Asked, Reply

_TITLE = re.compile(r"^THE DEFECT, AS ITS REPAIR WAS TITLED\n(.*)$", re.MULTILINE)
_PLACE = re.compile(
    r"^PLACES IN THE SNAPSHOT.*\n(?P<path>.+?) lines? (?P<line>\d+)(?:-\d+)?(?: in (?P<unit>`.+`))?$",
    re.MULTILINE,
)
_REPORT = re.compile(r"^REPORT \d\nTitle: (.*)$", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_]\w{2,}")
_AGAIN = "The answer does not fit"


def write(asked: Asked) -> Reply | None:
    """The answer to a question of the two stages; None for any other question."""
    properties = (asked.schema or {}).get("properties")
    if not isinstance(properties, Mapping):
        return None
    if {"trigger", "suggested_fix"} <= set(properties):
        return _report(asked.prompt)
    if "same" in properties:
        return _judgement(asked.prompt)
    return None


def _report(prompt: str) -> Reply | None:
    title, place = _TITLE.search(prompt), _PLACE.search(prompt)
    if title is None or place is None:
        return None
    where = place["unit"] or f"`{place['path']}`"
    says = [f"{where} gives a wrong result at line {place['line']} of {place['path']}."]
    names = _NAME.findall(_line(prompt, place["line"]))
    if names:
        says.append(f"The line uses {', '.join(f'`{name}`' for name in dict.fromkeys(names))}.")
    if "only adds lines; describe" in prompt:
        says.append("It does not handle one case.")
    slip = "a slip" in title[1] and _AGAIN not in prompt
    if slip or "slips always" in title[1]:
        says.append("This was fixed by the patch in #12.")
    answer = {
        "description": " ".join(says),
        "trigger": f"A call that reaches line {place['line']}.",
        "title": f"Wrong result of {where} at line {place['line']}",
        "severity": "high" if "crash" in title[1].lower() else "medium",
        "suggested_fix": "Change the line as the repair does.",
    }
    return Reply(content=json.dumps(answer))


def _line(prompt: str, number: str) -> str:
    found = re.search(rf"^ *{number}\| (.*)$", prompt, re.MULTILINE)
    return found[1] if found else ""


def _judgement(prompt: str) -> Reply | None:
    titles = _REPORT.findall(prompt)
    if len(titles) != 2:
        return None
    same = titles[0] == titles[1]
    why = "The titles are equal." if same else "The titles differ."
    return Reply(content=json.dumps({"rationale": why, "same": same, "confidence": 0.9}))
