"""The languages that PROBE audits, each one entry: file endings, grammar, comment syntax.

Grammars load on first use only, since most jobs never parse.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Parser


@dataclass(frozen=True, slots=True)
class Language:
    """One language plugin."""

    key: str
    """Name used in the inventory and in records."""
    endings: tuple[str, ...]
    """File endings with the dot, lower case."""
    family: str
    """Languages of one family share analysers: ``python`` or ``javascript``."""
    grammar: Callable[[], object]
    """Returns the pointer of the tree-sitter grammar."""


def _python() -> object:
    import tree_sitter_python

    return tree_sitter_python.language()


def _javascript() -> object:
    import tree_sitter_javascript

    return tree_sitter_javascript.language()


def _typescript() -> object:
    import tree_sitter_typescript

    return tree_sitter_typescript.language_typescript()


def _tsx() -> object:
    import tree_sitter_typescript

    return tree_sitter_typescript.language_tsx()


LANGUAGES: dict[str, Language] = {
    language.key: language
    for language in (
        Language("python", (".py", ".pyi"), "python", _python),
        Language("javascript", (".js", ".mjs", ".cjs", ".jsx"), "javascript", _javascript),
        Language("typescript", (".ts", ".mts", ".cts"), "javascript", _typescript),
        Language("tsx", (".tsx",), "javascript", _tsx),
    )
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
