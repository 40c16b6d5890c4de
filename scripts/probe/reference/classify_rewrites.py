"""Edits that write the same program in other words, or change no more than what it says.

Linters, modernisers and spell checkers touch code that behaves as before. Each question here is
asked about all edits of a commit together: one edit of another kind, and the answer is no.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from probe.reference.classify_hunks import Edit, middle, tokens

_SPELLINGS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), new)
    for pattern, new in (
        (r"\.keys\(\)(?=\s*(?:[:)\]]|$|for\b))", ""),
        (r"\b(?:list|set)\(\[?([^\[\]]*\bfor\b.*?)\]?\)", r"[\1]"),
        (r"\{([^{}:]*\bfor\b[^{}:]*)\}", r"[\1]"),
        (r"\b(\w+)\(\[([^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\bfor\b.*)\]\)", r"\1(\2)"),
        (r"\b(?!(?:self|this|cls|super)\b)[a-z_]\w*\.(?=[A-Za-z_]\w*\()", ""),
        (r"\bne\((\w+), (\w+)\)", r"\1 != \2"),
        (r"\beq\((\w+), (\w+)\)", r"\1 == \2"),
        (r"\btype\((\w+)\) (==|!=|is not|is) ", r"isa(\1) "),
        (r"\b(?:list|dict|tuple)\(\)", "[]"),
        (r"\{\}", "[]"),
        (r"\bclass (\w+)\(object\):", r"class \1:"),
        (r"\bsuper\(\w+, (?:self|cls)\)", "super()"),
        (r"\b(?:var|let|const) ", "let "),
        (r"\bsubstr(?:ing)?\(0, ", "slice(0, "),
        (r"\.indexOf\(([^()]*)\) (?:!== -1|>= 0|> -1)", r".includes(\1)"),
    )
)  # fmt: skip
_FORMATTED = re.compile(r"\.format\(|\.join\(|[\"'] ?%|[\"'`] ?\+|\+ ?[\"'`]|\bf[\"']|`[^`]*\$\{")
_INTERPOLATED = re.compile(r"\b[rb]?f[\"']|`[^`]*\$\{")
_WORD = re.compile(r"[A-Za-z_]\w*")
_FORMATTING_WORDS = frozenset({"format", "join", "str", "String", "f", "r", "s", "d", "rf", "fr"})
_PROSE = re.compile(r"[A-Za-z][a-z']+,? (?:[A-Za-z`'{}.!]+,? )+[A-Za-z{}'`]")
_STRING_PREFIX = frozenset({"f", "r", "b", "u", "rf", "fr"})
_LONGEST_SWAP = 8
_FEWEST_SWAPS = 4


def same_code(edits: Sequence[Edit]) -> bool:
    """Whether every edit only respells what was there: comprehensions, f-strings, declarations."""
    return bool(edits) and all(_is_respelled(edit) for edit in edits)


def _is_respelled(edit: Edit) -> bool:
    if not edit.removed or not edit.added:
        return False
    old, new = "\n".join(edit.removed), "\n".join(edit.added)
    if _FORMATTED.search(old) and _INTERPOLATED.search(new):
        return _names(old) == _names(new)
    return _spell(edit.removed) == _spell(edit.added)


def _spell(lines: Iterable[str]) -> list[str]:
    found = []
    for line in lines:
        text = line
        for pattern, new in _SPELLINGS:
            text = pattern.sub(new, text)
        found.append(text)
    return tokens(tuple(found))


def _names(text: str) -> Counter[str]:
    """Words inside and outside strings, since interpolation moves them across the quotes."""
    return Counter(word for word in _WORD.findall(text) if word not in _FORMATTING_WORDS)


def only_wording(edits: Sequence[Edit]) -> bool:
    """Whether nothing but sentences inside strings changes: messages, help, warnings."""
    return bool(edits) and all(
        edit.removed and edit.added and _without_prose(edit.removed) == _without_prose(edit.added)
        for edit in edits
    )


def _without_prose(lines: tuple[str, ...]) -> list[str]:
    kept: list[str] = []
    for token in tokens(lines):
        if token[0] in '"`' and _PROSE.search(token):
            if kept and kept[-1] in _STRING_PREFIX:
                kept.pop()
            if not kept or kept[-1] != '"':
                kept.append('"')
        else:
            kept.append(token)
    return kept


def same_rewrite(edits: Sequence[Edit]) -> bool:
    """Whether the same few tokens are swapped for the same others again and again, and no more."""
    swaps: Counter[tuple[tuple[str, ...], tuple[str, ...]]] = Counter()
    for edit in edits:
        if len(edit.removed) != len(edit.added):
            return False
        for old, new in zip(edit.removed, edit.added, strict=True):
            gone, come = middle(tokens((old,)), tokens((new,)))
            if not gone and not come:
                continue
            if len(gone) + len(come) > _LONGEST_SWAP:
                return False
            swaps[_swap(gone, come)] += 1
    total = swaps.total()
    return total >= _FEWEST_SWAPS and len(swaps) <= total // _FEWEST_SWAPS


def _swap(gone: list[str], come: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """A swap that only changes the case of letters counts as one kind, whatever the letters."""
    if [token.lower() for token in gone] == [token.lower() for token in come]:
        return ("case",), ("case",)
    return tuple(gone), tuple(come)
