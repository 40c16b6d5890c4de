"""Sentences in which a project says what it does on purpose, and what it does not do at all.

They decide whether a finding is in scope, so each is quoted, with its place: whether it covers a
case is for the reader to judge. Found by wording, in the manual and beside the code; what a project
never says is not found.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from probe.code.units import enclosing_unit
from probe.context.blocks import Block
from probe.context.comments import TOOL_REMARK, Comment, plain_marks
from probe.context.manual import Manual, Page
from probe.context.markup import sentences
from probe.context.parsed import Code
from probe.context.sources import Sources

MOST_OF_FILE = 6
"""Statements of one kind that are taken from one file, but for a page that is about nothing else."""
MOST_OF_PAGE = 16
"""Statements of a page whose name announces them."""
LONGEST = 420
"""Characters of a statement; a longer one is cut around its words."""


class Statement(NamedTuple):
    """A quoted sentence."""

    text: str
    path: str
    line: int
    weight: int
    """0 is the strongest."""
    unit: str = ""
    """The unit of the code beside which it stands."""


class Wording(NamedTuple):
    """A kind of statement, and what makes one."""

    strong: re.Pattern[str]
    """Words that rarely stand for anything else."""
    weak: re.Pattern[str]
    """Words that often do."""
    headings: re.Pattern[str]
    """Headings below which all of a manual is meant."""
    weak_in_code: bool = True
    """Whether weak words count beside the code, too."""


def any_of(*patterns: str) -> re.Pattern[str]:
    """Any of several patterns, upper and lower case alike."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


DEVIATIONS = Wording(
    any_of(
        r"\bintentional(?:ly)?\b",
        r"\bby design\b",
        r"\bdeliberate(?:ly)?\b",
        r"\bon purpose\b",
        r"\bpurposely\b",
        r"\bdeviat(?:es?|ions?|ing) from\b",
        r"\b(?:differ|differs|different|differently|departs?) from\b.{0,60}\b(?:spec|standard|rfc|browsers?"
        r"|implementation|python|ruby|javascript|stdlib|default|original|reference|behaviou?r)",
        r"\bnot (?:fully |strictly |100% )?(?:compliant|conformant|compatible|conforming)\b",
        r"\b(?:violat|contradict|ignor)\w*\b.{0,30}\b(?:spec|specification|standard|rfc)\b",
        r"\bnot a bug\b",
        r"\b(?:is|are) (?:the )?expected behaviou?r\b",
    ),
    any_of(
        r"\bfor (?:backwards?|historical|legacy|compat\w*)[- ](?:compat\w*|reasons)\b",
        r"\bbackwards?[- ]compat\w+\b",
        r"\bfor compat(?:ibility)? with\b",
        r"\bunlike\b",
        r"\bnon-?(?:standard|compliant|conforming|conformant)\b",
        r"\bcontrary to\b",
        r"\blenient(?:ly)?\b|\bmore permissive\b|\btolerat\w+\b",
        r"\bsilently (?:ignor|skip|drop|discard|truncat)\w*\b",
        r"\b(?:is|are) (?:simply )?ignored\b",
        r"\bundefined behaviou?r\b",
        r"\bno guarantees?\b|\bnot guaranteed\b",
    ),
    any_of(
        r"\b(?:deviation|difference|quirk|gotcha)s?\b",
        r"\bcompatib\w+ with\b",
        r"^why (?:(?:do|does|is|are|did|can)n'?t|can't|can ?not|does .* not)\b",
        r"\bdesign (?:decisions?|choices?|philosophy)\b",
    ),
)

