"""Both documents and the record of their making, by either engine."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from probe.agent import made_by
from probe.code.tokens import count_tokens
from probe.context.entry import SECTIONS, Document
from probe.context.heuristic import CAUTION, VERSION, assemble
from probe.context.render import FINDERS, PANEL, Rendered, render, section_text
from probe.context.sources import Sources
from probe.context.writer import ORIGIN, Writing, write_context
from probe.models.client import Caller
from probe.records import (
    CallEdge,
    ContextDrop,
    ContextInfo,
    ContextSection,
    Provenance,
    Usage,
    file_sha256,
)


class ProjectContext(NamedTuple):
    """What ``context.md``, ``panel_context.md`` and ``context.json`` hold."""

    document: str
    panel: str
    info: ContextInfo


def heuristic_context(sources: Sources, edges: Sequence[CallEdge], tokens: int) -> ProjectContext:
    """The documents put together by rules.

    Args:
        sources: the snapshot.
        edges: its call graph; may be empty.
        tokens: of each document (cl100k_base), at most.
    """
    assembled = assemble(sources, edges)
    return _made(
        sources,
        assembled.document,
        assembled.origin,
        tokens,
        _Making(Provenance.of_heuristic(VERSION), unread=tuple(assembled.unread), caution=CAUTION),
    )


def agent_context(about: Writing, transcript: str, caller: Caller) -> ProjectContext:
    """The documents written by an agent.

    Args:
        about: what it is to do, and with what.
        transcript: the transcript's path as ``context.json`` is to name it.
        caller: the client.

    Raises:
        BudgetError: a call could pass the cap.
        ModelError: the agent gave no document, or cannot be asked.
        SandboxError: no sandbox works here.
    """
    written = write_context(about, caller)
    making = _Making(
        made_by(about.model, about.prompt, written.result),
        dropped=written.dropped,
        transcript=transcript,
        turns=written.result.turns,
        usage=written.result.usage,
    )
    return _made(about.sources, written.document, ORIGIN, about.tokens, making)


class _Making(NamedTuple):
    """What a record says beside the documents."""

    provenance: Provenance
    dropped: tuple[ContextDrop, ...] = ()
    unread: tuple[str, ...] = ()
    transcript: str | None = None
    turns: int | None = None
    usage: Usage | None = None
    caution: str = ""


def _made(
    sources: Sources, document: Document, origin: str, tokens: int, making: _Making
) -> ProjectContext:
    finders = render(document, origin, tokens, FINDERS)
    panel = render(document, origin, tokens, PANEL.cautious(making.caution))
    info = ContextInfo(
        provenance=making.provenance,
        archive_sha256=file_sha256(sources.archive),
        document_sha256=_sha256(finders.text),
        panel_sha256=_sha256(panel.text),
        document_tokens=finders.tokens,
        panel_tokens=panel.tokens,
        sections=_sections(finders, sources),
        omitted=tuple(key for key in SECTIONS if key not in finders.sections),
        dropped=making.dropped,
        unread=making.unread,
        transcript=making.transcript,
        turns=making.turns,
        usage=making.usage,
    )
    return ProjectContext(finders.text, panel.text, info)


def _sections(rendered: Rendered, sources: Sources) -> tuple[ContextSection, ...]:
    return tuple(
        ContextSection(
            key=key,
            entries=len(fitted.entries),
            left_out=fitted.left_out,
            tokens=count_tokens(section_text(key, fitted, FINDERS)),
            sources=tuple(sorted({
                path.removeprefix("./").rstrip("/")
                for entry in fitted.entries
                for path in entry.sources
                if sources.exists(path)
            })),
        )
        for key in SECTIONS
        if (fitted := rendered.sections.get(key)) is not None
    )  # fmt: skip


def _sha256(text: str) -> str:
    """As of the file that the text is written to."""
    return hashlib.sha256(text.encode("utf-8", errors="replace")).hexdigest()
