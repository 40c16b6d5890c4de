"""How prose and code are cut into the pieces that the signals count."""

import re
from pathlib import PurePosixPath

_CODE_TOKEN = re.compile(r"[^\W\d]\w*|\d+(?:\.\d+)?|[^\w\s]{1,3}")
_BACKTICKED = re.compile(r"`+([^`\n]{1,120})`+")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_LOOKS_LIKE_CODE = re.compile(
    r"""
    (?<![\w$.])(?:
        [A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+     # dotted: a.b
      | [A-Za-z_$][\w$]*(?=\(\))                    # called: f()
      | [A-Za-z$]*_[\w$]*                           # snake_case, _private, __dunder__
      | [a-z$][a-z0-9$]*[A-Z][\w$]*                 # camelCase
      | [A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+           # PascalCase of at least two humps
      | [A-Z]{2,}[A-Z0-9]*(?!\w)                    # ALLCAPS
      | [A-Z]{2,}[a-z]\w*                           # HTTPError
    )
    """,
    re.VERBOSE,
)
_WORD = re.compile(r"[^\W\d]\w*|\d{2,}")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+|[^\W\dA-Za-z_]+|\d+")
_STOP_WORDS = frozenset(
    {
        "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "could", "do", "does",
        "for", "from", "had", "has", "have", "if", "in", "into", "is", "it", "its", "may", "must",
        "no", "not", "of", "on", "or", "should", "so", "such", "than", "that", "the", "their",
        "then", "there", "these", "they", "this", "to", "was", "were", "when", "where", "which",
        "while", "will", "with", "would",
    }
)  # fmt: skip
_SPACES = re.compile(r"\s+")


def snippet_tokens(snippet: str) -> frozenset[str]:
    """Names, numbers and operators of a piece of code, as written."""
    return frozenset(_CODE_TOKEN.findall(snippet))


def prose_identifiers(text: str) -> frozenset[str]:
    """Code identifiers named in prose, lower case, dotted names in their parts.

    A word counts when it stands in backticks or is written as only code is: with an underscore,
    a dot between names, a call's parentheses, or capitals inside. File endings don't count.
    """
    pieces = _BACKTICKED.findall(text) + _LOOKS_LIKE_CODE.findall(_BACKTICKED.sub(" ", text))
    names: set[str] = set()
    for piece in pieces:
        for name in _NAME.findall(piece):
            if len(name) > 1:
                names.add(name.lower())
    return frozenset(names)


def prose_words(text: str) -> list[str]:
    """Words of prose in lower case; names are cut at underscores and inner capitals too.

    The whole name stays beside its parts, so that naming the same function counts more than
    sharing a common part.
    """
    words: list[str] = []
    for name in _WORD.findall(text):
        whole = name.lower()
        parts = [part.lower() for part in _PART.findall(name)]
        words.append(whole)
        if len(parts) > 1:
            words.extend(parts)
    return [word for word in words if len(word) > 1 and word not in _STOP_WORDS]


def title_trigrams(title: str) -> frozenset[str]:
    """Character trigrams of a title in lower case, padded by two spaces on either side."""
    text = f"  {_SPACES.sub(' ', title.strip().lower())}  "
    return (
        frozenset(text[i : i + 3] for i in range(len(text) - 2)) if title.strip() else frozenset()
    )


def path_suffixes(path: str) -> tuple[str, ...]:
    """The trailing parts of a path, from the file's name to the whole: one per depth."""
    parts = PurePosixPath(path).parts
    return tuple("/".join(parts[-depth:]) for depth in range(1, len(parts) + 1))
