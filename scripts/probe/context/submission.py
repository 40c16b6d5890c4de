"""What the agent hands in, and what of it holds against the snapshot.

A claim about files and names is checked before it is accepted: the agent loop then asks for a
correction. What is still wrong at the end is struck out and recorded, so that no reader is sent to
a file that is not there. Deviations and unsupported features decide what counts as a bug, so
each needs a quote that stands in the file it names.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from pydantic import Field, model_validator

from probe.context.entry import Document, Entry
from probe.context.markup import sentences
from probe.context.sources import Sources, name_parts, words
from probe.records import ContextDrop, Record, SectionKey

MOST_MODULES = 120
MOST_NAMES = 160
MOST_FACTS = 60
"""Entries of a section, at most."""
LONGEST = 900
"""Characters of an entry's text, at most."""
LONGEST_PROSE = 6_000
"""Characters of a text in prose, at most."""


class Module(Record):
    """A file or folder of the project."""

    path: str = Field(min_length=1, max_length=300)
    """Path from the root of the project."""
    role: str = Field(min_length=1, max_length=LONGEST)
    """What it owns and does, what it takes for granted, what it hands on."""
    reached: str = Field(default="", max_length=400)
    """How a user's input gets there: through which entry points; that it is internal, if it is."""


class ApiEntry(Record):
    """Something that users call, run or configure."""

    name: str = Field(min_length=1, max_length=200)
    """As users write it, without its arguments: `Parser.parse`, `--no-color`."""
    path: str = Field(min_length=1, max_length=300)
    """The file that defines it."""
    does: str = Field(min_length=1, max_length=LONGEST)
    """What it takes, returns and raises, as far as that is promised."""


class Fact(Record):
    """A statement about the project."""

    text: str = Field(min_length=1, max_length=LONGEST)
    """The statement, complete in itself."""
    paths: tuple[str, ...] = Field(min_length=1, max_length=8)
    """Files that show it."""


class Quoted(Record):
    """A statement that the project itself makes."""

    text: str = Field(min_length=1, max_length=LONGEST)
    """Exactly which case is meant, and what happens in it."""
    path: str = Field(min_length=1, max_length=300)
    """The file that says so."""
    quote: str = Field(min_length=8, max_length=400)
    """Its words in that file, copied exactly; line breaks and comment marks may differ."""


class ContextSubmission(Record):
    """The document on the project; lists may be empty where nothing applies."""

    purpose: str = Field(min_length=20, max_length=LONGEST_PROSE)
    """What the project does, for whom, in which settings."""
    overview: str = Field(default="", max_length=LONGEST_PROSE)
    """How data flows through it, and what holds between its parts."""
    modules: tuple[Module, ...] = Field(min_length=1, max_length=MOST_MODULES)
    """Files and folders that matter, most important first."""
    public_api: tuple[ApiEntry, ...] = Field(min_length=1, max_length=MOST_NAMES)
    """What users can call, run or configure, most used first."""
    supported_inputs: tuple[Fact, ...] = Field(default=(), max_length=MOST_FACTS)
    """Input, formats, versions and options that it says it handles."""
    error_handling: tuple[Fact, ...] = Field(default=(), max_length=MOST_FACTS)
    """Which errors come when, and which are part of the contract."""
    intentional_deviations: tuple[Quoted, ...] = Field(default=(), max_length=MOST_FACTS)
    """What is so on purpose although it could be taken for a defect."""
    unsupported_features: tuple[Quoted, ...] = Field(default=(), max_length=MOST_FACTS)
    """What it says it does not do."""


class Problem(NamedTuple):
    """Something that does not hold."""

    field: str
    """Field of the submission."""
    number: int
    """Place in the list, or of the sentence in prose, from 0."""
    text: str
    """What was said."""
    reason: str
    """What does not hold."""


_SECTION: dict[str, SectionKey] = {
    "purpose": "purpose",
    "overview": "architecture",
    "modules": "architecture",
    "public_api": "public_api",
    "supported_inputs": "supported_inputs",
    "error_handling": "error_handling",
    "intentional_deviations": "intentional_deviations",
    "unsupported_features": "unsupported_features",
}


def checked(
    sources: Sources, too_long: Callable[[ContextSubmission], str]
) -> type[ContextSubmission]:
    """The submission as a type that only takes what holds against a snapshot.

    Args:
        sources: the snapshot.
        too_long: says what is too long about a submission; empty where nothing is.
    """

    class CheckedSubmission(ContextSubmission):
        __doc__ = ContextSubmission.__doc__

        @model_validator(mode="after")
        def _holds(self) -> "CheckedSubmission":
            found = problems(self, sources)
            said = [f"{one.field}[{one.number}]: {one.reason}" for one in found[:15]]
            if len(found) > 15:
                said.append(f"and {len(found) - 15} more")
            length = too_long(self)
            if said or length:
                raise ValueError("; ".join([*said, *([length] if length else [])]))
            return self

    return CheckedSubmission


