"""Changed lines without what no program reads: blanks, comments, docstrings, imports, versions.

Works on the lines of a hunk alone: most diffs never need their files. Where a hunk starts inside
a docstring, prose gives it away (two plain words never stand side by side in code).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from probe.git.diff import Hunk

Style = Literal["hash", "slash", "dash", "none"]

_STYLES: dict[str, Style] = {
    **dict.fromkeys((".py", ".pyi", ".pyx", ".pxd", ".sh", ".rb", ".ex", ".exs"), "hash"),
    **dict.fromkeys(
        (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".rs", ".c", ".h", ".cc",
         ".cpp", ".hpp", ".go", ".java", ".kt", ".swift", ".cs", ".scala", ".php", ".scss", ".less",
         ".css", ".flow", ".vue", ".svelte"),
        "slash",
    ),
    **dict.fromkeys((".sql", ".lua"), "dash"),
}  # fmt: skip
_COMMENT_LINE: dict[Style, re.Pattern[str]] = {
    "hash": re.compile(r"^#(?!!)"),
    "slash": re.compile(r"^(?://|/\*|\*/|\*(?:\s|$)|<!--)"),
    "dash": re.compile(r"^--"),
    "none": re.compile(r"^<!--"),
}
_COMMENT_TAIL: dict[Style, re.Pattern[str]] = {
    "hash": re.compile(r"\s+#\s?[^'\"]*$"),
    "slash": re.compile(r"\s+//\s?[^'\"`]*$"),
    "dash": re.compile(r"\s+--\s[^'\"]*$"),
    "none": re.compile(r"(?!)"),
}
_TRIPLE = re.compile(r"\"\"\"|'''")
_STRINGS = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`")
_KEYWORDS = (
    "if else for in is not and or return lambda yield from import as with async await raise assert"
    " del while elif except class def pass new typeof instanceof const let var function extends"
    " export default type interface static public private protected readonly keyof infer of case"
    " throw match unsafe pub fn mut impl struct enum use where declare abstract override get set"
    " namespace module asserts unique symbol satisfies implements do end local then global nonlocal"
)
_WORD = rf"(?!(?:{'|'.join(_KEYWORDS.split())})\b)[A-Za-z][a-z'’-]*[a-z]"
_PROSE = re.compile(
    rf"(?:^|\s)(?:{_WORD} ){{2}}{_WORD}(?=[\s.,;:)!?]|$)"
    rf"|(?:^|\s){_WORD} (?:the|an?|to|be|are|was|which|that|this|should|will|can|when) [`*:]*{_WORD}\b"
)
_DOC_LINE = re.compile(
    r"^(?:\.\. |:(?:param|return|raise|type|issue|pr)|>>> |\.\.\. |https?://"
    r"|\*{0,2}\w+(?:, \*{0,2}\w+)* : [^=]+$"
    r"|[\w*]+(?: \([\w, ]+\))?: [A-Z][a-z]+ [a-z]+\b)"
)
_IMPORT = re.compile(
    r"^(?:from\s+[\w.]+\s+c?import\b|import\b(?!\s*\()"
    r"|use\s+[\w:]+|(?:const|let|var)\s+[\w{},\s]+=\s*require\()"
)
_IMPORT_SECTION = re.compile(r"^(?:from\s+\S+\s+import|import)\b[^()]*(?:\(|\{)?\s*[\w,\s]*$")
_IMPORT_NAME = re.compile(r"^(?:type\s+)?\w+(?:\s+as\s+\w+)?,?$|^[)}](?:\s*from\s+\S+)?$")
_VERSION = re.compile(
    r"^(?:export\s+)?(?:const\s+|static\s+)?[\"']?_*(?:[A-Z_]*version(?:_info|_tuple)?_*|USER_AGENT)"
    r"[\"']?\s*(?::\s*\w+\s*)?[:=]\s*(?:\"[^\"]*\d[^\"]*\"|'[^']*\d[^']*'|`[^`]*\d[^`]*`|\([\d, ]+\)),?;?$"
    r"|^version\s*=\s*\"[\d.]+\"$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Lines:
    """One hunk's sides after stripping."""

    removed: tuple[str, ...]
    added: tuple[str, ...]
    comments: tuple[str, ...]
    """Added comment and docstring lines, as they stand."""
    imports: int
    """Removed and added import lines."""
    versions: int
    """Removed and added lines that only set a version."""


def style_of(path: str) -> Style:
    """Comment syntax by the path's ending."""
    return _STYLES.get(PurePosixPath(path).suffix.lower(), "none")


def tail_of(style: Style) -> re.Pattern[str]:
    """Pattern of a comment after code on the same line."""
    return _COMMENT_TAIL[style]


def strip_hunk(hunk: Hunk, style: Style) -> Lines:
    """Both sides of a hunk, without what changes no behaviour."""
    in_imports = bool(_IMPORT_SECTION.match(hunk.section))
    removed = _Side(style, in_imports).read(hunk.removed)
    added = _Side(style, in_imports).read(hunk.added)
    return Lines(
        tuple(removed.code),
        tuple(added.code),
        tuple(added.comments),
        removed.imports + added.imports,
        removed.versions + added.versions,
    )


class _Side:
    def __init__(self, style: Style, in_imports: bool) -> None:
        self.style = style
        self.in_imports = in_imports
        self.code: list[str] = []
        self.comments: list[str] = []
        self.imports = 0
        self.versions = 0
        self._quoting = False
        self._importing = False

    def read(self, lines: Iterable[str]) -> "_Side":
        comment, tail = _COMMENT_LINE[self.style], tail_of(self.style)
        for line in map(str.strip, lines):
            if not line:
                continue
            if not self._quoting and self._is_import(line):
                self.imports += 1
            elif self._is_comment(line, comment):
                self.comments.append(line)
            elif _VERSION.match(line):
                self.versions += 1
            else:
                self.code.append(tail.sub("", line))
        return self

    def _is_comment(self, line: str, comment: re.Pattern[str]) -> bool:
        if self.style == "hash":
            if '"""' in line or "'''" in line:
                return self._is_quote(line)
            if self._quoting:
                return True
        return bool(comment.match(line)) or self._is_prose(tail_of(self.style).sub("", line))

    def _is_quote(self, line: str) -> bool:
        marks = len(_TRIPLE.findall(line))
        opens = line.startswith(('"""', "'''", 'r"""', 'f"""'))
        was_quoting = self._quoting
        if marks % 2:
            self._quoting = not self._quoting and opens and len(line.rstrip("\"'")) > 0
        return opens or was_quoting or (line.endswith(('"""', "'''")) and "=" not in line)

    def _is_prose(self, line: str) -> bool:
        if self.style != "hash":
            return False
        if _DOC_LINE.match(line):
            return True
        return " " in line and bool(_PROSE.search(_STRINGS.sub("0", line)))

    def _is_import(self, line: str) -> bool:
        if self.style not in ("hash", "slash"):
            return False
        if self._importing or self.in_imports:
            if _IMPORT_NAME.match(line):
                self._importing = self._importing and not line.startswith((")", "}"))
                return True
            self._importing = False
        if _IMPORT.match(line):
            self._importing = line.endswith(("(", "{"))
            return True
        return False
