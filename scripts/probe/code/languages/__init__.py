"""The languages that PROBE audits: each is one module here, and one word in ``PLUGINS``.

Grammars load on first use only, since most jobs never parse.
"""

from functools import cache
from importlib import import_module
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

from probe.code.languages.base import Language

if TYPE_CHECKING:
    from tree_sitter import Parser, Query

PLUGINS = ("python", "javascript", "typescript", "tsx", "go")
"""Modules of this package that each define a ``PLUGIN`` of that key."""

LANGUAGES: dict[str, Language] = {
    name: import_module(f"probe.code.languages.{name}").PLUGIN for name in PLUGINS
}

_BY_ENDING = {ending: lang.key for lang in LANGUAGES.values() for ending in lang.endings}


def language_of(path: str) -> str | None:
    """Key of the language that a path's ending says, None where no plugin claims it."""
    return _BY_ENDING.get(PurePosixPath(path).suffix.lower())


@cache
def parser_for(language: str) -> "Parser":
    """A tree-sitter parser for a language key; one a process.

    Raises:
        KeyError: no such plugin.
    """
    from tree_sitter import Language as Grammar
    from tree_sitter import Parser

    return Parser(Grammar(LANGUAGES[language].grammar()))


@cache
def query_for(language: str) -> "Query":
    """The compiled query of a language's plugin; one a process.

    Raises:
        KeyError: no such plugin.
    """
    from tree_sitter import Query

    grammar = parser_for(language).language
    if grammar is None:
        raise KeyError(language)
    return Query(grammar, LANGUAGES[language].query)


def name_patterns(kind: Literal["test_names", "generated_names"]) -> list[str]:
    """Regular expressions of file names, lower case, that the plugins together give, sorted."""
    return sorted({one for lang in LANGUAGES.values() for one in getattr(lang, kind)})


def generated_marks() -> tuple[bytes, ...]:
    """Lower-case words in a file's first lines that say it is generated, of all plugins, sorted."""
    return tuple(sorted({mark for lang in LANGUAGES.values() for mark in lang.generated_marks}))


__all__ = [
    "LANGUAGES",
    "PLUGINS",
    "Language",
    "generated_marks",
    "language_of",
    "name_patterns",
    "parser_for",
    "query_for",
]
