"""One hunk's edit: guards, conditions, small replacements, against new names and entries."""

import re
from dataclasses import dataclass, field
from itertools import zip_longest

from probe.reference.classify_lines import Lines, Style

_MOST_TOKENS = 3000
_TOKEN = re.compile(
    r"[A-Za-z_$][\w$]*|\d[\w.]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`|\?\?=?|\?\."
    r"|[=!<>]=+|&&|\|\||=>|->|\*\*|[^\w\s]"
)
_CLOSING = frozenset(")]}")
_NAME = re.compile(r"^[A-Za-z_$][\w$]*$")
_LITERAL = re.compile(r"^(?:\d|[\"'`]|-\d)")
_OPERATOR = frozenset(
    {"==", "!=", "===", "!==", "<", ">", "<=", ">=", "&&", "||", "and", "or", "not", "is", "in", "+",
     "-", "*", "/", "%", "**", "!", "|", "&", "^", "??", "?.", "?"}
)  # fmt: skip
_CONDITION = re.compile(
    r"^(?:\}?\s*else\s+if|\}?\s*elif|if|elif|while|unless|assert|and|or|not|&&|\|\||match|case|\?|:)\b"
    r"|^(?:&&|\|\||\?|:)\s|\bif\b.*\belse\b|\s\?\s.*\s:\s|\?\?|\breturn\b.*(?:\band\b|\bor\b|&&|\|\||==|!=)"
)
_IF = re.compile(r"^(?:\}?\s*else\s+|\}\s*)?(?:if|elif)\b|^\}?\s*else if\b")
_EXIT = re.compile(
    r"^(?:return|continue|break|raise|throw)\b|\)\s*(?:return|continue|break|throw)\b"
)
_NULL = re.compile(
    r"\bis (?:not )?None\b|[!=]==? ?(?:null|undefined)\b|\?\.|\?\?|\bisinstance\(|\btypeof\b|\bhasattr\("
    r"|\binstanceof\b|\bgetattr\([^)]*,[^)]*,|\.get\([^)]*,|\blen\([^)]*\) ?[<>=!]|\.length ?[<>=!]"
    r"|\bif not \w|\bif \(!\w|\bor (?:\[\]|\{\}|\"\"|0|None)|\|\| (?:\[\]|\{\}|''|\"\"|0)"
    r"|\bNumber\.is\w+\(|\bhasOwn\w*\(|\bObject\.create\(null|\bin visited\b"
)
_RAISE = re.compile(r"^(?:raise|throw)\b|\bnew \w*Error\(|\braise_error\(|\breject\(")
_CATCH = re.compile(r"^\}?\s*(?:try|except|catch|finally|with suppress)\b|\.catch\(|raises=")
_WARN = re.compile(
    r"\b(?:logger?\w*|warnings|console)\.?(?:_?warn(?:ing)?|error)\b|\blogger_warning\("
)
_DEFINITION = re.compile(
    r"^(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?"
    r"(?:def|class|function\*?|interface|type|enum|namespace)\s+(?P<name>[A-Za-z_$][\w$]*)"
    r"|^export\s+(?:const|let|var)\s+(?P<const>[\w$]+)"
    r"|^(?:pub(?:\([^)]*\))?\s+)?(?:fn|struct|trait)\s+(?P<rust>\w+)"
)
_ENTRY = re.compile(
    r"^(?:\"[^\"]*\"|'[^']*'|\*{0,2}[\w.$]+|\[[\w.]+\])\s*:\s*\S.*[,({\[]$|^[\w.]+\.[\w.]+,$|^\"[^\"]*\",$|^'[^']*',$"
    r"|^[A-Z][A-Z0-9_]*\s*(?::\s*[\w.\[\], ]+)?=\s*\S|^[A-Z_]+ = auto\(\)|^\"[^\"]*\":\s*\S.*$|^\|\s*['\"\w<>\[\]]+$"
)
_OPTION = re.compile(
    r"^(?:readonly\s+)?\w+\?\s*:\s*\S|^\w+\s*:\s*[\w.\[\]| ,\"]+=\s*(?:None|True|False|\"|\d|\w)[^=]*,?$"
)
_PY_ANNOTATION = re.compile(
    r"\s*->\s*[\w.\[\], |\"']+(?=:)|(?<=[\w\])])\s*:\s*[\w.]+(?:\[[^=]*?\])?(?:\s*\|\s*[\w.\[\]]+)*(?=\s*[,=)]|$)"
    r"|\s*#\s*(?:type: ignore|noqa).*$|\bt?\.?cast\([^,]+,\s*"
)
_ANNOTATED = re.compile(
    r"^(?:async\s+)?def\s|^(?:self\.)?\*{0,2}\w+\s*(?::|=|,|$)|^\)\s*(?:->|:)|# (?:type: ignore|noqa)|\bcast\("
)
_DEPRECATED = re.compile(
    r"\b(?:Pending)?DeprecationWarning\b|\bFutureWarning\b|@deprecated\b|\.\. deprecated::"
)
_CACHE = re.compile(
    r"(?:\b|_)(?:memo(?:ize[ds]?|ized)?|lru_?cache|cached?|caches)(?:\b|_|[A-Z])|[a-z](?:Cached?|Memo)(?:\b|[A-Z])"
)
_STATE = ("_", "visited", "seen", "depth", "stack")
"""Parameters that carry a recursion's state are no options."""


