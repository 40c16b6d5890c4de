"""Reading JSON that others wrote: a value of the expected type, or an empty one."""

from collections.abc import Mapping


def string(item: object, key: str) -> str:
    """``item[key]`` if it is text, else ``""``."""
    value = item.get(key) if isinstance(item, Mapping) else None
    return value if isinstance(value, str) else ""


def integer(item: object, key: str) -> int | None:
    """``item[key]`` if it is a whole number, else None."""
    value = item.get(key) if isinstance(item, Mapping) else None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def section(item: object, key: str) -> dict[str, object]:
    """``item[key]`` if it is an object, else ``{}``."""
    value = item.get(key) if isinstance(item, Mapping) else None
    return value if isinstance(value, dict) else {}


def array(item: object, key: str) -> list[object]:
    """``item[key]`` if it is an array, else ``[]``."""
    value = item.get(key) if isinstance(item, Mapping) else None
    return value if isinstance(value, list) else []
