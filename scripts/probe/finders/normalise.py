"""From what a tool printed to findings of the snapshot: places checked, oddities counted.

Nothing is dropped silently: what cannot be a finding becomes a :class:`~probe.records.Rejected`
with its reason, and what could only be read with indulgence is counted by kind.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from probe.finders.locate import NotInSnapshotError, SnapshotTree
from probe.finders.quote import check_quote
from probe.records import Finding, Rejected, Severity
from probe.records.audit import Placing

MAX_TITLE = 160
"""Characters of a title."""

MAX_DEPTH = 40
"""Levels of a tool's own item that are kept; deeper ones become an ellipsis."""

_LINE_SUFFIX = re.compile(r"(?::\d+(?:[-:]\d+)?|#L\d+(?:-L?\d+)?)$")


@dataclass(frozen=True, slots=True)
class RawItem:
    """One reported item, in the tool's words but with named parts."""

    paths: tuple[str, ...]
    """The file as plain paths, most trusted first; the first that is in the snapshot counts."""
    first: int | None
    """First line, 1-based; None or 0 where the tool speaks of the whole file."""
    last: int | None
    """Last line; None: the first."""
    column: int | None
    """1-based, of the first line."""
    end_column: int | None
    """1-based and exclusive, of the last line: 1 means that the last line is not touched."""
    rule: str | None
    """The tool's rule."""
    title: str
    """Usually empty: the message's first sentence then."""
    message: str
    """What the tool says of this place."""
    meaning: str = ""
    """What the tool says of the rule."""
    severity: Severity | None = None
    """Mapped."""
    confidence: float | None = None
    """0 to 1, the tool's own."""
    suggested_fix: str | None = None
    """The tool's."""
    quote: str = ""
    """The faulty lines as the tool quotes them; empty where it quotes none."""
    raw: Mapping[str, object] = field(default_factory=dict)
    """The tool's item."""


@dataclass(frozen=True, slots=True)
class Normalised:
    """What became of the items."""

    findings: tuple[Finding, ...]
    """By path, line, column and rule."""
    rejected: tuple[Rejected, ...]
    """In the tool's order."""
    oddities: dict[str, int]
    """How many items needed indulgence, by kind, sorted."""


class Cleaner:
    """Makes a tool's item fit for a record that is the same on every machine.

    Args:
        names: what to write instead of each path of this machine; longer paths win.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = sorted(names.items(), key=lambda pair: -len(pair[0]))

    def text(self, value: str) -> str:
        """A text without this machine's paths and without lone surrogates."""
        for path, name in self._names:
            value = value.replace(path, name)
        return value.encode("utf-8", errors="replace").decode("utf-8")

    def value(self, value: object, depth: int = 0) -> object:
        """The same for everything inside a JSON value, cut at :data:`MAX_DEPTH`."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, float) and not math.isfinite(value):
            return str(value)  # JSON has no such number
        if isinstance(value, Mapping | list | tuple):
            if depth >= MAX_DEPTH:
                return "…"
            if isinstance(value, Mapping):
                return {self.text(str(k)): self.value(v, depth + 1) for k, v in value.items()}
            return [self.value(item, depth + 1) for item in value]
        return value

    def item(self, raw: Mapping[str, object]) -> dict[str, object]:
        """The same for a tool's item."""
        return {self.text(str(key)): self.value(value, 1) for key, value in raw.items()}


def normalise(
    items: Iterable[RawItem], tree: SnapshotTree, key: tuple[str, str, str], cleaner: Cleaner
) -> Normalised:
    """Place items in the snapshot.

    A whole-file item stands at line 1; an end before the start, or beyond the file, is put right
    and counted; a start beyond the file rejects the item, since it speaks of another text. Where an
    item quotes its lines and they stand elsewhere in the file, the quote decides: the finding is
    ``relocated``, and counted. The same item printed twice counts once.

    Args:
        items: in the tool's order.
        tree: the snapshot.
        key: repository, run and pass, for the findings' ids.
        cleaner: for texts and raw items.
    """
    oddities: Counter[str] = Counter()
    rejected = []
    placed: dict[tuple[object, ...], Finding] = {}
    for item in (_clean(one, cleaner) for one in items):
        try:
            path, first, last, placing = _place(item, tree, oddities)
        except NotInSnapshotError as error:
            rejected.append(
                Rejected(reason=error.reason, detail=cleaner.text(str(error)), raw=dict(item.raw))
            )
            continue
        order = _order(item, path, first, last)
        if order in placed:
            oddities["duplicate"] += 1
        else:
            found = _finding(item, path, first, last, tree, key)
            placed[order] = found.model_copy(update={"placing": placing})
    ordered = (placed[order] for order in sorted(placed, key=_none_first))
    prefix = ":".join(key)
    findings = tuple(
        finding.model_copy(update={"id": f"{prefix}:{n}"}) for n, finding in enumerate(ordered, 1)
    )
    return Normalised(findings, tuple(rejected), dict(sorted(oddities.items())))


