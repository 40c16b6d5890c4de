"""What a full session is told about a pass beside its task: sources, call graph, snippets, as text.

Everything follows from the pass and the snapshot alone, so that the pass's content hash, which covers
the partners and their files, covers this text as well. A change of its form must raise
``BRIEF_VERSION`` (:mod:`probe.snapshot.briefs`), or finished sessions stand beside others that saw
something else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from probe.records import Partner, Pass
from probe.snapshot.partners import unit_name
from probe.snapshot.snippets import Snippet, callee_snippet, caller_snippet

SNIPPET_TOKENS = 16_000
"""Tokens (cl100k_base) of all snippets of a pass together, at most: about a quarter of the sources."""

MAX_NAMES = 8
"""Units of the pass that are named beside one partner; the others are counted."""

MAX_SITES = 12
"""Lines of calls that are named beside one caller; the others are counted."""

_REMARK = 16
"""Tokens kept for the remark on what did not fit."""


class Texts(Protocol):
    """Reads the snapshot, such as :class:`probe.finders.locate.SnapshotTree`."""

    def text(self, path: str) -> str:
        """A file's text with line feeds only, without the last one."""
        ...


class NumberedFile(NamedTuple):
    """A file as a prompt shows it."""

    path: str
    """Inside the snapshot."""
    text: str
    """Its lines, each with its number and a bar."""


@dataclass(frozen=True, slots=True)
class Material:
    """What a session gets as text."""

    sources: tuple[NumberedFile, ...]
    """The pass's files, whole, in the pass's order."""
    call_graph: str
    """Who calls whom across the pass's border, a line a partner; empty where nobody does."""
    callers: str
    """Code of the callers, each under its name, the most important first; empty without any."""
    callees: str
    """Code of the callees, likewise."""


def pass_material(the_pass: Pass, tree: Texts, snippet_tokens: int = SNIPPET_TOKENS) -> Material:
    """All text on a pass.

    Args:
        the_pass: files and partners.
        tree: the snapshot.
        snippet_tokens: as in :func:`partner_snippets`.

    Raises:
        FinderError: a file of the snapshot cannot be read.
    """
    callers, callees = partner_snippets(the_pass, tree, snippet_tokens)
    return Material(numbered_files(the_pass, tree), call_graph(the_pass), callers, callees)


def partner_snippets(
    the_pass: Pass, tree: Texts, snippet_tokens: int = SNIPPET_TOKENS
) -> tuple[str, str]:
    """Code of the callers, and of the callees.

    Args:
        the_pass: its partners.
        tree: the snapshot.
        snippet_tokens: tokens of both together, at most. Each kind may take half, and what the other
            leaves. A unit that does not fit is cut to its head, then left out: the call graph still
            names its file and lines.

    Raises:
        FinderError: a file of the snapshot cannot be read.
    """
    callers = [caller_snippet(one, tree.text(one.path)) for one in the_pass.callers]
    callees = [callee_snippet(one, tree.text(one.path)) for one in the_pass.callees]
    _, reserved = _fill(callees, snippet_tokens // 2)
    callers_text, used = _fill(callers, snippet_tokens - reserved)
    callees_text, _ = _fill(callees, snippet_tokens - used)
    return callers_text, callees_text


def numbered_files(the_pass: Pass, tree: Texts) -> tuple[NumberedFile, ...]:
    """The pass's files with numbered lines.

    Raises:
        FinderError: a file of the snapshot cannot be read.
    """
    return tuple(NumberedFile(path, numbered(tree.text(path))) for path in the_pass.files)


def numbered(text: str, first: int = 1) -> str:
    """Each line of a text after its number, counted from ``first``, and a bar."""
    clean = text.encode("utf-8", errors="replace").decode("utf-8")
    return "\n".join(f"{number}|{line}" for number, line in enumerate(clean.split("\n"), first))


def call_graph(the_pass: Pass) -> str:
    """The pass's callers and callees, a line each, the most important first."""
    alone = the_pass.files[0] if len(the_pass.files) == 1 else None
    parts = [
        _listing(
            "Units of other files that call into these files",
            [_caller_line(one, alone) for one in the_pass.callers],
            the_pass.callers_found,
        ),
        _listing(
            "Units of other files that these files call",
            [_callee_line(one, alone) for one in the_pass.callees],
            the_pass.callees_found,
        ),
    ]
    return "\n\n".join(part for part in parts if part)


def _listing(title: str, lines: Sequence[str], found: int) -> str:
    if not lines:
        return ""
    more = f", the {len(lines)} most important of {found}" if found > len(lines) else ""
    return "\n".join([f"{title}{more}:", *lines])


def _caller_line(partner: Partner, alone: str | None) -> str:
    sites = _some([str(line) for line in partner.sites], MAX_SITES)
    where = f", on line{'s' if len(partner.sites) > 1 else ''} {sites}" if sites else ""
    return f"{_place(partner)} calls {_inside(partner, alone)}{where}{_doubt(partner)}"


def _callee_line(partner: Partner, alone: str | None) -> str:
    times = f", {partner.calls} times" if partner.calls > 1 else ""
    return f"{_place(partner)} is called by {_inside(partner, alone)}{times}{_doubt(partner)}"


def _place(partner: Partner) -> str:
    name = unit_name(partner.path, partner.unit)
    return f"{name} ({partner.first}-{partner.last})" if partner.unit else f"{name} (top level)"


def _inside(partner: Partner, alone: str | None) -> str:
    """Units of the pass; in a pass of a single file their names alone."""
    names = partner.into
    if alone is not None:
        prefix = f"{alone}:"
        names = tuple("top level" if one == alone else one.removeprefix(prefix) for one in names)
    return _some(names, MAX_NAMES)


def _some(names: Sequence[str], limit: int) -> str:
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def _doubt(partner: Partner) -> str:
    return "" if partner.certainty == "certain" else f" ({partner.certainty})"


def _fill(snippets: Sequence[Snippet], budget: int) -> tuple[str, int]:
    """Snippets one after another as far as they fit, and the tokens that they take."""
    shown: list[str] = []
    used = missing = 0
    room = budget - _REMARK
    for snippet in snippets:
        form = next((one for one in snippet.forms if used + one.tokens <= room), None)
        if form is None:
            missing += 1
        else:
            shown.append(form.text)
            used += form.tokens
    if missing and shown:
        shown.append(f"({missing} more of them only in the call graph)")
        used += _REMARK
    return "\n\n".join(shown), used
