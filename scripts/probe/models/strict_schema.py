"""JSON schemas in the dialect that every provider with constrained decoding accepts.

They take objects that list all their fields and nothing else, and refuse most limits on values.
What is dropped is still checked: Pydantic validates each answer against the whole model, and the
limits stay readable in the descriptions.
"""

import functools
from collections.abc import Mapping

from pydantic import BaseModel

_KEPT = ("$ref", "type", "enum", "anyOf", "items", "properties", "description")

_LIMITS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "pattern": "matching {}",
    "format": "in the format {}",
}


@functools.cache
def strict_schema(answer: type[BaseModel]) -> dict[str, object]:
    """The schema of an answer for providers; not to be changed by the caller.

    Raises:
        TypeError: the model has a part that the dialect cannot say (a mapping with free keys, a
            tuple of fixed parts).
    """
    whole = answer.model_json_schema()
    definitions = whole.pop("$defs", {})
    schema = _strict(whole, answer.__name__)
    if definitions:
        schema["$defs"] = {name: _strict(part, name) for name, part in definitions.items()}
    return schema


def _strict(schema: Mapping[str, object], where: str) -> dict[str, object]:
    source = dict(schema)
    if "oneOf" in source:
        source["anyOf"] = source["oneOf"]
    if "const" in source:
        source["enum"] = [source["const"]]
    kept = {name: source[name] for name in _KEPT if name in source}
    text = _described(source)
    if text:
        kept["description"] = text
    if "anyOf" in source:
        kept["anyOf"] = [_strict(part, where) for part in _list(source["anyOf"])]
    if "items" in kept:
        kept["items"] = _strict(_mapping(kept["items"]), where)
    if source.get("type") == "object":
        return _object(source, kept, where)
    if "prefixItems" in source or (source.get("type") == "array" and "items" not in kept):
        raise TypeError(f"{where}: answers may not hold tuples or lists of anything")
    if "$ref" in kept and len(kept) > 1:  # providers allow no neighbours of a reference
        return {"anyOf": [{"$ref": kept.pop("$ref")}], **kept}
    return kept


def _object(source: Mapping[str, object], kept: dict[str, object], where: str) -> dict[str, object]:
    if source.get("additionalProperties") not in (None, False):
        raise TypeError(f"{where}: answers may not hold mappings with free keys; use a list")
    properties = {
        name: _strict(_mapping(part), f"{where}.{name}")
        for name, part in _mapping(source.get("properties", {})).items()
    }
    return {
        **kept,
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _described(source: Mapping[str, object]) -> str:
    """The description with the limits that the dialect lacks."""
    limits = [words.format(source[name]) for name, words in _LIMITS.items() if name in source]
    text = str(source.get("description", ""))
    return f"{text} ({', '.join(limits)})".strip() if limits else text


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise TypeError(f"not a JSON schema: {value!r}")
    return value


def _list(value: object) -> list[Mapping[str, object]]:
    if not isinstance(value, list):
        raise TypeError(f"not a JSON schema: {value!r}")
    return value
