"""Keeps API keys out of everything that is written: errors, logs and records pass through here.

Providers and client libraries quote what they were sent in their messages, keys included, so a
text from outside is never trusted to be clean.
"""

import os
import re

MASK = "[key]"
"""What stands where a key stood."""

_SECRET_NAME = re.compile(r"(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD)S?$", re.IGNORECASE)
_SHORTEST = 8
_registered: set[str] = set()


def register_key(variable: str) -> None:
    """Treat the value of this environment variable as a key, whatever the variable's name is."""
    _registered.add(variable)


def secret_values() -> list[str]:
    """Values of the environment's secrets, longest first; shorter than 8 characters is none.

    A shorter value would mask ordinary words; no provider's key is that short.
    """
    values = {
        value.strip()
        for name, value in os.environ.items()
        if name in _registered or _SECRET_NAME.search(name)
    }
    return sorted((value for value in values if len(value) >= _SHORTEST), key=len, reverse=True)


def scrub(text: str) -> str:
    """``text`` with every key of the environment replaced by ``[key]``."""
    for value in secret_values():
        text = text.replace(value, MASK)
    return text


def one_line(text: str, limit: int = 500) -> str:
    """``text`` without keys, on one line, cut to ``limit`` characters.

    Keys are masked before the cut, which could otherwise leave the recognisable half of one.
    """
    line = " ".join(scrub(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
