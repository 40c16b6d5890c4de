"""The document without a model: put together by rules from what the snapshot says of itself.

It quotes rather than concludes: README, package metadata, exports, the module tree, the manual and
comments, each with its place. It knows what the project wrote down, and is silent on the rest.
"""

from collections.abc import Sequence
from typing import NamedTuple

from probe.context.api import surfaces_of
from probe.context.api_text import commands, public_api
from probe.context.behaviour import error_handling, scope, supported_inputs
from probe.context.blocks import Block
from probe.context.comments import TOOL_REMARK
from probe.context.entry import Document, Entry
from probe.context.manual import Manual, Page
from probe.context.metadata import Package, read_packages
from probe.context.modules import architecture, reach_of, role_of
from probe.context.parsed import Code
from probe.context.sources import Sources
from probe.context.statements import DEVIATIONS, UNSUPPORTED
from probe.records import CallEdge

VERSION = "1"
"""Version of the rules: part of the provenance."""

CAUTION = "These sentences were found by their wording alone: make sure that one really speaks of the case."
"""What the panel is told of them."""

_MOST_PARAGRAPHS = 6
_MOST_PACKAGES = 8
_FEATURES = ("features", "overview", "highlights", "what is", "introduction")


class Assembled(NamedTuple):
    """A document and what is to be said of its making."""

    document: Document
    origin: str
    """For its head."""
    unread: Sequence[str]
    """Metadata that could not be read."""


def assemble(sources: Sources, edges: Sequence[CallEdge]) -> Assembled:
    """Put the document together.

    Args:
        sources: the snapshot.
        edges: its call graph; may be empty.
    """
    code, manual = Code(sources), Manual(sources)
    packages, unread = read_packages(sources)
    surfaces = [*surfaces_of(sources, code, packages), *commands(sources, code, packages)]
    reach = reach_of(edges, surfaces, manual)
    seen: set[str] = set()
    deviations = scope(sources, code, manual, DEVIATIONS, seen)
    unsupported = scope(sources, code, manual, UNSUPPORTED, seen)
    document: Document = {
        "purpose": _purpose(code, manual, packages),
        "architecture": architecture(sources, code, edges, reach),
        "public_api": public_api(code, manual, surfaces),
        "supported_inputs": supported_inputs(manual, packages, seen),
        "error_handling": error_handling(sources, code, manual, seen),
        "intentional_deviations": deviations,
        "unsupported_features": unsupported,
    }
    return Assembled(document, _origin(manual, packages, calls=bool(edges)), unread)


def _purpose(code: Code, manual: Manual, packages: Sequence[Package]) -> list[Entry]:
    """What metadata, the README's beginning and its features say; else the package's docstring."""
    found = [
        Entry(
            f"`{one.name or '.'}`: {one.description}", one.source, (one.source,), rank, prose=True
        )
        for rank, one in enumerate(packages[:_MOST_PACKAGES])
        if one.description
    ]
    readme = manual.readme
    if readme is not None:
        found += _introduction(readme)
    if not found:
        roots = (path for path in ("__init__.py", "index.ts", "index.js", "main.py"))
        for name in roots:
            for file in code.sources.audited:
                role = role_of(code, file.path) if file.path.rpartition("/")[2] == name else ""
                if role:
                    return [Entry(role, f"{file.path}:1", (file.path,), prose=True)]
    return found


def _introduction(readme: Page) -> list[Entry]:
    """Paragraphs of a README before its first section, and the list of its features."""
    before: list[Block] = []
    features: list[Block] = []
    for number, section in enumerate(readme.sections):
        heading = section.heading.lower()
        if any(heading.startswith(word) for word in _FEATURES):
            features += section.blocks
        elif (number == 0 or section.level <= 1) and not before:
            before += section.blocks
    if not any(block.kind == "text" for block in before) and len(readme.sections) > 1:
        before = [*before, *readme.sections[1].blocks]
    texts = [
        one
        for one in before
        if one.kind == "text" and len(one.text) > 40 and not TOOL_REMARK.search(one.text[:40])
    ]
    # links to a manual, a chat and sponsors are items as well, but short ones
    items = [one for one in features if one.kind != "code" and len(one.text) > 20]
    return [
        Entry(
            one.text,
            f"{readme.path}:{one.line}",
            (readme.path,),
            2 + rank,
            prose=one.kind == "text",
        )
        for rank, one in enumerate([*texts[:_MOST_PARAGRAPHS], *items[:20]])
    ]


def _origin(manual: Manual, packages: Sequence[Package], *, calls: bool) -> str:
    named = [page.path for page in manual.pages if page.is_readme][:2]
    named += [one.source for one in packages[:3]]
    others = sum(not page.is_readme for page in manual.pages)
    if others:
        named.append(f"{others} page{'s' if others > 1 else ''} of its manual")
    named.append("exports, comments and the module tree of its sources")
    if calls:
        named.append("its static call graph")
    return (
        f"Assembled by rules from the snapshot's {', '.join(named)}. Sentences are the project's own, "
        "quoted with their place; nobody wrote or checked this page. What the project never wrote "
        "down is missing here."
    )