def problems(said: ContextSubmission, sources: Sources) -> list[Problem]:
    """Everything in a submission that does not hold against the snapshot, in order."""
    found: list[Problem] = []
    for field in ("purpose", "overview"):
        for number, sentence in enumerate(sentences(getattr(said, field))):
            found += _of(field, number, sentence, _wrong_names(sentence, sources))
    for number, module in enumerate(said.modules):
        wrong = _missing(module.path, sources) or _wrong_names(
            f"{module.role} {module.reached}", sources
        )
        found += _of("modules", number, f"{module.path}: {module.role}", wrong)
    for number, entry in enumerate(said.public_api):
        wrong = _wrong_api(entry, sources) or _wrong_names(entry.does, sources)
        found += _of("public_api", number, f"{entry.name}: {entry.does}", wrong)
    for field in ("supported_inputs", "error_handling"):
        for number, fact in enumerate(getattr(said, field)):
            wrongs = filter(None, (_missing(path, sources) for path in fact.paths))
            wrong = next(wrongs, "") or _wrong_names(fact.text, sources)
            found += _of(field, number, fact.text, wrong)
    for field in ("intentional_deviations", "unsupported_features"):
        for number, quoted in enumerate(getattr(said, field)):
            wrong = _wrong_quote(quoted, sources) or _wrong_names(quoted.text, sources)
            found += _of(field, number, quoted.text, wrong)
    return found


def _of(field: str, number: int, text: str, reason: str) -> Iterator[Problem]:
    if reason:
        yield Problem(field, number, text, reason)


def _missing(path: str, sources: Sources) -> str:
    return "" if sources.exists(path) else f"there is no file or folder {path!r}"


_CODE = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(r"(?:\./)?[\w@.+\[\]-]+(?:/[\w@.+\[\]-]+)+\.[A-Za-z]\w{0,4}")


def _wrong_names(text: str, sources: Sources) -> str:
    """A file named in backticks that is not there; a name with slashes only, since users' files and
    patterns look like paths as well.
    """
    for named in _CODE.findall(text):
        path = re.sub(r":\d+(?:-\d+)?$", "", named.strip())
        folder = path.partition("/")[0]
        if _PATH.fullmatch(path) and sources.exists(folder) and not sources.exists(path):
            return f"there is no file {path!r}"
    return ""


def _wrong_api(entry: ApiEntry, sources: Sources) -> str:
    if entry.path not in sources:
        return _missing(entry.path, sources) or f"{entry.path!r} is a folder; name the file"
    parts = [part.strip("-") for part in name_parts(entry.name)]
    if not parts:
        return f"{entry.name!r} is no name"
    for part in parts:
        if part not in sources.words:
            return f"{part!r} of the name {entry.name!r} does not occur in the code"
    if parts[-1] not in words(sources.text(entry.path)):
        return f"{parts[-1]!r} does not occur in {entry.path}"
    return ""


_MARKS = re.compile(r"^\s*(?:#+|//+[/!]?|\*+/?|/\*+|>+|--)\s?", re.MULTILINE)


def _wrong_quote(quoted: Quoted, sources: Sources) -> str:
    if quoted.path not in sources:
        return _missing(quoted.path, sources) or f"{quoted.path!r} is a folder; name the file"
    text = sources.text(quoted.path)
    quote = _squeezed(quoted.quote)
    if not quote or (
        quote not in _squeezed(text) and quote not in _squeezed(_MARKS.sub(" ", text))
    ):
        return f"the quote does not stand in {quoted.path}, word for word"
    return ""


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def struck(
    said: ContextSubmission, found: list[Problem]
) -> tuple[ContextSubmission, list[ContextDrop]]:
    """A submission without what does not hold, and a record of each thing that was struck out.

    Prose loses single sentences. What is left may lack parts that a submission needs.
    """
    wrong: dict[str, set[int]] = {}
    for one in found:
        wrong.setdefault(one.field, set()).add(one.number)
    update: dict[str, object] = {}
    for field, numbers in wrong.items():
        given = getattr(said, field)
        if isinstance(given, str):
            kept = [s for n, s in enumerate(sentences(given)) if n not in numbers]
            update[field] = " ".join(kept)
        else:
            update[field] = tuple(one for n, one in enumerate(given) if n not in numbers)
    drops = [
        ContextDrop(section=_SECTION[one.field], text=_squeezed(one.text)[:300], reason=one.reason)
        for one in found
    ]
    return said.model_copy(update=update), drops


def document_of(said: ContextSubmission) -> Document:
    """A submission as sections of entries."""
    return {
        "purpose": list(_prose(said.purpose)),
        "architecture": [
            *_prose(said.overview),
            *(
                Entry(
                    f"`{one.path}`: {_plain(one.role)}"
                    + (f" Reached: {_plain(one.reached)}" if one.reached.strip() else ""),
                    sources=(one.path,),
                    rank=rank,
                )
                for rank, one in enumerate(said.modules, 1)
            ),
        ],
        "public_api": [
            Entry(f"`{one.name}`: {_plain(one.does)}", one.path, (one.path,), rank)
            for rank, one in enumerate(said.public_api)
        ],
        "supported_inputs": list(_facts(said.supported_inputs)),
        "error_handling": list(_facts(said.error_handling)),
        "intentional_deviations": list(_quoted(said.intentional_deviations)),
        "unsupported_features": list(_quoted(said.unsupported_features)),
    }


def _prose(text: str) -> Iterator[Entry]:
    for paragraph in re.split(r"\n\s*\n", text):
        if paragraph.strip():
            yield Entry(_plain(paragraph), prose=True)


def _facts(facts: tuple[Fact, ...]) -> Iterator[Entry]:
    for rank, one in enumerate(facts):
        yield Entry(_plain(one.text), ", ".join(one.paths), one.paths, rank)


def _quoted(said: tuple[Quoted, ...]) -> Iterator[Entry]:
    for rank, one in enumerate(said):
        yield Entry(f"{_plain(one.text)} “{_plain(one.quote)}”", one.path, (one.path,), rank)


def _plain(text: str) -> str:
    """On one line, and no heading of ours."""
    return re.sub(r"^[#>\-*\s]+", "", _squeezed(text))
