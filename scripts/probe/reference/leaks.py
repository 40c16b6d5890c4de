"""What in a report gives its fix away: such a report would make finding, or matching, too easy.

A report speaks of the snapshot. Six kinds of words do not:

- ``fix``: the repair itself, or the state after it (*was fixed by*, *the patch*, *now correctly*);
- ``commit``: a hash of a window commit, or a hash-like word beside *commit*;
- ``reference``: a pull request, issue or advisory, by number or address;
- ``identifier``: a name of the fix that the snapshot does not have (see
  :mod:`probe.reference.unseen`), written as code is;
- ``future``: future tense;
- ``instruction``: what to do about it (*the check should be moved*), not how it should behave.

The rules are for English prose, and strict where a false alarm costs a repair turn only. Code spans
and quoted messages are no prose: there only names, hashes and addresses are looked for. Where the
snapshot's own file speaks of fixes or patches as names, only the unmistakable forms count.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

LeakKind = Literal["fix", "commit", "reference", "identifier", "future", "instruction"]

_NAME = re.compile(r"\w+")
_CODE = re.compile(r"`+[^`\n]+`+")
_QUOTED = re.compile(r"\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|(?<!\w)'[^'\n]{1,200}'(?!\w)")
_CODE_LIKE = re.compile(r"_|\d|[^\W\d_A-Z][A-Z]|[A-Z]{2}[a-z]|^[A-Z][A-Z0-9]+$")

_CHANGE = r"(?:fix(?:es)?|patch|change|commit|repair|pull\s+request|merge\s+request|PR|correction)"
_FAULT = r"(?:bug|issue|defect|problem|error|fault|flaw|regression|behaviou?r|crash|this|it)"
_MENDED = r"(?:fixed|patched|repaired|resolved|corrected|addressed|solved|mitigated|remedied)"
_CERTAIN = re.compile(
    rf"""
      \b(?:fixed|patched|repaired)\s+(?:by|in|with|via|upstream|since)\b
    | \b{_FAULT}\s+(?:(?:is|was|were|are|has|have|had|got|gets|been|being|now|since|later)\s+){{1,3}}{_MENDED}\b
    | \b{_MENDED}\s+(?:by|in|with|via)\s+(?:the|this|that|a|an)\s+(?:later\s+|upstream\s+)?
      (?:{_CHANGE}|version|release|update)\b
    | \b(?:bug|hot)[\s-]?fix(?:es|ed)?\b
    | \bfix-?ups?\b
    | \b(?:after|before|since|until|prior\s+to|without)\s+(?:the|this|that)\s+{_CHANGE}\b
    | \b(?:the|this|that)\s+(?:commit|changeset|pull\s+request|merge\s+request)\b
    | \b(?:in|since|as\s+of|until)\s+(?:an?\s+|the\s+)?
      (?:later|newer|next|upcoming|subsequent|future|latest)\s+(?:versions?|releases?|commits?)\b
    | \bnow\s+(?:correctly|properly|also|works?|handles?|supports?|returns?|raises?|throws?|accepts?
      |rejects?|uses?|checks?|passes|respects?|preserves?)\b
    | (?:^|[.;]\s+)(?:previously|formerly)\s*,
    """,
    re.VERBOSE | re.IGNORECASE,
)
_FIX = re.compile(
    r"""
      (?<![\w-])(?:un)?fix(?:es|ing)?(?![\w-])
    | ^fixed\b(?!-)(?!\s+(?:width|size|length|point|number|offset|order|precision|scale|list|set)\b)
    | \b(?:is|are|was|were|been|be|being|gets?|got|now|not|already|never)\s+fixed\b
      (?!\s+(?:to|at|width|size|length|point)\b)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PATCH = re.compile(
    r"\b(?i:the|this|that|upstream|proposed|applied)\s+patch(?:es)?\b(?!\s+[a-z]*(?:object|request|method"
    r"|version|level|number|file|document|operation|release|handler|body|route|verb|panel)s?\b)"
    r"|\b(?:is|are|was|were|been|be|being|got|gets)\s+patched\b"
)
_OWN = re.compile(
    r"(?<=[.(\['\"])(?:fix|patch)\b|(?<=def |ion |ass |nst |let |var )(?:fix|patch)\b"
    r"|\b(?:fix|patch)(?=\s*(?:[(\[)\]]|=[^=]|['\"]))",
)
_HASH = re.compile(r"(?<![\w#&-])[0-9a-f]{7,40}(?![\w-])")
_NEAR_COMMIT = re.compile(
    r"\b(?:commits?|revisions?|changesets?|sha)\W{1,3}(?P<after>[0-9a-f]{6,40})(?!\w)"
    r"|(?<!\w)(?P<before>[0-9a-f]{6,40})\W{1,2}commit\b",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"""
      (?<![\w&/`'"])\#\d+(?!\w)
    | \b[\w.-]+/[\w.-]+\#\d+\b
    | \bGH-?\d+\b
    | \b(?:PRs?|MRs?|pull\s+requests?|merge\s+requests?|issue|ticket|bug)\s*(?:\#|no\.?\s*)?\d+\b
    | \bGHSA(?:-\w{4}){3}\b
    | \bCVE-\d{4}-\d{4,}\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"https?://\S+?/(?:pulls?|issues?|commits?|compare|merge_requests|changeset|advisories)/[\w./-]+",
    re.IGNORECASE,
)
_FUTURE = re.compile(
    r"\b(?:will|shall)\s+(?:not\s+|now\s+|then\s+|only\s+|also\s+|always\s+|never\s+)?[a-z]+"
    r"|\bwon['’]t\b|\w['’]ll\s+[a-z]+|\b(?:is|are)\s+going\s+to\b",
    re.IGNORECASE,
)
_DONE_TO_CODE = (
    r"(?:changed|rewritten|refactored|replaced|removed|moved|renamed|added|guarded|wrapped|updated"
    r"|extended|swapped|inverted|introduced|adjusted|modified)"
)
_OUGHT = r"(?:should|must|needs?\s+to|has\s+to|have\s+to|ought\s+to)"
_INSTRUCTION = re.compile(
    rf"""
      \b(?:code|conditions?|checks?|guards?|calls?|lines?|branch(?:es)?|loops?|regex|regexp|expressions?
      |comparisons?|operators?|statements?|implementation|assignments?|constants?|imports?|signature)\s+
      (?:\S+\s+){{0,3}}?{_OUGHT}\s+be\s+{_DONE_TO_CODE}\b
    | {_OUGHT}\s+be\s+(?:changed\s+to|rewritten|refactored)\b
    | \b(?:the|a|one)\s+(?:solution|remedy|repair|proper\s+way)\s+(?:is|would\s+be)\b
    | (?:^|[.;]\s+)(?:please\s+)?(?:add|change|replace|remove|rename|rewrite|refactor|introduce|implement
      |wrap|swap|ensure|make\s+sure)\s+(?:that|an?|the|some|missing|support|more|all|proper|handling|\0)
    """,
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Leak:
    """One thing that gives the fix away."""

    kind: LeakKind
    words: str
    """The offending words, as they stand in the text."""
    field: str
    """Which text they stand in."""

    def __str__(self) -> str:
        """``fix in title: 'was fixed'``."""
        return f"{self.kind} in {self.field}: {self.words!r}"


@dataclass(frozen=True, slots=True)
class Forbidden:
    """What a report may not say, beyond what its words show by themselves."""

    commits: Collection[str] = ()
    """Full hashes of the window's commits."""
    names: Collection[str] = ()
    """Names of the fix that the snapshot does not have, casefolded."""
    vocabulary: Collection[str] = ()
    """Of the words ``fix`` and ``patch`` those that name something in the snapshot's file; see
    :func:`own_words`."""
    paths: Collection[str] = ()
    """Files of the snapshot that the report may name: no prose."""


def find_leaks(texts: Mapping[str, str], forbidden: Forbidden) -> list[Leak]:
    """What gives the fix away, each thing once, in the order of the texts and of the words in them.

    Args:
        texts: the fields of a report that finders and judges see, by name.
        forbidden: what is known of the fix and its window.
    """
    found = [
        Leak(kind, " ".join(text[start:end].split()), name)
        for name, text in texts.items()
        for kind, start, end in _joined(find_spans(text, forbidden))
    ]
    return list(dict.fromkeys(found))


def find_spans(text: str, forbidden: Forbidden) -> Iterator[tuple[LeakKind, int, int]]:
    """Kind, start and end of everything in one text that gives the fix away; spans may overlap."""
    prose = _prose(text, forbidden.paths)
    yield from (("fix", *match.span()) for match in _CERTAIN.finditer(prose))
    for word, pattern in (("fix", _FIX), ("patch", _PATCH)):
        if word not in forbidden.vocabulary:
            yield from (("fix", *match.span()) for match in pattern.finditer(prose))
    yield from (("future", *match.span()) for match in _FUTURE.finditer(prose))
    yield from (("instruction", *match.span()) for match in _INSTRUCTION.finditer(prose))
    yield from (("reference", *match.span()) for match in _REFERENCE.finditer(prose))
    yield from (("reference", *match.span()) for match in _ADDRESS.finditer(text))
    yield from _commits(text, forbidden.commits)
    yield from _identifiers(text, forbidden.names)


def _joined(spans: Iterable[tuple[LeakKind, int, int]]) -> list[tuple[LeakKind, int, int]]:
    """The spans in the text's order, overlapping ones of a kind as one."""
    joined: list[tuple[LeakKind, int, int]] = []
    for kind, start, end in sorted(spans):
        if joined and joined[-1][0] == kind and start < joined[-1][2]:
            joined[-1] = (kind, joined[-1][1], max(end, joined[-1][2]))
        else:
            joined.append((kind, start, end))
    return sorted(joined, key=lambda span: span[1:])


def own_words(lines: Iterable[str]) -> frozenset[str]:
    """Which of ``fix`` and ``patch`` a file uses as names of its own, as code and not in comments."""
    code = [line for line in lines if not line.lstrip().startswith(("#", "//", "*", "/*", "--"))]
    return frozenset(match[0] for line in code for match in _OWN.finditer(line))


def names_in(text: str) -> frozenset[str]:
    """Everything in a text that could be a name: words and numbers, casefolded."""
    return frozenset(_NAME.findall(text.casefold()))


def _prose(text: str, paths: Collection[str]) -> str:
    """The text with paths, code and quoted messages blotted out, of the same length."""
    for path in sorted(paths, key=len, reverse=True):
        text = text.replace(path, "\0" * len(path))
    for pattern in (_CODE, _QUOTED):
        text = pattern.sub(lambda match: "\0" * len(match[0]), text)
    return text


def _commits(text: str, commits: Collection[str]) -> Iterator[tuple[LeakKind, int, int]]:
    for match in _HASH.finditer(text):
        if any(sha.startswith(match[0]) for sha in commits):
            yield "commit", *match.span()
    for match in _NEAR_COMMIT.finditer(text):
        if re.search(r"\d", match["after"] or match["before"]):
            yield "commit", *match.span()


def _identifiers(text: str, names: Collection[str]) -> Iterator[tuple[LeakKind, int, int]]:
    if not names:
        return
    code = [match.span() for match in _CODE.finditer(text)]
    for match in _NAME.finditer(text):
        start, end = match.span()
        if match[0].casefold() in names and (
            any(first <= start < last for first, last in code)
            or text[end : end + 1] == "("
            or (re.search(r"[^\W\d]", match[0]) and _CODE_LIKE.search(match[0]))
        ):
            yield "identifier", start, end
