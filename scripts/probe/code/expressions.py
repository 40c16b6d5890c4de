"""Expressions as short dotted texts: ``self.table.find()``, ``Reader:``.

What a receiver or a value is matters to the call graph by its path alone. A part may end in ``()``
(the result of calling it) or ``:`` (an instance of the class that it names, from an annotation). A
text outlives the syntax tree, is its own key in a table, and costs no object.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from probe.code.languages.text import PATH, split

if TYPE_CHECKING:
    from tree_sitter import Node

    from probe.code.languages.base import Shapes

LITERAL = "''"
"""A value of the language's own types."""
UNKNOWN = "?"
"""An object of which nothing is known; its member's name may still tell."""
LONGEST = 160
"""Bytes of an expression that are read as text; longer ones are followed node by node."""
DEEPEST = 10
"""Steps of an expression that are followed; what is longer counts as unknown."""

_CLASS_OF = re.compile(r"(?:[\w.]*\b)?(?:type|Type)\[(.*)\]$|typeof\s+(.*)$", re.DOTALL)
_HOLDER = re.compile(
    r"(?:[\w.]*\b)?(?:Optional|Union|Annotated|Final|ClassVar|Promise|Awaitable|Coroutine|Readonly|Partial"
    r"|Required|NonNullable|Iterator|ContextManager|AsyncContextManager|Omit|Pick)[\[<](.*)[\]>]$",
    re.DOTALL,
)
_NOTHING = {"None", "null", "undefined", "Any", "any", "unknown", "object", "void", "never", ""}


def expressions(node: "Node", text: str, shapes: "Shapes", special: "Special" = None) -> list[str]:
    """The values that an expression may have; empty where nothing is known of them.

    Args:
        node: the expression.
        text: the file's text, one character a byte.
        shapes: the language's node types.
        special: reads an expression that only the language understands; None for all others.
    """
    found = expression(node, text, shapes, special)
    if found is not None:
        return [found]
    todo, result = [node], []
    for _ in range(DEEPEST):
        if not todo:
            break
        one = todo.pop()
        fields = shapes.choices.get(one.type)
        if fields is None:
            found = expression(one, text, shapes, special)
            if found is not None:
                result.append(found)
        elif fields:
            parts = (one.child_by_field_name(name) for name in fields)
            todo += [part for part in parts if part is not None]
        else:
            todo += [child for i, child in enumerate(one.named_children[:3]) if i != 1]
    return result


Special = Callable[["Node", str], str | None] | None


def expression(node: "Node", text: str, shapes: "Shapes", special: Special = None) -> str | None:
    """The path of one expression; None where it has none. No recursion: chains can be long."""
    tail = ""
    for _ in range(DEEPEST):
        start, end = node.start_byte, node.end_byte
        if end - start < LONGEST:
            written = text[start:end]
            if PATH.fullmatch(written):
                if written[0].isdigit():
                    return LITERAL + tail
                return written.replace("?.", ".") + tail
        kind = node.type
        inner: Node | None
        if kind in shapes.access:
            target, name = shapes.access[kind]
            member = node.child_by_field_name(name)
            inner = node.child_by_field_name(target)
            if member is None:
                return _unknown(tail)
            tail = "." + text[member.start_byte : member.end_byte] + tail
        elif kind in shapes.calls:
            if special is not None:
                found = special(node, text)
                if found is not None:
                    return found + tail
            inner = node.child_by_field_name(shapes.calls[kind])
            tail = "()" + tail
        elif kind in shapes.wraps:
            field = shapes.wraps[kind]
            inner = node.child_by_field_name(field) if field else _first(node)
        else:
            return LITERAL + tail if kind in shapes.literals else _unknown(tail)
        if inner is None:
            return _unknown(tail)
        node = inner
    return _unknown(tail)


def _unknown(tail: str) -> str | None:
    return UNKNOWN + tail if tail.startswith(".") else None


def _first(node: "Node") -> "Node | None":
    return next(iter(node.named_children), None)


@lru_cache(maxsize=8192)
def types(written: str) -> tuple[str, ...]:
    """Classes that an annotation names, as expressions of their instances.

    ``Optional[Reader]``, ``"Reader | None"`` and ``: Promise<Reader>`` all give ``Reader:``; a class
    itself (``type[Reader]``) gives ``Reader``. Of an alternative at most four are kept.
    """
    found: list[str] = []
    todo = [written]
    for _ in range(12):
        if not todo:
            break
        one = todo.pop().strip().lstrip(":*&?").strip().strip("\"'").strip()
        if one.startswith("readonly "):
            one = one[9:]
        parts = split(one, "|")
        if len(parts) > 1:
            todo += reversed(parts[:4])
            continue
        if one.startswith("(") and one.endswith(")"):
            todo.append(split(one[1:-1], ",")[0])
            continue
        held = _HOLDER.match(one)
        if held:
            todo += reversed(split(held[1], ",")[:4])
            continue
        kind = _CLASS_OF.match(one)
        if kind:
            todo_one = (kind[1] or kind[2]).strip("\"' ")
            found += [todo_one] if PATH.fullmatch(todo_one) else []
            continue
        name = re.split(r"[\[<]", one, maxsplit=1)[0].strip()
        if name not in _NOTHING and PATH.fullmatch(name) and not one.endswith("[]"):
            found.append(name + ":")
    return tuple(dict.fromkeys(found))[:4]


@lru_cache(maxsize=8192)
def bases(written: str) -> tuple[str, ...]:
    """Names of base classes in ``(A, b.C[T], metaclass=M)`` or ``extends A<T> implements B``."""
    text = re.sub(r"\b(?:extends|implements)\b", ",", written).strip().strip("()")
    found = []
    for part in split(text, ","):
        one = re.split(r"[\[<]", part, maxsplit=1)[0].strip()
        if PATH.fullmatch(one):
            found.append(one)
    return tuple(found)
