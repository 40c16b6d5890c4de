"""Which hunks of a fix can change behaviour, and which of their lines.

Only 17–32 % of the lines that a fix commit changes belong to the fix; whitespace, comments,
docstrings, imports, annotations and moved code make up much of the rest. They are told apart by
comparing the token streams of both sides.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Literal

from probe.code.languages import language_of
from probe.code.streams import Token, TokenKind, line_tokens
from probe.git.diff import FileDiff, Hunk

Weight = Literal["behaviour", "side", "none"]
"""``side``: imports, annotations and moved code, a fix only where the commit has nothing else."""
MIN_MOVED_TOKENS = 8
"""Shorter streams are equal by chance."""
MAX_TOKEN_PRODUCT = 4_000_000
"""Beyond it a token-wise diff takes seconds: words that occur on both sides then count as kept."""
MAX_LINE_PAIRS = 4_000_000
"""Equal lines of both sides of a hunk, at most, that a line-wise comparison looks at one by one."""
_WORD = re.compile(r"[^\W\d][\w$]*|\d+")
_COMMON_WORDS = frozenset(
    {
        "self", "cls", "this", "super", "return", "if", "else", "elif", "not", "and", "or", "in",
        "is", "for", "while", "None", "True", "False", "null", "undefined", "true", "false",
        "const", "let", "var", "def", "function", "new", "await", "async", "try", "except",
        "catch", "raise", "throw", "break", "continue", "pass", "as", "from", "import", "typeof",
        "instanceof", "void", "case", "lambda", "with", "yield", "del", "0", "1",
    }
)  # fmt: skip
_COMMENT_STARTS = ("#", "//", "/*", "*", "--", "<!--", "{#", ";;")
_SYMBOL_LINE = frozenset("()[]{}<>,;:'\"`=+-*/\\|&. \t")


@dataclass(frozen=True, slots=True)
class Change:
    """A part of a hunk that was refined to what really differs; lines are 1-based.

    ``old_start`` with no ``removed`` lines names the line after which the fix inserts, as in
    :class:`probe.git.diff.Hunk`.
    """

    old_start: int
    new_start: int
    removed: tuple[str, ...]
    added: tuple[str, ...]
    weight: Weight
    faulty: tuple[int, ...]
    """Removed lines that say something (code, not blanks, comments or brackets alone)."""
    lost: tuple[frozenset[str], ...]
    """For each of them the words that the other side does not keep: what the fix takes away.
    A line of which the fix keeps every word has an empty set."""
    extends: bool
    """The added tokens hold all removed ones in order: the fix only adds, whatever the layout."""
    removed_tokens: tuple[str, ...]
    added_tokens: tuple[str, ...]


def weigh_changes(file: FileDiff, old: bytes | None, new: bytes | None) -> list[Change]:
    """The changes of one file's diff with what each can do to behaviour.

    Args:
        file: the diff; a deleted file's hunks weigh ``side``, since its code went elsewhere.
        old: the file before, None where it is new or cannot be read.
        new: the file after, None where it is gone or cannot be read.

    Returns:
        In the order of the hunks; empty for binary files and submodules.
    """
    parts = [part for hunk in file.hunks for part in _refine(hunk)]
    language = language_of(file.change.path)
    unread = (old is None and any(part.removed for part in parts)) or (
        new is None and any(part.added for part in parts)
    )
    if language is None or unread:
        return [_weigh_text(part) for part in parts]
    old_tokens = line_tokens(language, old or b"", _old_lines(parts))
    new_tokens = line_tokens(language, new or b"", _new_lines(parts))
    changes = [_weigh_code(part, old_tokens, new_tokens) for part in parts]
    if file.change.status == "D":
        return [_with_weight(change, "side") for change in changes]
    return changes


def mark_moved(files: Sequence[Sequence[Change]]) -> list[list[Change]]:
    """Weigh code that a commit takes away in one place and adds in another as ``side``.

    Args:
        files: the changes of all files of one commit.
    """
    gone = Counter(c.removed_tokens for file in files for c in file if not c.added_tokens)
    come = Counter(c.added_tokens for file in files for c in file if not c.removed_tokens)
    moved = {stream for stream in gone if stream in come and len(stream) >= MIN_MOVED_TOKENS}
    return [
        [
            _with_weight(change, "side")
            if change.weight == "behaviour"
            and (
                (not change.added_tokens and change.removed_tokens in moved)
                or (not change.removed_tokens and change.added_tokens in moved)
            )
            else change
            for change in file
        ]
        for file in files
    ]


def _refine(hunk: Hunk) -> list[Hunk]:
    """Cut the lines that differ in whitespace alone out of a hunk, unless nothing else is left."""
    if not hunk.removed or not hunk.added:
        return [hunk]
    old = ["".join(line.split()) for line in hunk.removed]
    new = ["".join(line.split()) for line in hunk.added]
    if old == new or not set(old) & set(new):
        return [hunk]
    ends = _common_ends(old, new)
    counts = Counter(new)
    # Lines such as "}" pair with each other: in a file of new line ends that is a million pairs.
    autojunk = sum(counts[line] for line in old) > MAX_LINE_PAIRS
    middle = slice(ends[0], len(old) - ends[1]), slice(ends[0], len(new) - ends[1])
    matcher = SequenceMatcher(None, old[middle[0]], new[middle[1]], autojunk=autojunk)
    return [
        _part(hunk, *(ends[0] + n for n in span))
        for tag, *span in matcher.get_opcodes()
        if tag != "equal"
    ]


def _common_ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many lines both sides have in common at the start, and at the end of the rest."""
    shorter = min(len(old), len(new))
    start = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    rest = shorter - start
    return start, next((n for n in range(rest) if old[-1 - n] != new[-1 - n]), rest)


