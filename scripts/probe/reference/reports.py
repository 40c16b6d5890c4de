"""The write-ups of one block's present candidates."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from probe.code.paths import SourceScope
from probe.git.objects import ObjectReader
from probe.models.base import Model
from probe.models.client import Asker
from probe.models.prompts import Prompt
from probe.records import Candidate, Dropped, Presence, Report
from probe.reference.leaks import Forbidden
from probe.reference.mirror import Snapshot
from probe.reference.synthesize import leaking, write_report
from probe.reference.synthesize_model import Budgets, write_with_model
from probe.reference.unseen import commits_up_to, unseen_names


@dataclass(frozen=True)
class Desk:
    """What any engine needs to write the reports of a block."""

    present: Sequence[Candidate]
    """Candidates that the snapshot had, in window order."""
    snapshot: Snapshot
    forbidden: dict[str, Forbidden]
    """By candidate what its report may not say."""


@contextmanager
def open_desk(
    mirror: Path, t0: str, candidates: Iterable[Candidate], presences: Iterable[Presence]
) -> Iterator[Desk]:
    """The present candidates of a block, with the snapshot open for reading.

    Args:
        mirror: a git directory with the window.
        t0: the snapshot commit.
        candidates: of the block, in window order.
        presences: their verdicts; what is dropped or unjudged is not written up.

    Raises:
        GitError: the mirror cannot be read.
    """
    kept = {presence.candidate for presence in presences if presence.verdict == "keep"}
    present = [item for item in candidates if item.id in kept]
    with ObjectReader(mirror) as reader:
        names = unseen_names(mirror, t0, reader, present)
        commits = commits_up_to(mirror, t0, [item.commit for item in present])
        forbidden = {item.id: Forbidden(commits, names[item.id]) for item in present}
        yield Desk(present, Snapshot(mirror, t0, SourceScope(), reader), forbidden)


def write_reports(
    mirror: Path, t0: str, candidates: Iterable[Candidate], presences: Iterable[Presence]
) -> tuple[list[Report], list[Dropped]]:
    """Template reports of the candidates that were kept, and those that make no bug, both in order.

    A template is cut until nothing leaks; should something still, the report is recorded with it.
    """
    with open_desk(mirror, t0, candidates, presences) as desk:
        written = [
            write_report(item, desk.snapshot, desk.forbidden[item.id]) for item in desk.present
        ]
    reports = [item for item in written if isinstance(item, Report)]
    left = [
        leaking(item) if isinstance(item, Report) else item for item in written if _leaves(item)
    ]
    return reports, left


def ask_reports(
    mirror: Path,
    t0: str,
    candidates: Iterable[Candidate],
    presences: Iterable[Presence],
    prompt: Prompt,
    asker: Asker,
    model: Model,
    budgets: Budgets,
    *,
    purpose: str,
) -> tuple[list[Report], list[Dropped]]:
    """A model's reports; see :func:`probe.reference.synthesize_model.write_with_model`."""
    with open_desk(mirror, t0, candidates, presences) as desk:
        return write_with_model(
            desk.present,
            desk.snapshot,
            desk.forbidden,
            prompt,
            asker,
            model,
            budgets,
            purpose=purpose,
        )


def _leaves(written: Report | Dropped) -> bool:
    return isinstance(written, Dropped) or bool(written.leaks)
