"""What a document is made of, whoever wrote it: sections of entries, each with what it rests on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from probe.records.context import SectionKey

SECTIONS: tuple[SectionKey, ...] = get_args(SectionKey)
"""All sections, in the order of the document."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that a document says."""

    text: str
    """Markdown without a bullet; further lines are indented below the first."""
    where: str = ""
    """The place that shows it, ``path:line`` or several of them; printed behind the text."""
    sources: tuple[str, ...] = ()
    """Paths of the snapshot that it rests on or names."""
    rank: int = 0
    """What is left out first where there is no room: the highest."""
    depth: int = 0
    """Indentation, in steps."""
    panel: str = ""
    """What the panel's variant adds: how a user's input gets there."""
    prose: bool = False
    """A paragraph of its own, without a bullet."""


Document = Mapping[SectionKey, Sequence[Entry]]
"""Entries by section; a section without entries is left out."""
