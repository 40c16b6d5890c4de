"""What input is meant to work, which errors are meant to come, and what is on purpose or missing."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from probe.context.comments import first_sentence
from probe.context.entry import Entry
from probe.context.manual import Manual
from probe.context.metadata import Package
from probe.context.parsed import Code
from probe.context.sources import Sources
from probe.context.statements import (
    UNSUPPORTED,
    Statement,
    Wording,
    any_of,
    code_statements,
    cut,
    manual_statements,
)

MOST_STATEMENTS = 60
"""Statements of one kind that are offered to the document."""
MOST_INPUTS = 30
"""The same for what is supported, which every manual is full of."""
FEW_PAGES = 8
"""Pages of a small manual, at most."""
_EXAMPLE_LINES = 14
_MOST_EXAMPLES = 2

INPUTS = Wording(
    any_of(
        r"\bsupports?\b",
        r"\baccepts?\b",
        r"\bcompatible with\b",
        r"\bmust be\b",
        r"(?<!should )(?<!would )(?<!'d )\bexpects?\b",
        r"\bcan be (?:a|an|any|either|one of)\b",
        r"\bcan (?:parse|read|handle|load|process|decode|validate)\b",
        r"\bvalid values?\b",
    ),
    any_of(r"\brequires?\b", r"\bmay be\b", r"\bdefaults? to\b", r"\bworks? (?:with|on|in)\b"),
    any_of(
        r"^supported\b",
        r"^(?:browser|platform|runtime|version)s? support\b",
        r"^requirements?$",
        r"^(?:input|file|data) formats?\b",
        r"^what (?:is|does it) support",
        r"^compatibility$",
    ),
)
ERRORS = Wording(
    any_of(
        r"\b(?:raises?|throws?)\b",
        r"\b(?:is|are|be|gets?) (?:raised|thrown|rejected)\b",
        r"\bexceptions?\b.{0,40}\b(?:handl|caught|propagat)\w*\b",
        r"\berror (?:level|handler|handling|mode)s?\b",
        r"\bstrict(?: mode)?\b.{0,60}\b(?:error|raise|throw|warn)\w*\b",
    ),
    any_of(r"\bwarnings?\b", r"\berrors?\b", r"\breject(?:s|ed)?\b"),
    any_of(r"\b(?:errors?|exceptions?|failures?|robustness|strict mode)\b"),
)


def scope(
    sources: Sources, code: Code, manual: Manual, wording: Wording, seen: set[str]
) -> list[Entry]:
    """Statements of one kind, of the manual and beside the code; none that was taken before.

    Args:
        sources: the snapshot.
        code: its syntax.
        manual: its manual.
        wording: which kind.
        seen: what was taken already; added to.
    """
    found = [*manual_statements(manual, wording), *code_statements(sources, code, wording)]
    return _entries(sorted(found, key=lambda one: one.weight), seen)


def supported_inputs(manual: Manual, packages: Sequence[Package], seen: set[str]) -> list[Entry]:
    """Interpreters, examples of ordinary use, and what the manual says of input."""
    found = [
        Entry(
            f"{one.name or one.source} runs on {', '.join(one.requires)}", one.source, (one.source,)
        )
        for one in packages[:6]
        if one.requires
    ]
    found += _examples(manual)
    said = [
        one
        for one in manual_statements(manual, INPUTS)
        if not (UNSUPPORTED.strong.search(one.text) or UNSUPPORTED.weak.search(one.text))
    ]
    short = [one for one in said if not one.text.rstrip().endswith(":")]
    return found + _entries([*short[:MOST_INPUTS], *_openings(manual)], seen, first_rank=4)


def _openings(manual: Manual) -> list[Statement]:
    """The first paragraph of each page of a small manual: what it is about is often a kind of input.

    A large manual has pages about everything, and sentences enough.
    """
    found: list[Statement] = []
    if sum(not page.is_readme for page in manual.pages) > FEW_PAGES:
        return found
    for page in manual.pages:
        blocks = (block for section in page.sections[:3] for block in section.blocks)
        first = next((one for one in blocks if one.kind == "text" and len(one.text) > 40), None)
        if first is not None and not page.is_readme and not first.text.endswith(":"):
            found.append(Statement(cut(first.text), page.path, first.line, 3))
    return found


def _examples(manual: Manual) -> Iterator[Entry]:
    """The first examples in code of the README: what ordinary use looks like."""
    readme = manual.readme
    found = 0
    for section in readme.sections if readme is not None else ():
        for block in section.blocks:
            lines = block.text.splitlines()
            if block.kind != "code" or len(lines) < 2 or _INSTALLS.search(block.text):
                continue
            shown = "\n".join(lines[:_EXAMPLE_LINES] + ["…"] * (len(lines) > _EXAMPLE_LINES))
            where = f"{readme.path}:{block.line}" if readme else ""
            text = f"Ordinary use ({where}):\n```\n{shown.replace('```', '` ` `')}\n```"
            yield Entry(text, "", (readme.path,) if readme else (), 2 + found)
            found += 1
            if found == _MOST_EXAMPLES:
                return


_INSTALLS = re.compile(
    r"\b(?:pip3?|npm|yarn|pnpm|bun|deno|conda|brew|apt|git|cd|make|npx|tox|nox|docker)\s+[a-z]|<script|<link",
)
_ERROR = re.compile(
    r"^[ \t]*(?:export\s+)?(?:default\s+)?(?:abstract\s+)?class\s+(\w*(?:Error|Exception|Warning|Failure)\w*|\w+)"
    r"\s{0,20}(?:<[^>{]{0,300}>)?\s{0,20}(?:\(([^)]{0,400})\)|extends\s+([\w.$]+))",
    re.MULTILINE,
)
_ERROR_NAME = re.compile(r"(?:Error|Exception|Warning|Failure)$")
_RAISED = re.compile(r"\braise\s+([A-Z][\w.]*)|\bthrow\s+(?:new\s+)?([A-Z][\w.]*)")


def error_handling(sources: Sources, code: Code, manual: Manual, seen: set[str]) -> list[Entry]:
    """The project's own error classes, what is raised most, and what the manual says of errors."""
    raised: Counter[str] = Counter()
    classes: dict[str, list[tuple[str, str, int]]] = defaultdict(list)
    for file in sources.audited:
        text = sources.text(file.path)
        names = (one or other for one, other in _RAISED.findall(text))
        raised.update(name for name in names if not name.isupper())
        for found in _ERROR.finditer(text):
            bases = " ".join((found[2] or found[3] or "").split())
            if any(_ERROR_NAME.search(word) for word in (found[1], *re.findall(r"\w+", bases))):
                line = text.count("\n", 0, found.start(1)) + 1
                classes[file.path].append((found[1], bases, line))
    entries = _classes(code, classes)
    if raised:
        listed = [f"`{name}` ×{count}" for name, count in _most_common(raised, 12)]
        entries.append(Entry(f"Raised in the sources most often: {', '.join(listed)}", rank=1))
    return entries + _entries(manual_statements(manual, ERRORS), seen, first_rank=2)


