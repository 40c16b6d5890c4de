"""The reference set as it is scored and published: after the errata, with a version and a hash."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from probe.code.paths import SourceScope
from probe.code.units import enclosing_unit
from probe.config import Erratum
from probe.config.names import suggestion
from probe.errors import ConfigError
from probe.git.objects import ObjectReader
from probe.records import Bug, History, Location, ReferenceInfo
from probe.reference.mirror import Snapshot
from probe.reference.synthesize import cut_snippet


@dataclass(frozen=True, slots=True)
class Sealed:
    """The reference set of one repository after its errata."""

    bugs: list[Bug]
    """In the window order of their earliest fixes."""
    withdrawn: int
    """Bugs that errata took out."""
    corrected: int
    """Bugs that errata changed and left in."""
    errata: int
    """Rows that were applied."""


def apply_errata(
    mirror: Path, t0: str, merged: Sequence[Bug], errata: Sequence[Erratum], shown: str
) -> Sealed:
    """Withdraw and correct merged bugs.

    A bug whose primary place is corrected gets the unit and the snippet of the new place; the old
    one, which was wrong, is dropped.

    Args:
        mirror: a git directory with the snapshot; read only where a place is corrected.
        t0: the snapshot commit.
        merged: the bugs as merged, in window order.
        errata: the rows of this repository, in the file's order; later ones win.
        shown: how messages name the file of the errata.

    Raises:
        ConfigError: a row names a bug that is not there, or a place that the snapshot does not have.
        GitError: the mirror cannot be read.
    """
    bugs = {bug.id: bug for bug in merged}
    changed: set[str] = set()
    with ObjectReader(mirror) as reader:
        snapshot = Snapshot(mirror, t0, SourceScope(), reader)
        for erratum in errata:
            if erratum.bug not in bugs:
                raise _problem(shown, erratum, "the reference set has no such bug", list(bugs))
            if erratum.action == "withdraw":
                del bugs[erratum.bug]
                changed.discard(erratum.bug)
            else:
                bugs[erratum.bug] = _corrected(bugs[erratum.bug], erratum, snapshot, shown)
                changed.add(erratum.bug)
    return Sealed(list(bugs.values()), len(merged) - len(bugs), len(changed), len(errata))


def reference_info(history: History, sealed: Sealed, version: str, sha256: str) -> ReferenceInfo:
    """What identifies a sealed set.

    Args:
        history: what the set was built from.
        sealed: the set.
        version: the setting ``reference.version``; ``+n`` is added where n errata apply.
        sha256: of the file ``bugs.jsonl``.
    """
    return ReferenceInfo(
        repo=history.repo,
        version=f"{version}+{sealed.errata}" if sealed.errata else version,
        sha256=sha256,
        t0=history.t0,
        t1=history.t1,
        bugs=len(sealed.bugs),
        withdrawn=sealed.withdrawn,
        corrected=sealed.corrected,
    )


def _corrected(bug: Bug, erratum: Erratum, snapshot: Snapshot, shown: str) -> Bug:
    if erratum.field != "primary":
        return bug.model_copy(update={str(erratum.field): erratum.value})
    place = erratum.place
    lines = snapshot.lines(place.path)
    if place.last > len(lines):
        raise _problem(shown, erratum, _no_place(place, len(lines), place.path in snapshot.paths))
    unit = enclosing_unit(snapshot.units(place.path), place.first)
    return bug.model_copy(
        update={
            "primary": place,
            "others": tuple(other for other in bug.others if other != place),
            "unit": unit.name if unit else None,
            "snippet": cut_snippet(lines, place, unit),
        }
    )


def _no_place(place: Location, lines: int, exists: bool) -> str:
    if not exists:
        return f"the snapshot has no file {place.path}"
    return f"{place.path} has {lines} lines in the snapshot"


def _problem(shown: str, erratum: Erratum, found: str, known: Sequence[str] = ()) -> ConfigError:
    what = f"{erratum.action} {erratum.field}" if erratum.field else erratum.action
    hint = suggestion(erratum.bug, known)
    return ConfigError(
        f"{shown}: row '{erratum.bug}', {what}, {erratum.date}: {found}; correct or remove the row"
        f"{hint if 'did you mean' in hint else ''}"
    )