def _none_first(order: tuple[object, ...]) -> tuple[object, ...]:
    """Sort key in which None comes before every number and text."""
    return tuple((part is not None, part if part is not None else 0) for part in order)


def headline(message: str) -> str:
    """The first sentence of a message, on one line, at most :data:`MAX_TITLE` characters."""
    line = next((line.strip() for line in message.splitlines() if line.strip()), "")
    if len(line) > MAX_TITLE:
        sentence, dot, _ = line.partition(". ")
        line = sentence if dot and len(sentence) <= MAX_TITLE else line[: MAX_TITLE - 1] + "…"
    return line


def quoted_paths(written: str, work: str) -> tuple[str, ...]:
    """What a model may mean by a path: as written, then without what is put before or after paths.

    Args:
        written: ``/work/src/a.py``, ``a/src/a.py`` (as in a diff), ``src/a.py:12`` …
        work: the checkout's folder inside the sandbox.
    """
    bare = written.strip().strip("`'\"").removeprefix("file://")
    bare = _LINE_SUFFIX.sub("", bare)
    inside = bare.removeprefix(f"{work}/").removeprefix("./")
    short = inside[2:] if inside.startswith(("a/", "b/")) else inside
    return tuple(dict.fromkeys((written, bare, inside, short)))


def _place(
    item: RawItem, tree: SnapshotTree, oddities: Counter[str]
) -> tuple[str, int, int, Placing]:
    """Path, first and last line of an item, and how they were found.

    Raises:
        NotInSnapshotError: it is not to be found.
    """
    path = _locate_any(item.paths, tree)
    if item.quote.strip():
        quoted = check_quote(item.quote, tree.squeezed(path), item.first, item.last)
        if quoted.span is not None:
            oddities["relocated"] += 1
            return path, *quoted.span, "relocated"
        if quoted.outcome == "unknown":
            first, last = _lines(item, path, tree, oddities)
            oddities["quote_not_found"] += 1
            return path, first, last, "as_reported"
    return path, *_lines(item, path, tree, oddities), "as_reported"


def _lines(item: RawItem, path: str, tree: SnapshotTree, oddities: Counter[str]) -> tuple[int, int]:
    count = tree.line_count(path)
    first = item.first
    if not first:
        oddities["file_level"] += 1
        return 1, 1
    if first < 0 or first > count:
        raise NotInSnapshotError("no_such_line", f"{path}:{first} of {count}")
    last = first if item.last is None else item.last
    if last > first and item.end_column == 1:
        last -= 1
    if last < first:
        oddities["end_before_start"] += 1
        last = first
    if last > count:
        oddities["end_beyond_file"] += 1
        last = count
    return first, last


def _locate_any(paths: tuple[str, ...], tree: SnapshotTree) -> str:
    """The first path that is in the snapshot; otherwise what is wrong with the first."""
    problem: NotInSnapshotError | None = None
    for written in paths:
        try:
            return tree.locate(written)
        except NotInSnapshotError as error:
            problem = problem or error
    raise problem or NotInSnapshotError("no_location", "no path")


def _clean(item: RawItem, cleaner: Cleaner) -> RawItem:
    """The item as it may be written; its paths stay as they are until they are located."""
    fix = item.suggested_fix
    return replace(
        item,
        rule=cleaner.text(item.rule) if item.rule else None,
        title=cleaner.text(item.title).strip(),
        message=cleaner.text(item.message).strip(),
        meaning=cleaner.text(item.meaning).strip(),
        suggested_fix=cleaner.text(fix) if fix else None,
        quote=cleaner.text(item.quote),
        raw=cleaner.item(item.raw),
    )


def _order(item: RawItem, path: str, first: int, last: int) -> tuple[object, ...]:
    return (
        path, first, item.column, item.rule, last, item.end_column, item.title, item.message,
    )  # fmt: skip


def _finding(
    item: RawItem, path: str, first: int, last: int, tree: SnapshotTree, key: tuple[str, str, str]
) -> Finding:
    title = headline(item.title) or headline(item.message) or item.rule or "(no message)"
    description = "\n\n".join(part for part in (item.message, item.meaning) if part) or title
    repo, run, pass_id = key
    return Finding(
        id=f"{repo}:{run}:{pass_id}:0",
        repo=repo,
        run=run,
        pass_id=pass_id,
        title=title,
        description=description,
        path=path,
        first=first,
        last=last,
        snippet=tree.snippet(path, first, last),
        severity=item.severity,
        confidence=item.confidence,
        rule=item.rule,
        suggested_fix=item.suggested_fix,
        raw=dict(item.raw),
    )