def _part(hunk: Hunk, i1: int, i2: int, j1: int, j2: int) -> Hunk:
    return Hunk(
        old_start=hunk.old_start + i1 - (i1 == i2),
        old_count=i2 - i1,
        new_start=hunk.new_start + j1 - (j1 == j2),
        new_count=j2 - j1,
        removed=hunk.removed[i1:i2],
        added=hunk.added[j1:j2],
        section=hunk.section,
    )


def _old_lines(parts: Iterable[Hunk]) -> Iterable[int]:
    return (part.old_start + i for part in parts for i in range(len(part.removed)))


def _new_lines(parts: Iterable[Hunk]) -> Iterable[int]:
    return (part.new_start + i for part in parts for i in range(len(part.added)))


def _weigh_code(part: Hunk, old: dict[int, list[Token]], new: dict[int, list[Token]]) -> Change:
    before = [(n, old.get(n, [])) for n in _old_lines([part])]
    after = [(n, new.get(n, [])) for n in _new_lines([part])]
    weight = _compare(
        [t for _, line in before for t in line], [t for _, line in after for t in line]
    )
    kinds: set[TokenKind] = {"code"} if weight == "behaviour" else {"code", "import", "annotation"}
    saying = [n for n, line in before if any(t.kind in kinds and _says(t.text) for t in line)]
    numbered = [(n, t.text) for n, line in before for t in line if t.kind in kinds]
    old_stream = tuple(text for _, text in numbered)
    new_stream = tuple(t.text for _, line in after for t in line if t.kind in kinds)
    return Change(
        part.old_start,
        part.new_start,
        part.removed,
        part.added,
        weight,
        tuple(saying),
        _lost_words(numbered, new_stream, saying),
        _is_subsequence(old_stream, new_stream),
        old_stream,
        new_stream,
    )


def _compare(before: Sequence[Token], after: Sequence[Token]) -> Weight:
    if _stream(before, {"code"}) != _stream(after, {"code"}):
        return "behaviour"
    side: set[TokenKind] = {"import", "annotation"}
    return "none" if _stream(before, side) == _stream(after, side) else "side"


def _stream(tokens: Iterable[Token], kinds: set[TokenKind]) -> list[tuple[str, int]]:
    return [(token.text, token.depth) for token in tokens if token.kind in kinds]


def _weigh_text(part: Hunk) -> Change:
    """Without a grammar: whitespace and lines that start as comments do in most languages."""
    before = [(part.old_start + i, line) for i, line in enumerate(part.removed)]
    removed = tuple(line for line in part.removed if not _is_comment(line))
    added = tuple(line for line in part.added if not _is_comment(line))
    saying = [(n, line) for n, line in before if not _is_comment(line) and _says(line)]
    return Change(
        part.old_start,
        part.new_start,
        part.removed,
        part.added,
        "none" if _squeeze(removed) == _squeeze(added) else "behaviour",
        tuple(n for n, _ in saying),
        _lost_words(
            [(n, word) for n, line in saying for word in words_of(line)],
            [word for line in part.added for word in words_of(line)],
            [n for n, _ in saying],
        ),
        _is_subsequence(
            [word for line in removed for word in words_of(line)],
            [word for line in added for word in words_of(line)],
        ),
        removed,
        added,
    )


def _squeeze(lines: Iterable[str]) -> str:
    return "".join(word for line in lines for word in line.split())


def _is_subsequence(short: Sequence[str], long: Sequence[str]) -> bool:
    rest = iter(long)
    return all(token in rest for token in short)


def words_of(text: str) -> list[str]:
    """Names and numbers in a text, without words that any line may hold."""
    return [word for word in _WORD.findall(text) if word not in _COMMON_WORDS]


def _lost_words(
    before: Sequence[tuple[int, str]], after: Sequence[str], lines: Sequence[int]
) -> tuple[frozenset[str], ...]:
    """Words of the tokens that a token-wise diff removes, for each line."""
    lost: dict[int, set[str]] = {line: set() for line in lines}
    old = [text for _, text in before]
    if len(old) * len(after) <= MAX_TOKEN_PRODUCT:
        matcher = SequenceMatcher(None, old, after, autojunk=False)
        gone = (
            i
            for tag, i1, i2, _, _ in matcher.get_opcodes()
            if tag != "equal"
            for i in range(i1, i2)
        )
    else:
        kept = set(after)
        gone = (i for i, text in enumerate(old) if text not in kept)
    for index in gone:
        line, text = before[index]
        if line in lost:
            lost[line].update(words_of(text))
    return tuple(frozenset(lost[line]) for line in lines)


def _is_comment(line: str) -> bool:
    stripped = line.strip()
    return not stripped or stripped.startswith(_COMMENT_STARTS)


def _says(text: str) -> bool:
    return not set(text) <= _SYMBOL_LINE


def _with_weight(change: Change, weight: Weight) -> Change:
    if change.weight != "behaviour":
        return change
    return replace(change, weight=weight)
