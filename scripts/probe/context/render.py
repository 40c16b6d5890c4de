"""The two documents as Markdown, each within its budget of tokens.

Both say the same of the same project. The finders' variant goes from the whole to the parts; the
panel's begins with what decides whether a finding counts: how users get in, what they may give, and
what the project does on purpose or not at all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from probe.code.tokens import count_tokens
from probe.context.entry import Document, Entry
from probe.records.context import SectionKey

_TITLES: Mapping[SectionKey, str] = {
    "purpose": "Purpose",
    "architecture": "Architecture",
    "public_api": "Public API",
    "supported_inputs": "Supported inputs",
    "error_handling": "Error handling",
    "intentional_deviations": "Intentional deviations",
    "unsupported_features": "Unsupported features",
}
_LEFT_OVER: tuple[SectionKey, ...] = (
    "unsupported_features", "intentional_deviations", "supported_inputs", "public_api", "error_handling",
    "purpose", "architecture",
)  # fmt: skip
"""Who gets first what other sections do not use."""
_RESERVE = 14
"""Tokens of a heading, and of the line on what was left out."""


@dataclass(frozen=True, slots=True)
class Form:
    """One of the two variants of a document."""

    title: str
    shares: Mapping[SectionKey, float]
    """Sections in their order, each with its share of the budget before what is left goes around."""
    titles: Mapping[SectionKey, str]
    guide: str = ""
    """What its readers are told first."""
    notes: Mapping[SectionKey, str] = field(default_factory=dict)
    """What they are told of a section."""
    reach: bool = False
    """Whether entries say how a user's input gets there."""

    def cautious(self, caution: str) -> "Form":
        """The same with a caution on what the project does on purpose or not at all."""
        keys: tuple[SectionKey, ...] = ("intentional_deviations", "unsupported_features")
        told = {key: f"{self.notes[key]} {caution}" for key in keys if key in self.notes}
        return replace(self, notes={**self.notes, **told})


FINDERS = Form(
    title="The project",
    shares={
        "purpose": 0.08, "architecture": 0.26, "public_api": 0.24, "supported_inputs": 0.14,
        "error_handling": 0.08, "intentional_deviations": 0.10, "unsupported_features": 0.10,
    },
    titles=_TITLES,
)  # fmt: skip
"""``context.md``."""

PANEL = Form(
    title="The project, for judging findings",
    shares={
        "purpose": 0.06, "public_api": 0.24, "supported_inputs": 0.14, "error_handling": 0.08,
        "intentional_deviations": 0.16, "unsupported_features": 0.16, "architecture": 0.16,
    },
    titles={
        **_TITLES,
        "public_api": "Public entry points",
        "architecture": "Modules, and how a user's input gets there",
    },
    guide="For whoever judges a finding in this project: whether an input can get to the code from "
    "outside, and whether the behaviour there is wrong, intended, or out of scope. The code itself has "
    "the last word, and what is not listed here is not thereby excluded.",
    notes={
        "public_api": "A defect counts when a caller or user can reach it from here, through documented "
        "use.",
        "supported_inputs": "Wrong behaviour counts on input of these kinds.",
        "error_handling": "A clean error of these kinds, on input that is not supported, is no defect.",
        "intentional_deviations": "On purpose: a finding that describes exactly this behaviour is no "
        "defect. One that only touches the same code is to be judged by itself.",
        "unsupported_features": "Out of scope: a finding that needs one of these is no defect. Wrong "
        "results without any error, on input that the project accepts, may still be one.",
    },
    reach=True,
)  # fmt: skip
"""``panel_context.md``."""


class Fitted(NamedTuple):
    """The entries of a section that there is room for."""

    entries: Sequence[Entry]
    left_out: int


@dataclass(frozen=True, slots=True)
class Rendered:
    """A document as text."""

    text: str
    tokens: int
    sections: Mapping[SectionKey, Fitted]


def render(document: Document, origin: str, budget: int, form: Form) -> Rendered:
    """A document as Markdown.

    Args:
        document: its sections; empty ones are left out.
        origin: who wrote it, and from what.
        budget: tokens (cl100k_base), at most; what there is no room for is left out by rank, and
            counted. A head that is longer by itself is printed all the same.
        form: which variant.
    """
    head = f"# {form.title}\n\n{origin}" + (f"\n\n{form.guide}" if form.guide else "")
    room = budget - count_tokens(head) - 8
    while True:
        fitted = _fit(document, room, form)
        parts = [
            head,
            *(section_text(key, fitted[key], form) for key in form.shares if key in fitted),
        ]
        text = "\n\n".join(parts) + "\n"
        tokens = count_tokens(text)
        if tokens <= budget or not fitted:
            return Rendered(text, tokens, fitted)
        room -= tokens - budget + 1


def _fit(document: Document, budget: int, form: Form) -> dict[SectionKey, Fitted]:
    """Choose the entries that there is room for: each section's share first, then what is left.

    Within a section the lowest ranks win; one that does not fit does not stop a shorter one.
    """
    given = [key for key in form.shares if document.get(key)]
    costs = {key: [count_tokens(_line(one, form)) + 1 for one in document[key]] for key in given}
    kept: dict[SectionKey, set[int]] = {key: set() for key in given}
    left = budget - sum(_RESERVE + count_tokens(form.notes.get(key, "")) for key in given)
    used = 0
    for key in given:
        used += _take(document[key], costs[key], kept[key], int(left * form.shares[key]))
    for key in _LEFT_OVER:
        if key in kept:
            used += _take(document[key], costs[key], kept[key], left - used)
    return {
        key: Fitted(
            [entry for number, entry in enumerate(document[key]) if number in kept[key]],
            len(document[key]) - len(kept[key]),
        )
        for key in given
        if kept[key]
    }


def _take(entries: Sequence[Entry], costs: Sequence[int], kept: set[int], room: int) -> int:
    used = 0
    for number in sorted(range(len(entries)), key=lambda number: (entries[number].rank, number)):
        if number not in kept and costs[number] <= room - used:
            kept.add(number)
            used += costs[number]
    return used


def section_text(key: SectionKey, fitted: Fitted, form: Form) -> str:
    """A section with its heading."""
    parts = [f"## {form.titles[key]}\n"]
    if key in form.notes:
        parts.append(f"{form.notes[key]}\n")
    shallow = min(entry.depth for entry in fitted.entries)
    after_item = False
    for entry in fitted.entries:
        text = _line(replace(entry, depth=entry.depth - shallow), form)
        parts.append(f"\n{text}" if after_item and entry.prose else text)
        after_item = not entry.prose
    if fitted.left_out:
        parts.append(f"- and {fitted.left_out} more, left out for want of room")
    return "\n".join(parts).rstrip("\n")


def _line(entry: Entry, form: Form) -> str:
    """An entry as it is printed."""
    where = f" ({entry.where})" if entry.where else ""
    reach = f" — {entry.panel}" if form.reach and entry.panel else ""
    if entry.prose:
        # what is quoted cannot begin a section of its own
        return f"{entry.text.lstrip('#> ')}{where}{reach}\n"
    indent = "  " * entry.depth
    body = entry.text.replace("\n", f"\n{indent}  ")
    return f"{indent}- {body}{where}{reach}"