UNSUPPORTED = Wording(
    any_of(
        r"\b(?:not|n't|never|no longer|neither) (?:\w+ ){0,2}support(?:ed|s|ing)?\b",
        r"\bunsupported\b",
        r"\bno support for\b",
        r"\bnot (?:yet |currently )?implemented\b",
        r"\blimitations?\b",
        r"\bout(?:side)? (?:of )?(?:the )?scope\b|\bbeyond the scope\b|\bnon-goals?\b",
        r"\bnot (?:intended|meant|designed|suitable|aim\w*)\b",
        r"\bdoes(?: not|n't) (?:aim|attempt|try|intend|want)\b",
        r"\bonly (?:supports?|supported|works?|available|valid|implemented)\b",
        r"\bcurrently (?:only|not|un)\w*\b",
    ),
    any_of(
        r"\b(?:does|do|is|are|can)(?: not|n't|not) (?:\w+ )?(?:validat|check|handl|implement|guarant|detect|pars"
        r"|sanitiz|escap|verif|preserv|cover|available|thread-?safe)\w*\b",
        r"\bnot (?:possible|safe|handled)\b",
        r"\b(?:caveats?|known issues?|known bugs?)\b",
        r"\bexperimental\b",
        r"\bat your own risk\b|\buntrusted\b",
    ),
    any_of(
        r"\blimit(?:ation)?s?\b",
        r"\bcaveats?\b",
        r"\b(?:un|not |what.*n't )(?:supported|implemented)\b",
        r"\bunimplemented\b",
        r"\bknown (?:issues?|bugs?|problems?)\b",
        r"\bnon-goals?\b|\bproject scope\b|\bout of scope\b|\bscope of\b",
        r"\bwhat (?:it|this|\w+) (?:is|does|do)(?: not|n't)\b",
        r"^missing (?:features?|functionality|parts|pieces|support)\b",
    ),
    weak_in_code=False,
)
_REMARK = re.compile(r"\b(?:todo|fixme|xxx|hack)\b[:\s(]|^\s*@param|^see\b", re.IGNORECASE)
_NOT_PROGRAM = re.compile(
    r"\bpip install|\bnpm (?:i|install)\b|\bpull request|\bcontribut|\bsponsor|\bgithub issue|\bplease (?:open|file"
    r"|report|star)|\bbadge\b|\blinter?\b|\bmypy\b|\beslint|\bcoverage\b|\bdocs?tests?\b|\btest suite\b"
    r"|\bpylint\b|\bflake8\b|\bsphinx\b|\bhereby granted\b|\bwarrant(?:y|ies)\b|\bversion(?:ing| number)\b"
    r"|\b(?:this|these|our) (?:docs?|documents?|documentation|pages?|guides?|tutorials?|sections?|topic)\b|\bsemver\b|\bchange ?log\b|\btidelift\b|\bcompanies\b|\bstack ?overflow\b|\bdiscord\b",
    re.IGNORECASE,
)
_POINTING = re.compile(
    r"^\(?(?:this|that|it|these|those|however|therefore|so|but|instead|they|thus)\b", re.I
)


def manual_statements(manual: Manual, wording: Wording) -> list[Statement]:
    """Statements of the manual, the strongest first, then in its order."""
    found: list[Statement] = []
    for page in manual.pages:
        titled = wording is UNSUPPORTED and bool(wording.headings.search(_title(page)))
        found += _best(_of_page(page, wording, titled), MOST_OF_PAGE if titled else MOST_OF_FILE)
    return sorted(_distinct(found), key=lambda one: one.weight)


def _title(page: Page) -> str:
    return PurePosixPath(page.path).stem.replace("-", " ").replace("_", " ")


def _of_page(page: Page, wording: Wording, titled: bool) -> Iterator[Statement]:
    announced = 0
    for section in page.sections:
        told = titled or bool(wording.headings.search(section.heading))
        if announced and section.level > announced:
            told = True
        else:
            announced = section.level if told and not titled else 0
        blocks = [block for block in section.blocks if not _NOT_PROGRAM.search(block.text)]
        if told:
            yield from _told(section.heading, blocks, page.path)
        else:
            yield from _found(blocks, page.path, wording)


def _found(blocks: Sequence[Block], path: str, wording: Wording) -> Iterator[Statement]:
    """Single sentences with such words; a list that one of them introduces goes with it."""
    before: Block | None = None
    listing: Statement | None = None
    for block in blocks:
        if listing is not None and block.kind == "item":
            listing = _longer(listing, block)
            continue
        if listing is not None and " · " in listing.text:
            yield listing
        listing = None
        last = sentences(block.text)[-1] if block.kind == "text" else ""
        if last.endswith(":") and wording.strong.search(last):
            listing = Statement(last, path, block.line, 0)
        elif block.kind != "code":
            yield from _of_block(block, before, path, wording)
        before = block
    if listing is not None and " · " in listing.text:
        yield listing


def _longer(held: Statement, item: Block) -> Statement:
    """A statement with one more item of its list, up to twice the length of others."""
    if len(held.text) > 2 * LONGEST:
        return held
    return held._replace(text=f"{held.text} · {cut(item.text)}")


def _told(heading: str, blocks: Sequence[Block], path: str) -> Iterator[Statement]:
    """All of a section whose heading announces such statements, each list with its introduction."""
    held: Statement | None = None
    for block in blocks:
        if held is not None and block.kind == "item":
            held = _longer(held, block)
            continue
        if held is not None and not held.text.endswith(":"):
            yield held
        held = None
        if block.kind == "code" or block.text.endswith("?"):
            continue
        text = f"{heading}: {block.text}" if heading.endswith("?") else block.text
        held = Statement(text if text.endswith(":") else cut(text), path, block.line, 0)
        if not text.endswith(":"):
            yield held
            held = None
    if held is not None and not held.text.endswith(":"):
        yield held


def _of_block(
    block: Block, before: Block | None, path: str, wording: Wording
) -> Iterator[Statement]:
    for text, weight in _matches(sentences(block.text), wording):
        # an item is often the end of a sentence that introduces the list
        if block.kind == "item" and before is not None and before.text.endswith(":"):
            text = f"{sentences(before.text)[-1]} {text}"
        yield Statement(text, path, block.line, weight + (block.kind == "item"))


