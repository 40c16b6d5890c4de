from enum import Enum
from typing import Literal

import jsonschema
import pytest
from pydantic import BaseModel, Field

from probe.models.strict_schema import strict_schema

FORBIDDEN = {
    "allOf", "not", "if", "then", "else", "default", "title", "oneOf", "const", "discriminator",
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength",
    "minItems", "maxItems", "pattern", "format", "uniqueItems", "prefixItems",
}  # fmt: skip


class Severity(Enum):
    LOW = "low"
    HIGH = "high"


class Place(BaseModel):
    path: str = Field(min_length=1, description="where it is")
    first: int = Field(ge=1)


class Circle(BaseModel):
    kind: Literal["circle"]
    radius: float = Field(gt=0, lt=10)


class Square(BaseModel):
    kind: Literal["square"]


class Everything(BaseModel):
    confidence: float = Field(ge=0, le=1, description="how sure")
    place: Place = Field(description="the first place")
    others: list[Place] = Field(default=[], max_length=3)
    severity: Severity = Severity.LOW
    note: str | None = None
    ids: tuple[str, ...] = ()
    shape: Circle | Square = Field(discriminator="kind")


def walk(schema):
    """Every schema in a schema; names of properties are none."""
    yield schema
    parts = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
    parts += schema.get("anyOf", [])
    if "items" in schema:
        parts.append(schema["items"])
    for part in parts:
        yield from walk(part)


def test_every_part_keeps_to_the_dialect():
    for part in walk(strict_schema(Everything)):
        assert not FORBIDDEN & set(part)
        if part.get("type") == "object":
            assert part["additionalProperties"] is False
            assert part["required"] == list(part["properties"])
        if "$ref" in part:
            assert list(part) == ["$ref"]


def test_limits_stay_readable():
    properties = strict_schema(Everything)["properties"]
    assert properties["confidence"] == {
        "type": "number",
        "description": "how sure (at least 0, at most 1)",
    }
    assert properties["others"]["description"] == "(at most 3 items)"
    assert properties["place"] == {
        "anyOf": [{"$ref": "#/$defs/Place"}],
        "description": "the first place",
    }


def test_it_accepts_what_pydantic_writes():
    value = Everything(
        confidence=0.5,
        place=Place(path="a.py", first=3),
        note=None,
        ids=("x",),
        shape=Circle(kind="circle", radius=1),
    )
    schema = strict_schema(Everything)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(value.model_dump(mode="json"), schema)


def test_parts_that_no_provider_accepts_are_told_at_once():
    class Free(BaseModel):
        values: dict[str, int]

    class Fixed(BaseModel):
        pair: tuple[int, str]

    with pytest.raises(TypeError, match=r"Free\.values: .* free keys"):
        strict_schema(Free)
    with pytest.raises(TypeError, match=r"Fixed\.pair: .* tuples"):
        strict_schema(Fixed)
