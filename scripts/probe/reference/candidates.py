"""From fix commits to candidates: what each corrected, and where that stood in the snapshot.

An extractor says what: the heuristic one, or a model's. All else is the same for both. Every block reads what it needs from the mirror, so that blocks run apart and in any order.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from probe.code.paths import SourceScope
from probe.git.ancestry import first_parents
from probe.git.diff import CommitDiff
from probe.git.ignored import read_ignored
from probe.git.log import iter_diffs
from probe.git.objects import ObjectReader
from probe.models.base import Model
from probe.models.client import Asker
from probe.models.prompts import Prompt
from probe.records import Candidate, Commit, Dropped, Provenance
from probe.reference.anchor import Anchored, anchor
from probe.reference.extract import Read, extract
from probe.reference.extract_model import Budgets, Fix, Found, ask_extractions, candidate_id
from probe.reference.mirror import MirrorHistory, Snapshot
from probe.reference.places import Past
from probe.reference.presence import assess
from probe.reference.replay import Replay
from probe.reference.titles import plain_title
from probe.reference.trace import Tracer

EXTRACT_VERSION = "2"
"""Raised whenever a candidate may come out differently."""


Extractor = Callable[[Commit, CommitDiff, str | None, Read], Sequence[Found | Dropped]]
"""What a fix commit corrects: the commit, its diff, its first parent, and a reader of both trees."""


def build_candidates(
    mirror: Path,
    t0: str,
    t1: str,
    fixes: Sequence[Commit],
    scope: SourceScope,
    extractor: Extractor | None = None,
) -> tuple[list[Candidate], list[Dropped]]:
    """Extract and anchor the candidates of some fix commits.

    Args:
        mirror: a git directory with the window.
        t0: the snapshot commit.
        t1: the last commit of the window.
        fixes: fix commits of the window, in window order.
        scope: which files are production code.
        extractor: says what each commit corrects; by default the heuristic.

    Returns:
        Candidates, and a reason for everything that left, both in window order. The heuristic
        gives one of the two for each fix commit.

    Raises:
        GitError: the mirror cannot be read.
    """
    extracted = extractor or heuristic_extractor(scope)
    candidates: list[Candidate] = []
    left_out: list[Dropped] = []
    shas = [fix.sha for fix in fixes]
    with open_past(mirror, t0, t1, scope, shas) as past:
        for fix, diff in zip(fixes, iter_diffs(mirror, shas), strict=True):
            for found in extracted(fix, diff, past.tracer.parent(diff.sha), past.read):
                if isinstance(found, Dropped):
                    left_out.append(found)
                else:
                    candidates.append(_candidate(found, past))
    return candidates, left_out


def heuristic_extractor(scope: SourceScope) -> Extractor:
    """One bug a commit, titled by its subject: see :mod:`probe.reference.extract`."""

    def extracted(
        fix: Commit, diff: CommitDiff, parent: str | None, read: Read
    ) -> list[Found | Dropped]:
        found = extract(diff, parent, scope, read)
        if isinstance(found, Dropped):
            return [found]
        title = plain_title(fix.subject) or fix.subject
        provenance = Provenance.of_heuristic(EXTRACT_VERSION)
        return [Found(candidate_id(fix.sha, 1), found, title, None, provenance)]

    return extracted


def model_extractor(
    mirror: Path,
    t0: str,
    t1: str,
    fixes: Sequence[Commit],
    scope: SourceScope,
    prompt: Prompt,
    asker: Asker,
    model: Model,
    budgets: Budgets,
    *,
    purpose: str,
) -> Extractor:
    """A model's answers about fix commits, all asked for here, in one batch.

    Args:
        mirror: a git directory with the window.
        t0: the snapshot commit.
        t1: the last commit of the window.
        fixes: fix commits of the window, in window order.
        scope: which files are production code.
        prompt: ``prompts/extract.j2``.
        asker: the client.
        model: whom to ask.
        budgets: how much of a commit it sees.
        purpose: for the ledger, ``extract REPOSITORY/BLOCK``.

    Raises:
        BudgetError: a call could pass the cap; what was bought stays in the cache.
        ModelError: see :func:`probe.reference.extract_model.ask_extractions`.
        GitError: the mirror cannot be read.
    """
    with ObjectReader(mirror) as reader:
        return ask_extractions(
            fixes_with_diffs(mirror, t0, t1, fixes),
            reader.read,
            scope,
            prompt,
            asker,
            model,
            budgets,
            purpose=purpose,
        )


def fixes_with_diffs(mirror: Path, t0: str, t1: str, fixes: Sequence[Commit]) -> Iterator[Fix]:
    """Each fix commit with its diff and first parent; streamed, since diffs are large."""
    parents = window_parents(mirror, t0, t1)
    diffs = iter_diffs(mirror, [fix.sha for fix in fixes])
    for fix, diff in zip(fixes, diffs, strict=True):
        yield fix, diff, parents.get(fix.sha)


@contextmanager
def open_past(
    mirror: Path, t0: str, t1: str, scope: SourceScope, fixes: Iterable[str]
) -> Iterator[Past]:
    """The mirror as the anchoring of some fix commits asks it.

    Args:
        mirror: a git directory with the window.
        t0: the snapshot commit.
        t1: the last commit of the window.
        scope: which files are production code.
        fixes: fix commits; lines are traced from their first parents.
    """
    parents = window_parents(mirror, t0, t1)
    ignored = read_ignored(mirror, t1).revs & parents.keys()
    history = MirrorHistory(mirror, t0, ignored)
    blame = Tracer(history, parents, ignored)
    revs = {parents[sha] for sha in fixes if sha in parents}
    with ObjectReader(mirror) as reader:
        replay = Replay(mirror, t0, revs, reader, blame)
        yield Past(replay, Snapshot(mirror, t0, scope, reader), reader.read, history.uses)


def window_parents(mirror: Path, t0: str, t1: str) -> dict[str, str]:
    """First parent of every commit of the window that has one."""
    return first_parents(mirror, f"{t0}..{t1}")


def _candidate(found: Found, past: Past) -> Candidate:
    anchored = anchor(found.fix, past)
    fix = anchored.fix
    spots = [line.place for line in anchored.lines if line.place is not None]
    places = [i for i in anchored.insertions if any(n.place for n in i.neighbours)]
    return Candidate(
        id=found.id,
        commit=fix.commit,
        title=found.title,
        root_cause=found.root_cause or _root_cause(anchored, found.title),
        parent_locations=fix.parent_locations(),
        insertion_points=fix.insertion_points(),
        snapshot_locations=anchored.locations,
        anchoring=anchored.anchoring,
        anchored_lines=len(places) if fix.additive else len(spots),
        ways=anchored.ways,
        faulty_lines=len(anchored.lines),
        additive=fix.additive,
        lineage=assess(anchored, past),
        suggested_fix=fix.suggested_fix,
        provenance=found.provenance,
    )


def _root_cause(anchored: Anchored, title: str) -> str:
    units = list(dict.fromkeys(name for _, name in anchored.units))[:5]
    paths = list(dict.fromkeys(file.path for file in anchored.fix.files))[:5]
    return f"{title} (in {', '.join(units or paths or anchored.fix.new_files)})"
