"""Deterministic instances of JSON schemas: what a model with constrained decoding would answer."""

import math
import re
from collections.abc import Mapping, Sequence
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

Schema = Mapping[str, Any]

_DEEP = 6
_FORMATS = {
    "date-time": "2026-01-01T00:00:00Z",
    "date": "2026-01-01",
    "time": "00:00:00Z",
    "email": "a@example.org",
    "uri": "https://example.org/",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "ipv4": "127.0.0.1",
}


def instance(schema: Schema, text: str = "text") -> Any:
    """A value that satisfies a schema: first of an enum, every property, one item of a list.

    Args:
        schema: JSON schema as Pydantic and the providers write it; ``$ref`` into the same document,
            ``anyOf``, ``oneOf``, ``allOf``, ``const``, bounds, patterns and formats are followed.
        text: what strings without a pattern begin with.
    """
    return _any(schema, schema, text, 0)


def _any(schema: Schema | bool, root: Schema, text: str, depth: int) -> Any:
    if isinstance(schema, bool):
        return text
    schema = _resolved(schema, root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        rest = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
        return _any(_merged([rest, _chosen(choices, root, depth)]), root, text, depth)
    return _typed(_type(schema, depth), schema, root, text, depth)


def _typed(kind: str, schema: Schema, root: Schema, text: str, depth: int) -> Any:
    match kind:
        case "object":
            return _object(schema, root, text, depth)
        case "array":
            return _array(schema, root, text, depth)
        case "string":
            return _string(schema, text)
        case "integer" | "number":
            return _number(schema, kind)
        case "boolean":
            return False
    return None


def _resolved(schema: Schema, root: Schema) -> Schema:
    while "$ref" in schema:
        target: Any = root
        for part in schema["$ref"].removeprefix("#").strip("/").split("/"):
            target = target[part.replace("~1", "/").replace("~0", "~")] if part else target
        schema = _merged([target, {k: v for k, v in schema.items() if k != "$ref"}])
    if "allOf" in schema:
        parts = [_resolved(part, root) for part in schema["allOf"]]
        schema = _merged([{k: v for k, v in schema.items() if k != "allOf"}, *parts])
    return schema


def _merged(parts: Sequence[Schema]) -> Schema:
    merged: dict[str, Any] = {}
    for part in parts:
        properties = {**merged.get("properties", {}), **part.get("properties", {})}
        merged.update(part)
        if properties:
            merged["properties"] = properties
    return merged


def _chosen(choices: Sequence[Schema], root: Schema, depth: int) -> Schema:
    resolved = [_resolved(choice, root) for choice in choices]
    nulls = [choice for choice in resolved if choice.get("type") == "null"]
    others = [choice for choice in resolved if choice.get("type") != "null"]
    return nulls[0] if nulls and (depth > _DEEP or not others) else others[0]


def _type(schema: Schema, depth: int) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        deep = depth > _DEEP and "null" in kind
        kind = "null" if deep else next((name for name in kind if name != "null"), "null")
    if kind:
        return str(kind).lower()
    for key, name in (("properties", "object"), ("items", "array"), ("minimum", "number")):
        if key in schema:
            return name
    return "string"


def _object(schema: Schema, root: Schema, text: str, depth: int) -> dict[str, Any]:
    properties = schema.get("properties", {})
    required = set(schema.get("required", ()))
    names = [name for name in properties if depth <= _DEEP or name in required]
    made = {name: _any(properties[name], root, f"{name} {text}", depth + 1) for name in names}
    extra = schema.get("additionalProperties", True)
    for number in range(len(made), schema.get("minProperties", 0)):
        made[f"key{number}"] = _any(extra, root, text, depth + 1)
    for name in sorted(required - set(made)):
        made[name] = _any(extra or {}, root, text, depth + 1)
    return made


def _array(schema: Schema, root: Schema, text: str, depth: int) -> list[Any]:
    fewest = schema.get("minItems", 0)
    wanted = max(fewest, 0 if depth > _DEEP else 1)
    items = [_any(part, root, text, depth + 1) for part in schema.get("prefixItems", ())]
    rest = schema.get("items", {})
    if rest is False:
        return items
    for number in range(len(items), min(wanted, schema.get("maxItems", wanted))):
        items.append(_any(rest, root, f"{text} {number}" if number else text, depth + 1))
    return items


def _string(schema: Schema, text: str) -> str:
    if "pattern" in schema:
        return matching(schema["pattern"])
    value: str = _FORMATS.get(schema.get("format", ""), text)
    value = value.ljust(schema.get("minLength", 0), "x")
    return value[: schema.get("maxLength", len(value))]


def _number(schema: Schema, kind: str) -> float:
    low, high = schema.get("minimum"), schema.get("maximum")
    if "exclusiveMinimum" in schema:
        low = schema["exclusiveMinimum"] + (1 if kind == "integer" else 1e-3)
    if "exclusiveMaximum" in schema:
        high = schema["exclusiveMaximum"] - (1 if kind == "integer" else 1e-3)
    step = schema.get("multipleOf")
    value: float = 1 if low is None and high is None else (high if low is None else low)
    if kind == "number" and low is not None and high is not None:
        value = (low + high) / 2
    if step:
        value = math.ceil((low or 0) / step) * step
    return int(value) if kind == "integer" else value


def matching(pattern: str) -> str:
    """A text that a regular expression finds; short, and the same each time."""
    found = "".join(_sre(item) for item in _parser.parse(pattern))
    if re.search(pattern, found) is None:
        raise ValueError(f"cannot make a text for the pattern {pattern!r}")
    return found


def _sre(item: tuple[Any, Any]) -> str:
    code, value = item
    if code is sre.LITERAL:
        return chr(value)
    if code is sre.NOT_LITERAL:
        return "a" if value != ord("a") else "b"
    if code is sre.ANY:
        return "a"
    if code is sre.IN:
        return _of_set(value)
    if code in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        fewest, most, part = value
        return "".join(_sre(inner) for inner in part) * min(max(fewest, 1), most)
    if code is sre.SUBPATTERN:
        return "".join(_sre(inner) for inner in value[-1])
    if code is sre.BRANCH:
        return "".join(_sre(inner) for inner in value[1][0])
    return ""


_CLASSES = {
    sre.CATEGORY_DIGIT: "0",
    sre.CATEGORY_NOT_DIGIT: "a",
    sre.CATEGORY_SPACE: " ",
    sre.CATEGORY_NOT_SPACE: "a",
    sre.CATEGORY_WORD: "a",
    sre.CATEGORY_NOT_WORD: "-",
}


def _of_set(members: Sequence[tuple[Any, Any]]) -> str:
    if members[0][0] is sre.NEGATE:
        taken = re.compile("[" + "".join(_spelled(m) for m in members[1:]) + "]")
        return next(c for c in "a0-_ /.A" if not taken.match(c))
    code, value = members[0]
    if code is sre.LITERAL:
        return chr(value)
    return chr(value[0]) if code is sre.RANGE else _CLASSES[value]


def _spelled(member: tuple[Any, Any]) -> str:
    code, value = member
    if code is sre.LITERAL:
        return re.escape(chr(value))
    if code is sre.RANGE:
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    names = {sre.CATEGORY_DIGIT: r"\d", sre.CATEGORY_SPACE: r"\s", sre.CATEGORY_WORD: r"\w"}
    return names.get(value, r"\W")
