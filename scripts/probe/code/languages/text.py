"""Dotted paths and lists in the text of a program, shared by plugins and readers."""

import re

PATH = re.compile(r"[A-Za-z0-9_$#\x80-\xff]+(?:\??\.[A-Za-z0-9_$#\x80-\xff]+)*")
"""A name, or names with dots between; a file's text has one character a byte."""


def split(text: str, by: str) -> list[str]:
    """Parts between separators that stand outside all brackets and quotes."""
    if by not in text:
        return [text]
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        if letter in "([{<":
            depth += 1
        elif letter in ")]}" or (letter == ">" and text[place - 1] != "="):
            depth -= 1
        elif letter == by and depth <= 0:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]
