"""The plan: which audited files go into which pass, and which units elsewhere are shown beside them.

Files that are long or bound up with many others get passes of their own. The rest stay together by
directory as far as the token budget allows: a folder whose whole subtree fits is one batch,
otherwise its own files are batched and its subfolders planned in turn. Same files and calls, same
plan, byte for byte, whatever their order.
"""

import logging
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import PurePosixPath

from probe.config.settings import PlanSettings
from probe.paths import WHOLE
from probe.records import CallEdge, Pass, SnapshotFile, content_sha256
from probe.snapshot.partners import CallMap, Partners

PLAN_VERSION = 2
"""Part of every pass's content hash: a change of the pass's form makes paid passes rerun."""

PARTNER_LINES = 60
"""Lines that a call partner in another file weighs as much as (paper: appendix B)."""

_log = logging.getLogger(__name__)


def build_plan(
    files: Iterable[SnapshotFile],
    edges: Iterable[CallEdge] = (),
    settings: PlanSettings | None = None,
) -> list[Pass]:
    """Partition the audited files into passes, sorted by id; a file above the budget is logged.

    The score of a file is its lines + 60 × the number of other audited files with which it shares a
    call, made or received, that is certain or likely. Files of at least ``individual_score`` get
    passes of their own, the highest first, at most ``individual_share`` of all audited files (rounded
    down; of two equal ones the first by path). All others are batched by directory. Callers and
    callees are units of other audited files, by certainty, number of calls and name.

    Args:
        files: the snapshot's files in any order; only audited ones are planned.
        edges: the call graph in any order.
        settings: budgets and limits; the defaults where there are none.

    Returns:
        Passes that together hold every audited file exactly once. A pass is above the token budget
        only where a single file is.
    """
    planner = _Planner(files, edges, settings or PlanSettings())
    passes = sorted(planner.passes(), key=lambda one: one.id)
    for one in passes:
        if warning := over_budget(one, planner.limits.token_budget):
            _log.warning("%s", warning)
    return passes


def score(file: SnapshotFile, calls: CallMap) -> int:
    """How much a file has to be looked into: its lines + 60 × its call partners, which are files."""
    return file.lines + PARTNER_LINES * len(calls.partner_files(file.path))


def over_budget(one: Pass, token_budget: int) -> str:
    """What to say of a pass that is larger than the budget; empty for all others."""
    if one.tokens <= token_budget:
        return ""
    return (
        f"pass {one.id}: {one.files[0]} alone has {one.tokens} tokens, more than plan.token_budget "
        f"{token_budget}: it is a pass of its own, and a model with a smaller window gets it in parts"
    )


def whole_pass(files: Iterable[SnapshotFile]) -> Pass:
    """The single pass over all audited files that analysers and imported reports get."""
    audited = sorted((file for file in files if file.audited), key=lambda file: file.path)
    return Pass(
        id=WHOLE,
        kind="batch",
        files=tuple(file.path for file in audited),
        tokens=sum(file.tokens for file in audited),
        score=float(max((file.lines for file in audited), default=0)),
        content_sha256=content_sha256(_content(audited)),
    )


class _Planner:
    def __init__(
        self, files: Iterable[SnapshotFile], edges: Iterable[CallEdge], limits: PlanSettings
    ) -> None:
        self.limits = limits
        self.audited = sorted((file for file in files if file.audited), key=lambda file: file.path)
        self.blobs = {file.path: file.blob for file in self.audited}
        self.calls = CallMap(edges, self.blobs)
        self.scores = {file.path: score(file, self.calls) for file in self.audited}
        self.chosen = self._choose()

    def passes(self) -> Iterator[Pass]:
        budget = self.limits.token_budget
        single = [one for one in self.audited if one.path in self.chosen or one.tokens > budget]
        apart = {one.path for one in single}
        rest = [one for one in self.audited if one.path not in apart]
        groups = [*([one] for one in single), *_batches(rest, budget)]
        for name, group in zip(_names(groups), groups, strict=True):
            yield self._pass(name, group)

    def _choose(self) -> set[str]:
        """The files that get passes of their own for their score."""
        # as a fraction of the decimal: in binary, 0.29 × 100 is less than 29
        most = int(Fraction(repr(self.limits.individual_share)) * len(self.scores))
        high = [
            path for path, value in self.scores.items() if value >= self.limits.individual_score
        ]
        return set(sorted(high, key=lambda path: (-self.scores[path], path))[:most])

    def _pass(self, name: str, files: Sequence[SnapshotFile]) -> Pass:
        limits = self.limits
        paths = [file.path for file in files]
        alone = paths[0] in self.chosen
        most = limits.individual_partners if alone else limits.batch_partners
        callers, callees = self.calls.callers(paths, most), self.calls.callees(paths, most)
        return Pass(
            id=name,
            kind="individual" if alone else "batch",
            files=tuple(paths),
            tokens=sum(file.tokens for file in files),
            callers=callers.listed,
            callees=callees.listed,
            callers_found=callers.found,
            callees_found=callees.found,
            score=float(max(self.scores[path] for path in paths)),
            content_sha256=content_sha256(
                [*_content(files), self._seen(callers), self._seen(callees)]
            ),
        )

    def _seen(self, partners: Partners) -> list[object]:
        """What a session sees of its partners, with the contents of their files."""
        return [
            partners.found,
            [[one.model_dump(mode="json"), self.blobs[one.path]] for one in partners.listed],
        ]


def _batches(
    files: Sequence[SnapshotFile], budget: int, folder: tuple[str, ...] = ()
) -> Iterator[list[SnapshotFile]]:
    if not files:
        return
    if sum(file.tokens for file in files) <= budget:
        yield list(files)
        return
    depth = len(folder)
    own: list[SnapshotFile] = []
    below: dict[str, list[SnapshotFile]] = defaultdict(list)
    for file in files:
        parts = PurePosixPath(file.path).parts
        if len(parts) == depth + 1:
            own.append(file)
        else:
            below[parts[depth]].append(file)
    yield from _split(own, budget)
    for name in sorted(below):
        yield from _batches(below[name], budget, (*folder, name))


def _split(files: Sequence[SnapshotFile], budget: int) -> Iterator[list[SnapshotFile]]:
    group: list[SnapshotFile] = []
    total = 0
    for file in files:
        if group and total + file.tokens > budget:
            yield group
            group, total = [], 0
        group.append(file)
        total += file.tokens
    if group:
        yield group


def _names(groups: Sequence[Sequence[SnapshotFile]]) -> list[str]:
    stems = [_stem(group) for group in groups]
    seen: dict[str, int] = defaultdict(int)
    names = []
    for stem in stems:
        seen[stem] += 1
        names.append(f"{stem}-{seen[stem]}")
    return names


def _stem(group: Sequence[SnapshotFile]) -> str:
    """The folder (or single file) that a group stands for, as letters, digits and dashes."""
    parts = [PurePosixPath(file.path).parts for file in group]
    if len(parts) == 1:
        common: tuple[str, ...] = parts[0]
    else:
        shared = 0
        while all(len(p) > shared + 1 and p[shared] == parts[0][shared] for p in parts):
            shared += 1
        common = parts[0][:shared]
    slug = re.sub(r"[^a-z0-9]+", "-", "-".join(common).lower()).strip("-")
    return slug[-80:].strip("-") or "root"


def _content(files: Iterable[SnapshotFile]) -> list[object]:
    return [PLAN_VERSION, [[file.path, file.blob] for file in files]]
