"""Where a SARIF location points to: artifact indices, base ids, regions.

A report is often made on another machine. A relative URI is taken relative to its base; the
outermost base, or the one that is absolute, is taken for the repository's root. An absolute URI
counts when it lies below the snapshot or below one of the run's bases or the run's ``root``.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import unquote, urlsplit

from probe.finders.shape import array, integer, section, string

MAX_BASES = 20
"""Bases that a chain may have; a longer one is a loop."""

_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]+:")


class UriReader:
    """Turns the artifact locations of one SARIF run into plain paths to try.

    Args:
        run: the SARIF run.
        root: the repository's folder on the machine that made the report, ``""`` if not told.
    """

    def __init__(self, run: Mapping[str, object], root: str) -> None:
        self._artifacts = array(run, "artifacts")
        self._bases = section(run, "originalUriBaseIds")
        tops = {self._base(name)[0] for name in self._bases} | {plain_path(root)}
        self._tops = sorted((top.rstrip("/") for top in tops if _is_absolute(top)), key=len)

    def candidates(self, location: Mapping[str, object]) -> tuple[str, ...]:
        """Plain paths of an artifact location, most trusted first; empty without a URI."""
        location = self._resolve_index(location)
        uri = string(location, "uri")
        if not uri:
            return ()
        top, inner = self._base(string(location, "uriBaseId"))
        found: dict[str, None] = {}
        for written in dict.fromkeys((plain_path(uri), uri)):
            if _is_absolute(written):
                found.update(dict.fromkeys(self._below_tops(written)))
                found[written] = None
            else:
                below = posixpath.join(inner, written)
                if top:
                    found.update(dict.fromkeys(self._below_tops(posixpath.join(top, below))))
                found[below] = None
        return tuple(found)

    def _resolve_index(self, location: Mapping[str, object]) -> Mapping[str, object]:
        index = integer(location, "index")
        if string(location, "uri") or index is None or not 0 <= index < len(self._artifacts):
            return location
        return section(self._artifacts[index], "location")

    def _base(self, name: str) -> tuple[str, str]:
        """The absolute folder that a base chain ends at (or ``""``) and the way down from it."""
        inner = ""
        for _ in range(MAX_BASES):
            if not name:
                break
            base = section(self._bases, name)
            path = plain_path(string(base, "uri"))
            if _is_absolute(path):
                return path, inner
            inner = posixpath.join(path, inner)
            name = string(base, "uriBaseId")
        return "", inner

    def _below_tops(self, path: str) -> Iterator[str]:
        """An absolute path relative to each known root above it, the outermost first."""
        for top in self._tops:
            if path.startswith(f"{top}/"):
                yield path[len(top) + 1 :]


def plain_path(uri: str) -> str:
    """The path that a URI reference stands for, with forward slashes; other schemes stay as is.

    >>> plain_path("file:///home/ci/my%20repo/a.py")
    '/home/ci/my repo/a.py'
    >>> plain_path("file:///C:/repo/a.py")
    'C:/repo/a.py'
    """
    if not _SCHEME.match(uri):
        return unquote(uri).replace("\\", "/")
    try:
        parts = urlsplit(uri)
    except ValueError:
        return uri
    if parts.scheme.lower() != "file":
        return uri
    path = unquote(parts.path).replace("\\", "/")
    if re.match(r"^/[A-Za-z]:", path):
        return path[1:]
    return path


def _is_absolute(path: str) -> bool:
    return path.startswith("/") or bool(re.match(r"^[A-Za-z]:", path) or _SCHEME.match(path))


def line_range(
    region: Mapping[str, object], read_text: Callable[[], str]
) -> tuple[int | None, int | None]:
    """First and last line of a region; None, None where it names none.

    A region by character offset alone is counted out in the text.
    """
    first, last = integer(region, "startLine"), integer(region, "endLine")
    offset = integer(region, "charOffset")
    if first is not None or offset is None or offset < 0:
        return first, last
    text = read_text()
    end = offset + max(integer(region, "charLength") or 0, 0)
    if end > len(text):
        return None, None
    first = text.count("\n", 0, offset) + 1
    return first, first + text[offset:end].rstrip("\n").count("\n")
