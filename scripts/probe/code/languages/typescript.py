"""TypeScript: JavaScript with declared types, which tell the call graph what a receiver is."""

from dataclasses import replace

from probe.code.languages.base import Fields, Language
from probe.code.languages.javascript import PLUGIN as JAVASCRIPT
from probe.code.languages.javascript import QUERY, SHAPES

_OWN = """
(abstract_class_declaration) @unit
(interface_declaration) @unit
(type_alias_declaration) @unit
(enum_declaration) @unit
(function_signature) @unit
(abstract_method_signature) @unit
(internal_module) @unit
(module name: (_)) @unit
(public_field_definition
  value: [(arrow_function) (function_expression) (generator_function) (class) (object)]) @unit
(public_field_definition) @bind
(property_signature) @bind
(required_parameter) @bind
(optional_parameter) @bind
"""
TYPED_QUERY = QUERY + _OWN


def _language() -> object:
    import tree_sitter_typescript

    return tree_sitter_typescript.language_typescript()


_SHAPES = replace(
    SHAPES,
    binds={
        **SHAPES.binds,
        "public_field_definition": Fields("name", "value", "type"),
        "property_signature": Fields("name", None, "type"),
        "required_parameter": Fields("pattern", None, "type"),
        "optional_parameter": Fields("pattern", None, "type"),
    },
    own_fields=frozenset({"accessibility_modifier", "readonly"}),
)

PLUGIN: Language = replace(
    JAVASCRIPT,
    key="typescript",
    endings=(".ts", ".mts", ".cts"),
    grammar=_language,
    shapes=_SHAPES,
    query=TYPED_QUERY.replace(
        "(jsx_opening_element name: [(identifier) (member_expression)] @jsx)\n", ""
    ).replace("(jsx_self_closing_element name: [(identifier) (member_expression)] @jsx)\n", ""),
)
