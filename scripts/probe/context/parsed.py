"""The syntax of audited files, read once and on demand: units, exports, comments, modules."""

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache

from probe.code.facts import Facts
from probe.code.languages import LANGUAGES, language_of
from probe.code.languages.base import ModuleFinder
from probe.code.reading import read_facts
from probe.code.trees import parse
from probe.code.units import Unit, find_units
from probe.context.comments import Comment, comments_of
from probe.context.sources import Sources


class Code:
    """The code of a snapshot.

    Args:
        sources: the snapshot.
    """

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.text = sources.text
        self.comments = lru_cache(maxsize=None)(self._comments)
        self.units = lru_cache(maxsize=None)(self._units)
        self.facts = lru_cache(maxsize=None)(self._facts)

    def _comments(self, path: str) -> Sequence[Comment]:
        language = language_of(path)
        return comments_of(language, self.sources.text(path)) if language else []

    def _units(self, path: str) -> Sequence[Unit]:
        language = language_of(path)
        return find_units(language, self.sources.text(path).encode()) if language else []

    def _facts(self, path: str) -> Facts:
        """Units, imports and exports of a file; an empty file's where it has no plugin."""
        language = language_of(path)
        if language is None:
            return Facts(path, "")
        data = self.sources.text(path).encode(errors="replace")
        return read_facts(path, language, data, parse(language, data))

    def module(self, path: str, name: str) -> str | None:
        """The file that an import of ``name`` in ``path`` means; None outside the snapshot."""
        language = language_of(path)
        return self._finders[LANGUAGES[language].family].find(path, name) if language else None

    def inside(self, path: str, name: str) -> str | None:
        """The file of a submodule of a package; None where there is none."""
        language = language_of(path)
        return self._finders[LANGUAGES[language].family].inside(path, name) if language else None

    @cached_property
    def _finders(self) -> Mapping[str, ModuleFinder]:
        found: dict[str, list[str]] = {}
        makers = {}
        for path in self.sources.paths:
            language = language_of(path)
            if language is not None:
                family = LANGUAGES[language].family
                found.setdefault(family, []).append(path)
                makers[family] = LANGUAGES[language].modules
        return {family: make(found[family]) for family, make in makers.items()}
