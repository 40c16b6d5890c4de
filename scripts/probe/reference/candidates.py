"""From fix commits to candidates: what each corrected, and where that stood in the snapshot.

Every block reads what it needs from the mirror, so that blocks run apart and in any order.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from probe.code.paths import SourceScope
from probe.git.log import iter_diffs
from probe.git.objects import ObjectReader
from probe.git.process import run_git
from probe.records import Candidate, Commit, Dropped, Provenance
from probe.reference.anchor import Anchored, Past, anchor
from probe.reference.extract import extract
from probe.reference.mirror import MirrorHistory, Snapshot
from probe.reference.presence import assess
from probe.reference.replay import Replay
from probe.reference.titles import plain_title
from probe.reference.trace import Tracer

EXTRACT_VERSION = "1"
"""Raised whenever a candidate may come out differently."""


def build_candidates(
    mirror: Path, t0: str, t1: str, fixes: Sequence[Commit], scope: SourceScope
) -> tuple[list[Candidate], list[Dropped]]:
    """Extract and anchor the candidates of some fix commits.

    Args:
        mirror: a git directory with the window.
        t0: the snapshot commit.
        t1: the last commit of the window.
        fixes: fix commits of the window, in window order.
        scope: which files are production code.

    Returns:
        One candidate or one reason for each fix commit, both in window order.

    Raises:
        GitError: the mirror cannot be read.
    """
    candidates: list[Candidate] = []
    left_out: list[Dropped] = []
    shas = [fix.sha for fix in fixes]
    with open_past(mirror, t0, t1, scope, shas) as past:
        for fix, diff in zip(fixes, iter_diffs(mirror, shas), strict=True):
            found = extract(diff, past.tracer.parent(diff.sha), scope, past.read)
            if isinstance(found, Dropped):
                left_out.append(found)
            else:
                title = plain_title(fix.subject) or fix.subject
                candidates.append(_candidate(anchor(found, past), title, past))
    return candidates, left_out


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
    history = MirrorHistory(mirror, t0)
    blame = Tracer(history, parents)
    revs = {parents[sha] for sha in fixes if sha in parents}
    with ObjectReader(mirror) as reader:
        replay = Replay(mirror, t0, revs, reader, blame)
        yield Past(replay, Snapshot(mirror, t0, scope, reader), reader.read, history.names)


def window_parents(mirror: Path, t0: str, t1: str) -> dict[str, str]:
    """First parent of every commit of the window that has one."""
    printed = run_git(mirror, "rev-list", "--parents", f"{t0}..{t1}").decode()
    rows = (line.split() for line in printed.splitlines())
    return {row[0]: row[1] for row in rows if len(row) > 1}


def _candidate(anchored: Anchored, title: str, past: Past) -> Candidate:
    fix = anchored.fix
    spots = [line.place for line in anchored.lines if line.place is not None]
    places = [i for i in anchored.insertions if any(n.place for n in i.neighbours)]
    return Candidate(
        id=f"{fix.commit[:12]}-1",
        commit=fix.commit,
        title=title,
        root_cause=_root_cause(anchored, title),
        parent_locations=fix.parent_locations(),
        insertion_points=fix.insertion_points(),
        snapshot_locations=anchored.locations,
        anchoring=anchored.anchoring,
        anchored_lines=len(places) if fix.additive else len(spots),
        faulty_lines=len(anchored.lines),
        additive=fix.additive,
        lineage=assess(anchored, past),
        suggested_fix=fix.suggested_fix,
        provenance=Provenance.of_heuristic(EXTRACT_VERSION),
    )


def _root_cause(anchored: Anchored, title: str) -> str:
    units = list(dict.fromkeys(name for _, name in anchored.units))[:5]
    paths = list(dict.fromkeys(file.path for file in anchored.fix.files))[:5]
    return f"{title} (in {', '.join(units or paths or anchored.fix.new_files)})"
