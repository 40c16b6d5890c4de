"""TypeScript with markup: the same language by another grammar, where ``<View />`` calls ``View``."""

from dataclasses import replace

from probe.code.languages.base import Language
from probe.code.languages.typescript import PLUGIN as TYPESCRIPT
from probe.code.languages.typescript import TYPED_QUERY


def _language() -> object:
    import tree_sitter_typescript

    return tree_sitter_typescript.language_tsx()


PLUGIN: Language = replace(
    TYPESCRIPT, key="tsx", endings=(".tsx",), grammar=_language, query=TYPED_QUERY
)
