"""The results folder as a whole: which layout it has, and that it is ours to write."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from probe import __version__
from probe.errors import RecordError
from probe.records import Classification, PassResult, iter_jsonl, read_json, write_text

LAYOUT = 1
"""Raised whenever a released version can no longer read the files of the one before."""

_MARK = "LAYOUT"


def check(folder: Path) -> None:
    """Refuse a results folder that another layout of PROBE wrote.

    Raises:
        RecordError: the mark is of another layout or unreadable, or the folder is no folder.
    """
    mark = folder / _MARK
    if folder.exists() and not folder.is_dir():
        raise RecordError(f"{folder}: is a file, but results go there; move it away")
    if not mark.exists():
        return
    found = mark.read_text(encoding="utf-8", errors="replace").split(maxsplit=1)
    if not found or found[0] != str(LAYOUT):
        what = found[0] if found else "an empty mark"
        raise RecordError(
            f"{mark}: written by a version of PROBE with layout {what}, this one ({__version__}) "
            f"has layout {LAYOUT}; move the folder {folder}/ away and build again"
        )


def mark(folder: Path) -> None:
    """Say in the folder which layout its files have; called when a build starts."""
    target = folder / _MARK
    if not target.exists():
        write_text(target, f"{LAYOUT} (layout of this folder; written by PROBE {__version__})\n")


class Unfinished(NamedTuple):
    """A result that records a failure: the next build makes it again once it is gone."""

    path: Path
    """The file."""
    failures: Counter[str]
    """How many of which kind."""


def unfinished(folder: Path) -> Iterator[Unfinished]:
    """Pass files that did not end well and blocks with unjudged commits, sorted by path.

    Raises:
        RecordError: a file cannot be read.
    """
    for path in sorted(folder.glob("*/*/passes/*.json")):
        result = read_json(path, PassResult)
        if result.status != "ok":
            yield Unfinished(path, Counter([result.status]))
    for path in sorted(folder.glob("*/reference/blocks/*/classifications.jsonl")):
        verdicts = iter_jsonl(path, Classification)
        kinds: Counter[str] = Counter()
        kinds.update(verdict.failure.kind for verdict in verdicts if verdict.failure)
        if kinds:
            yield Unfinished(path, kinds)
