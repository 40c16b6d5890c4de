r"""Paths as git holds them (bytes without encoding) and as records show them (text).

A path that is not UTF-8 shows its odd bytes as ``\xNN``; :func:`encode_candidates` leads back.
"""

import re

_ESCAPES = {
    b"a": b"\a",
    b"b": b"\b",
    b"f": b"\f",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"v": b"\v",
    b'"': b'"',
    b"\\": b"\\",
}
_ESCAPE = re.compile(rb'\\([0-7]{3}|[abfnrtv"\\])')
_HEX = re.compile(rb"\\x([0-9a-f]{2})")


def unquote(name: bytes) -> bytes:
    """Undo git's C-style quoting; a name without quotes is returned as it is."""
    if len(name) < 2 or not (name.startswith(b'"') and name.endswith(b'"')):
        return name
    return _ESCAPE.sub(_unescape, name[1:-1])


def decode_path(name: bytes) -> str:
    r"""Show a path as text: UTF-8, other bytes as ``\xNN``."""
    return name.decode("utf-8", errors="backslashreplace")


def encode_candidates(path: str) -> list[bytes]:
    """Paths that :func:`decode_path` may have shown as ``path``, the likeliest first."""
    plain = path.encode("utf-8")
    odd = _HEX.sub(lambda match: bytes([int(match[1], 16)]), plain)
    return [plain] if odd == plain else [plain, odd]


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return _ESCAPES[code] if code in _ESCAPES else bytes([int(code, 8) & 0xFF])
