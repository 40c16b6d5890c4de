"""Records of the document on the project: what it holds, what it rests on, what was left out."""

from typing import Literal

from pydantic import Field

from probe.records.base import Provenance, Record, RepoPath
from probe.records.calls import Usage

SectionKey = Literal[
    "purpose",
    "architecture",
    "public_api",
    "supported_inputs",
    "error_handling",
    "intentional_deviations",
    "unsupported_features",
]
"""A section of the document; the last two decide what of a finding is in scope."""


class ContextSection(Record):
    """A section of the document (part of ``context.json``)."""

    key: SectionKey
    """Which."""
    entries: int = Field(ge=1)
    """Entries in ``context.md``."""
    left_out: int = Field(default=0, ge=0)
    """Entries that there was no room for in ``context.md``."""
    tokens: int = Field(ge=1)
    """Its length in ``context.md`` (cl100k_base)."""
    sources: tuple[RepoPath, ...]
    """Files of the snapshot that its entries rest on or name, sorted."""


class ContextDrop(Record):
    """Something that was handed in, does not hold, and was left out."""

    section: SectionKey
    """Where it stood."""
    text: str
    """What it said, on one line."""
    reason: str
    """What does not hold."""


class ContextInfo(Record):
    """How the documents on the project were made (``context.json``)."""

    provenance: Provenance
    """What wrote them."""
    archive_sha256: str
    """Hash of the ``source.tar`` that they describe."""
    document_sha256: str
    """Hash of ``context.md``."""
    panel_sha256: str
    """Hash of ``panel_context.md``."""
    document_tokens: int = Field(ge=1)
    """Length of ``context.md`` (cl100k_base)."""
    panel_tokens: int = Field(ge=1)
    """Length of ``panel_context.md``."""
    sections: tuple[ContextSection, ...]
    """In the order of ``context.md``."""
    omitted: tuple[SectionKey, ...]
    """Sections that there are not: nothing was found for them, nothing of it held, or none had room."""
    dropped: tuple[ContextDrop, ...] = ()
    """What an agent went on claiming although it does not hold; empty for the heuristic."""
    unread: tuple[str, ...] = ()
    """Files that should have told something and could not be read, each with the reason."""
    transcript: str | None = None
    """The agent's transcript, relative to the folder of this file; None for the heuristic."""
    turns: int | None = Field(default=None, ge=0)
    """Answers of the agent; None for the heuristic."""
    usage: Usage | None = None
    """What they used; None for the heuristic."""
