"""The project's own manual: its README and documentation, in the language of the code's comments.

Change logs, guides for contributors, licences and translations are no part of it: they speak of
other times, or of other things than what the program does.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import PurePosixPath
from typing import NamedTuple

from probe.code.paths import path_role
from probe.context.markup import Section, blocks_of, sections_of
from probe.context.sources import Sources

MOST_FILES = 300
"""Files of a manual that are read."""

_ENDINGS = {".md", ".rst", ".mdx", ".markdown", ".txt", ""}
_OTHER = re.compile(
    r"change|histor|news|release|migrat|upgrad|author|contribut|licen[cs]e|copying|security|conduct"
    r"|govern|roadmap|sponsor|backer|thank|notice|maintain|^todo|requirements|deprecat|_template"
    r"|^about|pull_request|issue|style.?guide|develop|hacking|plugins_list|showcase|used.by|versions?$"
    r"|robots|vocabulary|wordlist|spelling|^tests?$|whats-new|agents$|claude$|^cname$|faq-contrib",
    re.IGNORECASE,
)
_OTHER_FOLDERS = {
    "changes", "newsfragments", "changelog.d", ".changeset", ".changes", "blog", "posts", "_posts", "news",
    "releases", "release-notes", "dev", "project", "contributing", "i18n", "_includes", "node_modules",
    "test", "tests", ".github", "img", "_static", "demo", "contrib", "development", "resources", "chat",
}  # fmt: skip
_FOLDERS = {"doc", "docs", "documentation", "site", "website", "man", "apidocs", "manual"}
_TRANSLATION = re.compile(
    r"(?:^|[._/-])(?:zh|ja|ko|fr|de|es|pt|ru|it|tr|pl|uk|vi|id|ar|fa|he|cs|nl|bn|hi|el)"
    r"(?:[-_](?:[a-z]{2}|hans|hant|cn|tw))?(?:[._/-]|$)",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"^(?:versioning|version policy|contribut\w*|change ?log|licen[cs]e|sponsors?|communit\w*|releases?|develop\w*"
    r"|(?:running|run) (?:the )?tests?.*|tests?|testing|acknowledge?ments?|credits?|authors?|used by|who'?s using.*|about"
    r"|(?:financial |getting )?support(?:ing .*)?|donat\w*|backers?|installation|install\w*|build\w*|benchmarks?"
    r"|getting help|get in touch|contact|help|security|reporting.*|table of contents|contents|links?|resources"
    r"|q&a|issues|code|stars?|history|thanks|special thanks|governance|roadmap|continuous integration)$",
    re.IGNORECASE,
)
"""Headings of a README below which the program itself is not the matter."""
_WORD = re.compile(r"[\w$]+")


class Page(NamedTuple):
    """A file of the manual."""

    path: str
    is_readme: bool
    sections: Sequence[Section]


class Manual:
    """The pages of a snapshot's manual.

    Args:
        sources: the snapshot.
    """

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self.paths = _pages(sources)
        """Paths of its pages: READMEs first, the outermost first, then by path."""

    @cached_property
    def pages(self) -> Sequence[Page]:
        """Its pages with their sections, in order."""
        pages = []
        for path in self.paths:
            text = self._sources.text(path)
            if _is_latin(text):
                is_readme = PurePosixPath(path).stem.lower() == "readme"
                sections = sections_of(blocks_of(path, text))
                if is_readme:
                    sections = [one for one in sections if not _ASIDE.match(_letters(one.heading))]
                pages.append(Page(path, is_readme, sections))
        return pages

    @cached_property
    def readme(self) -> Page | None:
        """The outermost README; None where there is none."""
        return next((page for page in self.pages if page.is_readme), None)

    @cached_property
    def mentions(self) -> Counter[str]:
        """How often each word stands in it, code included."""
        count: Counter[str] = Counter()
        for path in self.paths:
            count.update(_WORD.findall(self._sources.text(path)))
        return count


def _pages(sources: Sources) -> list[str]:
    audited = {part for file in sources.audited for part in _folders(file.path)}
    found = []
    for path in sources.paths:
        pure = PurePosixPath(path)
        folders = [part.lower() for part in pure.parts[:-1]]
        is_readme = pure.stem.lower() == "readme" and pure.suffix.lower() in _ENDINGS
        if pure.suffix.lower() not in _ENDINGS or _TRANSLATION.search(path):
            continue
        if is_readme:
            if not folders or str(pure.parent) in audited:
                found.append((0, len(folders), path))
        elif (
            pure.suffix
            and path_role(path) == "docs"
            and _FOLDERS.intersection(folders)
            and not _OTHER.search(pure.stem)
            and not _OTHER_FOLDERS.intersection(folders)
            and not (pure.suffix == ".txt" and pure.stem != pure.stem.lower())
        ):
            found.append((1, len(folders), path))
    return [path for _, _, path in sorted(found)][:MOST_FILES]


def _folders(path: str) -> list[str]:
    return [str(above) for above in PurePosixPath(path).parents]


def _is_latin(text: str) -> bool:
    """Whether a page is likely English: few letters beyond Latin ones."""
    letters = [letter for letter in text[:4000] if letter.isalpha()]
    return sum(ord(letter) > 0x24F for letter in letters) <= 0.2 * len(letters)


def _letters(heading: str) -> str:
    """A heading without emoji, numbers and punctuation around it."""
    return re.sub(r"^[^A-Za-z]+|[^A-Za-z]+$", "", heading)