def _matches(said: Sequence[str], wording: Wording) -> Iterator[tuple[str, int]]:
    """The sentences with such words, each after the one that it points back to."""
    for number, sentence in enumerate(said):
        strong, weak = wording.strong.search(sentence), wording.weak.search(sentence)
        found = strong or weak
        if found is None or len(sentence) < 25 or sentence.rstrip().endswith("?"):
            continue
        text = sentence
        if number and _POINTING.match(sentence) and len(said[number - 1]) < LONGEST // 2:
            text = f"{said[number - 1]} {sentence}"
        yield cut(text, text.find(found[0])), 0 if strong else 2


def code_statements(sources: Sources, code: Code, wording: Wording) -> list[Statement]:
    """Statements in comments and docstrings of the audited files, and in messages of errors."""
    found: list[Statement] = []
    for file in sources.audited:
        text = sources.text(file.path)
        if not (wording.strong.search(text) or wording.weak.search(text)):
            continue
        of_file = list(_of_comments(file.path, code.comments(file.path), wording))
        if wording is UNSUPPORTED:
            of_file += _of_messages(file.path, text)
        if of_file:
            units = code.units(file.path)
            for one in _best(of_file):
                unit = enclosing_unit(units, one.line)
                found.append(one._replace(unit=unit.name if unit else ""))
    return sorted(_distinct(found), key=lambda one: one.weight)


def _of_comments(path: str, comments: Iterable[Comment], wording: Wording) -> Iterator[Statement]:
    for comment in comments:
        if not (wording.strong.search(comment.text) or wording.weak.search(comment.text)):
            continue
        for paragraph, line in _paragraphs(comment):
            if _NOT_PROGRAM.search(paragraph) or TOOL_REMARK.search(paragraph):
                continue
            for text, weight in _matches(sentences(paragraph), wording):
                if weight and not wording.weak_in_code:
                    continue
                if not _REMARK.search(text) and _is_prose(text):
                    yield Statement(text.lstrip("# "), path, line, weight + 1)


_STARTS = re.compile(
    r"\s*(?:[-*•]\s|@\w+|:\w+[\w ]*:|\.\. |>>>|```|[*`]*\w+[`]*(?: \([^)]*\))?:(?:\s|$)|\d+[.)] )"
)
"""Lines that begin something new in a comment: items, tags, parameters, code."""


def _paragraphs(comment: Comment) -> Iterator[tuple[str, int]]:
    held: list[str] = []
    first = comment.line
    for number, line in enumerate([*comment.text.split("\n"), ""], comment.line):
        starts = _STARTS.match(line)
        if (not line.strip() or starts) and held:
            yield plain_marks(" ".join(" ".join(held).split())), first
            held = []
        if line.strip():
            first = first if held else number
            held.append(_LEADS.sub("", line))


_LEADS = re.compile(
    r"^\s*(?:[-*•]|@\w+(?: \{[^}]*\})?|:[\w ]+:(?!`)|\.\. (?:version\w+|deprecated):: [\d.]+|\.\. \w+::)\s*"
)
"""What a line of a comment begins with that is no word of a sentence."""


def _is_prose(text: str) -> bool:
    """Whether a comment is words rather than code that was commented out."""
    letters = sum(letter.isalpha() or letter.isspace() for letter in text)
    return letters >= 0.75 * len(text) and text.count(" ") >= 4


_MESSAGE = re.compile(
    r"(?:\braise\s+([\w.]+)\s*\(|\bthrow\s+(?:new\s+)?([\w.]+)\s*\()\s*[frbu]*(['\"`])((?:(?!\3).){10,200})\3"
)
_ABSTRACT = re.compile(
    r"must (?:be )?(?:implement|overrid)|subclass|abstract|should implement", re.I
)
_REFUSES = re.compile(r"support|implement", re.IGNORECASE)


def _of_messages(path: str, text: str) -> Iterator[Statement]:
    for found in _MESSAGE.finditer(text):
        if _REFUSES.search(found[4]) and not _ABSTRACT.search(found[4]):
            line = text.count("\n", 0, found.start()) + 1
            said = " ".join(found[4].split())
            yield Statement(f"raises `{found[1] or found[2]}`: {said}", path, line, 1)


def _best(found: Iterable[Statement], most: int = MOST_OF_FILE) -> list[Statement]:
    """The strongest of one file, in the order of their lines."""
    best = sorted(_distinct(found), key=lambda one: one.weight)[:most]
    return sorted(best, key=lambda one: one.line)


def _distinct(found: Iterable[Statement]) -> list[Statement]:
    seen: set[str] = set()
    kept = []
    for one in found:
        key = re.sub(r"\W+", " ", one.text.lower()).strip()
        if key not in seen:
            seen.add(key)
            kept.append(one)
    return kept


def cut(text: str, around: int = 0) -> str:
    """A text of at most :data:`LONGEST` characters that holds the place ``around``."""
    if len(text) <= LONGEST:
        return text
    start = max(0, min(around - LONGEST // 3, len(text) - LONGEST))
    part = text[start : start + LONGEST]
    if start:
        part = "… " + part.split(" ", 1)[-1]
    return part if start + LONGEST >= len(text) else part.rsplit(" ", 1)[0] + " …"