def _classes(code: Code, classes: dict[str, list[tuple[str, str, int]]]) -> list[Entry]:
    entries = []
    for rank, (path, found) in enumerate(
        sorted(classes.items(), key=lambda one: (-len(one[1]), one[0]))
    ):
        said = []
        for name, bases, line in found:
            told = _told(code, path, line)
            said.append(f"`{name}({bases})`{f': {told}' if told and len(found) < 30 else ''}")
        for start in range(0, len(said), 8):
            text = "Errors of its own: " + "; ".join(said[start : start + 8])
            entries.append(Entry(text, f"{path}:{found[start][2]}", (path,), rank + start // 8))
    return entries


def _told(code: Code, path: str, line: int) -> str:
    for comment in code.comments(path):
        inside = comment.is_string and line < comment.line <= line + 3
        if inside or (not comment.is_string and comment.last == line - 1):
            return first_sentence(comment.text, 110).rstrip(".")
    return ""


def _most_common(count: Counter[str], most: int) -> list[tuple[str, int]]:
    return sorted(count.items(), key=lambda one: (-one[1], one[0]))[:most]


def _entries(said: Sequence[Statement], seen: set[str], first_rank: int = 0) -> list[Entry]:
    """Statements as entries; places that an earlier section has quoted are passed over."""
    found: list[Entry] = []
    here: set[str] = set()
    for one in said:
        keys = {f"{one.path}:{one.line}", re.sub(r"\W+", " ", one.text.lower())}
        if keys & seen:
            continue
        here |= keys
        unit = f", `{one.unit}`" if one.unit else ""
        where = f"{one.path}:{one.line}{unit}"
        found.append(Entry(one.text, where, (one.path,), first_rank + len(found)))
        if len(found) == MOST_STATEMENTS:
            break
    seen |= here
    return found