@dataclass(slots=True)
class Edit:
    """What one hunk does to code."""

    removed: tuple[str, ...]
    added: tuple[str, ...]
    formatting: bool
    """Both sides hold the same tokens."""
    signals: set[str] = field(default_factory=set)
    swaps: tuple[tuple[str, str], ...] = ()
    """``(old, new)`` names where the sides differ in names only; empty otherwise."""
    moved: int = 0
    """Lines found again in another hunk."""


def read_edit(lines: Lines, style: Style) -> Edit:
    """Observe one hunk's stripped sides."""
    old, new = tokens(lines.removed), tokens(lines.added)
    edit = Edit(lines.removed, lines.added, _same_layout(old, new, lines))
    if edit.formatting:
        return edit
    _observe_additions(edit, lines)
    if lines.removed and lines.added:
        _observe_replacement(edit, old, new, style)
    return edit


def tokens(lines: tuple[str, ...]) -> list[str]:
    """Tokens of some lines, quotes normalised, at most a few thousand."""
    found: list[str] = []
    for line in lines:
        found.extend(_TOKEN.findall(line))
        if len(found) > _MOST_TOKENS:
            break
    return [f'"{t[1:-1]}"' if t[0] == "'" else t for t in found]


def _same_layout(old: list[str], new: list[str], lines: Lines) -> bool:
    """Whether only line breaks, semicolons, trailing commas or wrapping parentheses differ."""
    if not old or not new:
        return not old and not new
    old, new = _without_layout(old), _without_layout(new)
    if old == new:
        return True
    if len(lines.removed) == len(lines.added) and "=>" not in old:
        return False
    return [t for t in old if t not in "()"] == [t for t in new if t not in "()"]


def _without_layout(found: list[str]) -> list[str]:
    following = [*found[1:], ")"]
    return [
        this
        for this, after in zip(found, following, strict=True)
        if this not in {";", "\\"} and not (this == "," and after in _CLOSING)
    ]


def _observe_additions(edit: Edit, lines: Lines) -> None:
    signals, removed_text = edit.signals, "\n".join(lines.removed)
    guards = exits = False
    names = {_name(line) for line in lines.removed} - {None}
    entries = 0
    for line in lines.added:
        if line in removed_text:
            continue
        guards = guards or bool(_IF.match(line))
        exits = exits or bool(_EXIT.search(line))
        if _NULL.search(line):
            signals.add("checks a value")
        if _RAISE.search(line):
            signals.add("raises")
        if _CATCH.search(line):
            signals.add("catches")
        if _WARN.search(line):
            signals.add("warns")
        if _DEPRECATED.search(line):
            signals.add("deprecates")
        if _CACHE.search(line) and not _CACHE.search(removed_text):
            signals.add("caches")
        name = _name(line)
        if name and name not in names:
            signals.add("private helper" if name.startswith("_") else "new definition")
        elif _OPTION.match(line) and not line.startswith(_STATE):
            signals.add("new option")
        elif _ENTRY.match(line):
            entries += 1
    if guards:
        signals.add("guard" if exits or "raises" in signals else "new branch")
    if entries and entries * 2 >= len(lines.added) and not lines.removed:
        signals.add("new entries")


def _name(line: str) -> str | None:
    match = _DEFINITION.match(line)
    return (match["name"] or match["const"] or match["rust"]) if match else None


def _observe_replacement(edit: Edit, old: list[str], new: list[str], style: Style) -> None:
    signals = edit.signals
    gone, come = middle(old, new)
    if any(map(_CONDITION.search, edit.removed)) and any(map(_CONDITION.search, edit.added)):
        signals.add("condition changed")
    if style == "hash" and _differs_in_types(edit.removed, edit.added):
        signals.add("annotation")
    if len(gone) + len(come) <= 14:
        signals.add("small replacement")
        if any(map(_LITERAL.match, gone)) and any(map(_LITERAL.match, come)):
            signals.add("literal changed")
        if (_OPERATOR & set(gone)) != (_OPERATOR & set(come)):
            signals.add("operator changed")
    if len(old) == len(new):
        pairs = [(a, b) for a, b in zip_longest(old, new) if a != b]
        if all(a and b and _NAME.match(a) and _NAME.match(b) for a, b in pairs):
            edit.swaps = tuple(pairs)


def _differs_in_types(removed: tuple[str, ...], added: tuple[str, ...]) -> bool:
    changed = set(removed) ^ set(added)
    if not all(_ANNOTATED.search(line) and "lambda" not in line for line in changed):
        return False
    return _strip_types(removed) == _strip_types(added)


def _strip_types(lines: tuple[str, ...]) -> str:
    return re.sub(r"[\s,()]+", "", _PY_ANNOTATION.sub("", " ".join(lines)))


def middle(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Both token lists without their common beginning and end."""
    first = 0
    shortest = min(len(old), len(new))
    while first < shortest and old[first] == new[first]:
        first += 1
    last = 0
    while last < shortest - first and old[-1 - last] == new[-1 - last]:
        last += 1
    return old[first : len(old) - last], new[first : len(new) - last]
