"""What a SARIF run says about its rules: names, meanings, message strings, severities."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from probe.finders.shape import array, integer, section, string
from probe.records import Severity

_LEVELS: dict[str, Severity | None] = {
    "error": "high",
    "warning": "medium",
    "note": "low",
    "none": None,
}
_SCORES: tuple[tuple[float, Severity], ...] = (
    (9.0, "critical"),
    (7.0, "high"),
    (4.0, "medium"),
    (0.0, "low"),
)
"""Lower bounds of CVSS v3's qualitative ratings, for ``security-severity``."""

_LINK = re.compile(r"\[((?:[^\[\]\\]|\\.)+)\]\((?:\d+|[a-z][a-z0-9+.-]*:[^()\s]*)\)")
_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{(\d{1,3})\}")


@dataclass(frozen=True, slots=True)
class Rule:
    """A reporting descriptor; empty for a rule that the report does not describe."""

    title: str = ""
    """Its short description, else its name."""
    meaning: str = ""
    """Its full description, else the short one."""
    level: str = ""
    """Its default level."""
    score: str = ""
    """Its ``security-severity``."""
    strings: Mapping[str, object] = field(default_factory=dict)
    """Its message strings."""


class RuleBook:
    """The rules of one SARIF run."""

    def __init__(self, run: Mapping[str, object]) -> None:
        tool = section(run, "tool")
        driver = section(tool, "driver")
        self.global_strings = section(driver, "globalMessageStrings")
        components = [driver, *array(tool, "extensions")]
        self._rules = [array(component, "rules") for component in components]
        self._names = [string(component, "name") for component in components]
        self._by_id: dict[str, object] = {}
        for rules in reversed(self._rules):
            self._by_id.update((string(rule, "id"), rule) for rule in rules)

    def id_of(self, result: Mapping[str, object]) -> str:
        """The rule's id that a result names, or whose index it gives."""
        given = string(result, "ruleId") or string(section(result, "rule"), "id")
        return given or string(self._by_index(result), "id")

    def of(self, result: Mapping[str, object]) -> Rule:
        """The rule of a result: by index, by id, or by the id's part before the first slash."""
        name = self.id_of(result)
        found = self._by_index(result)
        if found is None and name:
            found = self._by_id.get(name, self._by_id.get(name.partition("/")[0]))
        return _rule(found)

    def _by_index(self, result: Mapping[str, object]) -> object:
        reference = section(result, "rule")
        index = integer(reference, "index")
        if index is None:
            index = integer(result, "ruleIndex")
        component = section(reference, "toolComponent")
        place = integer(component, "index")
        if place is not None:
            place += 1
        elif string(component, "name") in self._names[1:]:
            place = self._names.index(string(component, "name"), 1)
        rules = self._rules[place or 0] if 0 <= (place or 0) < len(self._rules) else []
        return rules[index] if index is not None and 0 <= index < len(rules) else None


def _rule(found: object) -> Rule:
    short = string(section(found, "shortDescription"), "text")
    return Rule(
        title=short or string(found, "name"),
        meaning=string(section(found, "fullDescription"), "text") or short,
        level=string(section(found, "defaultConfiguration"), "level"),
        score=_score(found),
        strings=section(found, "messageStrings"),
    )


def message_text(
    message: Mapping[str, object], rule: Rule, global_strings: Mapping[str, object]
) -> str:
    """A message's plain text: given, or by id from the rule; arguments filled in, links unwrapped."""
    name = string(message, "id")
    stored = section(rule.strings, name) or section(global_strings, name) if name else {}
    text = next(
        (
            string(one, form)
            for one in (message, stored)
            for form in ("text", "markdown")
            if string(one, form)
        ),
        "",
    )
    arguments = [str(one) for one in array(message, "arguments")]

    def fill(match: re.Match[str]) -> str:
        if match.group(1) is None:
            return match.group()[0]
        index = int(match.group(1))
        return arguments[index] if index < len(arguments) else match.group()

    if arguments:
        text = _PLACEHOLDER.sub(fill, text)
    return _LINK.sub(r"\1", text)


def severity_of(result: Mapping[str, object], rule: Rule) -> Severity | None:
    """Security score of the result or its rule, else the result's level, else the rule's.

    A result without any level is a warning, by the standard.
    """
    score = _score(result) or rule.score
    try:
        value = float(score) if score else None
    except ValueError:
        value = None
    if value is not None and 0 <= value <= 10:
        return next(severity for bound, severity in _SCORES if value >= bound)
    return _LEVELS.get(string(result, "level") or rule.level or "warning")


def _score(item: object) -> str:
    properties = section(item, "properties")
    value = properties.get("security-severity")
    return str(value) if isinstance(value, str | int | float) and value is not True else ""
