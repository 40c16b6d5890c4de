"""The reference set as it is scored and published: after the errata, with a version and a hash."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from probe.records import Bug, History, ReferenceInfo, content_sha256


@dataclass(frozen=True, slots=True)
class Sealed:
    """The reference set of one repository."""

    bugs: list[Bug]
    """In the window order of their earliest fixes."""
    info: ReferenceInfo
    """What identifies it."""


def seal(
    history: History, merged: Sequence[Bug], errata: Sequence[Mapping[str, str]], version: str
) -> Sealed:
    """Apply the errata of a repository to its merged bugs.

    Args:
        history: what the set was built from.
        merged: the bugs as merged.
        errata: rows of ``errata.tsv`` that name this repository, in the file's order.
        version: the setting ``reference.version``.
    """
    info = ReferenceInfo(
        repo=history.repo,
        version=version,
        sha256=content_sha256([bug.model_dump(mode="json") for bug in merged]),
        t0=history.t0,
        t1=history.t1,
        bugs=len(merged),
        withdrawn=0,
        corrected=0,
    )
    return Sealed(list(merged), info)
