"""What all configuration models share, and how their errors become one line a person can act on."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from probe.config.names import suggestion

KeyPath = tuple[str | int, ...]
"""Where a value stands in a file: keys of mappings and 0-based places in lists."""

Fraction = Annotated[float, Field(ge=0, le=1)]
"""A number between 0 and 1, both included."""

Texts = Annotated[tuple[str, ...], Field(strict=False)]
"""A YAML list of texts."""


class Section(BaseModel):
    """A mapping of a configuration file: immutable, strictly typed, closed to unknown keys."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        use_attribute_docstrings=True,
        allow_inf_nan=False,
    )

    @model_validator(mode="before")
    @classmethod
    def _known_keys_only(cls, data: Any) -> Any:
        """Reject an unknown key before Pydantic does, to name the nearest one."""
        if isinstance(data, Mapping):
            for key in data:
                if key not in cls.model_fields:
                    raise PydanticCustomError(
                        "unknown_key",
                        "unknown key{suggestion}",
                        {"key": key, "suggestion": suggestion(str(key), cls.model_fields)},
                    )
        return data


def dotted(path: KeyPath) -> str:
    """``("a", "b", 2)`` as ``a.b[2]``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text


def first_problem(error: ValidationError) -> tuple[KeyPath, str]:
    """The first problem of a validation: where it is, and what was found and expected."""
    # of a union that also allows a word, the other choice speaks for the value that was meant
    listed = error.errors(include_url=False)
    problems = [one for one in listed if not any("[" in str(part) for part in one["loc"])] or listed
    details = problems[0]
    # "[key]" says that it is the key which is wrong; a part in upper case is a choice of a union
    parts = (part for part in details["loc"] if part != "[key]")
    path: KeyPath = tuple(part for part in parts if not str(part)[:1].isupper())
    if details["type"] == "unknown_key":
        path = (*path, str(details["ctx"]["key"]))
    elif details["type"] == "union_tag_invalid":
        path = (*path, str(details["ctx"]["discriminator"]).strip("'"))
    more = len(problems) - 1
    return path, describe(details) + (f" (and {more} more)" if more else "")


_EXPECTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "text",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "greater_than_equal": "at least {ge:g}",
    "greater_than": "more than {gt:g}",
    "less_than_equal": "at most {le:g}",
    "less_than": "less than {lt:g}",
    "too_short": "a list of at least {min_length}",
    "string_too_short": "text that is not empty",
    "literal_error": "{expected}",
    "union_tag_invalid": "{expected_tags}",
    "union_tag_not_found": "a key 'kind' that says what it is",
}


def describe(details: ErrorDetails) -> str:
    """One problem in words: what was found, and what was expected."""
    kind = details["type"]
    context = details.get("ctx", {})
    if kind == "missing":
        return "required, but missing"
    if kind == "unknown_key":
        return details["msg"]
    if kind == "value_error":
        return str(context["error"])
    if kind not in _EXPECTED:
        return f"found {_shown(details['input'])}; {details['msg']}"
    found = context.get("tag", details["input"])
    text = f"found {_shown(found)}, expected {_EXPECTED[kind].format(**context)}"
    return text + _nearest_choice(found, context)


def _nearest_choice(found: object, context: Mapping[str, Any]) -> str:
    listed = str(context.get("expected", context.get("expected_tags", "")))
    choices = [part.strip(" '") for part in listed.replace(" or ", ",").split(",")]
    text = suggestion(str(found), [choice for choice in choices if choice])
    return text if "did you mean" in text else ""


def _shown(value: object) -> str:
    """A value as a person would recognise it in the file, cut to 60 characters."""
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
