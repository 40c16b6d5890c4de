"""The audit of a snapshot before any session: what a finder could see of the time after T0.

Looked at are the archive itself, member by member against T0's tree, and the sandbox that a finder
gets, opened for real. Each check counts what it looked at: one that looked at nothing proves nothing
and is an error.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from probe.environment.make import read_recipe
from probe.environment.override import Override
from probe.environment.recipe import OVERLAY, PREFIX
from probe.environment.use import open_environment
from probe.errors import IsolationError
from probe.isolation.findings import Findings
from probe.isolation.inside import AUDIT_LIMITS, list_sandbox
from probe.isolation.installed import check_packages
from probe.isolation.listing import NESTED, Listing, list_archive
from probe.isolation.project import read_project
from probe.isolation.reach import check_reach
from probe.isolation.tree import Past, compare_tree
from probe.records import (
    Environment,
    Leak,
    LeakKind,
    LeakReport,
    Release,
    SnapshotInfo,
    file_sha256,
)
from probe.sandbox import WORK, Mount, Sandbox

_CHANGELOG_BYTES = 4_000_000
_PACKAGE_CHANGELOG_BYTES = 20_000
"""A package's changelog begins with its newest entry."""
_SHOWN = 5
_NO_NETWORK = "sandboxes must have no network: see `probe doctor`"
_NO_GIT = "take it out of the archive or the image"
_REMEDIES: dict[LeakKind, str] = {
    "foreign_file": "delete snapshot/source.tar and run the same command again",
    "git_objects": _NO_GIT,
    "git_refs": _NO_GIT,
    "git_reflog": _NO_GIT,
    "mtime": "build the snapshot, or the environment, again",
    "changelog": "check that T0 is the right commit; a planned date may be accepted",
    "packages": "build the environment again, or use an image or an engine without it",
    "registry": _NO_NETWORK,
    "dns": _NO_NETWORK,
    "network": _NO_NETWORK,
}
"""What to do about each kind, in the order in which they are told."""


@dataclass(frozen=True)
class Snapshot:
    """What is audited."""

    archive: Path
    """``source.tar``."""
    info: SnapshotInfo
    """``commit.json``."""
    mirror: Path
    """A git directory that has T0."""
    environment: Environment
    """``environment.json``."""
    folder: Path
    """``results/{repo}``."""


def audit_snapshot(
    about: Snapshot,
    override: Override,
    *,
    engine: str,
    mounts: Sequence[Mount] = (),
    sockets: Sequence[str] = (),
) -> LeakReport:
    """Search a snapshot, as a finder will see it, for the time after T0.

    Git data that T0's own tree holds, and that has no commit after T0, is accepted as what it is: a
    fixture of the project. Everything else that is accepted, a person accepts in the override.

    Args:
        about: the snapshot.
        override: what a person accepted (``leaks`` and ``late``).
        engine: as in ``sandbox.engine``.
        mounts: what a session sees beside the environment.
        sockets: paths inside of mounted sockets that are there on purpose.

    Raises:
        IsolationError: leaks that nobody accepted, with kind, place and remedy; or a check that could
            not look at anything.
        SandboxError: no sandbox can be had, or it died.
        GitError: the mirror does not have T0.
        RecordError: the environment's recipe cannot be read.
    """
    found = Findings(about.environment.cutoff)
    archive = list_archive(about.archive)
    tree = compare_tree(about.archive, about.mirror, about.info.sha)
    found.count("foreign_file", len(tree.known) + len(tree.leaks))
    found.add(tree.leaks)
    found.look_for_git(archive)
    found.look_at_dates(archive, [f"{WORK}/"], _CHANGELOG_BYTES)
    _refuse(about, found, tree.known, override)  # a sandbox would refuse some of it less clearly
    box = open_environment(
        about.environment,
        about.folder,
        archive=about.archive,
        engine=engine,
        limits=AUDIT_LIMITS,
        mounts=mounts,
    )
    with closing(box):
        _look_inside(box, about, override, archive, found, sockets)
        used = box.info.engine
    accepted = _refuse(about, found, tree.known, override)
    _check_counts(about, found)
    if file_sha256(about.archive) != about.info.archive_sha256:
        raise IsolationError(
            f"{about.archive}: is not the archive that commit.json beside it describes; delete both and "
            "run the same command again"
        )
    return LeakReport(
        repo=about.info.repo,
        t0=about.info.sha,
        cutoff=about.environment.cutoff,
        environment_sha256=about.environment.sha256,
        engine=used,
        checks={kind: found.checks[kind] for kind in _REMEDIES},
        leaks=(),
        accepted=tuple(accepted),
    )


def _look_inside(
    box: Sandbox,
    about: Snapshot,
    override: Override,
    archive: Listing,
    found: Findings,
    sockets: Sequence[str],
) -> None:
    inside = list_sandbox(box)
    found.look_for_git(inside)
    found.look_at_dates(inside, [f"{WORK}/", f"{PREFIX}/"], _PACKAGE_CHANGELOG_BYTES)
    found.count("foreign_file", sum(e.path.startswith(f"{WORK}/") for e in inside.files()))
    found.add(_foreign(archive, inside))
    installed = check_packages(
        inside,
        read_project(archive),
        _releases(about),
        override.late,
        about.environment.cutoff,
        Past(about.mirror, about.info.sha),
    )
    found.count("packages", len(inside.entries))
    found.add(installed.leaks)
    if about.environment.releases and not any(
        one.root.startswith(f"{PREFIX}/") for one in installed.packages
    ):
        raise IsolationError(
            f"{about.info.repo}: the environment holds {about.environment.releases} releases by its "
            f"recipe, but below {PREFIX} none is found; build it again"
        )
    reach = check_reach(box, inside.entries, sockets)
    for kind, number in reach.checks.items():
        found.count(kind, number)
    found.add(reach.leaks)


def _releases(about: Snapshot) -> list[Release]:
    """What the environment is made of, by its recipe."""
    if about.environment.status == "sources_only":
        return []
    recipe, _ = read_recipe(about.folder)
    return [release for one in recipe.ecosystems for release in one.releases]


def _foreign(archive: Listing, inside: Listing) -> list[Leak]:
    """Files in the work folder that neither the archive nor the environment's overlay has."""
    expected = {(entry.path, entry.size) for entry in archive.files()}
    expected |= {
        (f"{WORK}/{entry.path.removeprefix(f'{OVERLAY}/')}", entry.size)
        for entry in inside.files()
        if entry.path.startswith(f"{OVERLAY}/")
    }
    return [
        Leak(
            kind="foreign_file",
            where=entry.path,
            detail="in the sandbox, but neither in source.tar nor made by the environment",
        )
        for entry in inside.files()
        if entry.path.startswith(f"{WORK}/") and (entry.path, entry.size) not in expected
    ]


def _refuse(
    about: Snapshot, found: Findings, known: frozenset[str], override: Override
) -> list[Leak]:
    """Stop where a leak is left; else the accepted ones, each with its reason in the detail."""
    leaks, accepted = [], []
    for leak in found.leaks:
        reason = _reason(leak, found, known, override.leaks)
        if reason is None:
            leaks.append(leak)
        else:
            detail = f"{leak.detail}; accepted: {reason}"
            accepted.append(leak.model_copy(update={"detail": detail}))
    if leaks:
        order = list(_REMEDIES)
        leaks.sort(key=lambda leak: (order.index(leak.kind), leak.where))
        raise IsolationError(_message(about.info.repo, leaks))
    return accepted


def _reason(
    leak: Leak, found: Findings, known: frozenset[str], reasons: Mapping[str, str]
) -> str | None:
    for place, reason in reasons.items():
        if fnmatchcase(leak.where, place) or fnmatchcase(
            leak.where.removeprefix(f"{WORK}/"), place
        ):
            return reason
    if leak.kind.startswith("git_") and leak.where not in found.late_git:
        place = leak.where.partition(NESTED)[0]
        if place in known or any(path.startswith(f"{place}/") for path in known):
            return "a fixture of the project: T0's own tree has it"
    return None


def _check_counts(about: Snapshot, found: Findings) -> None:
    for kind in _REMEDIES:
        if not found.checks[kind]:
            raise IsolationError(
                f"{about.info.repo}: the check {kind!r} found nothing to look at, so it proves nothing"
            )


def _message(repo: str, leaks: Iterable[Leak]) -> str:
    listed = list(leaks)
    told = [f"{leak.kind} {leak.where} ({leak.detail})" for leak in listed[:_SHOWN]]
    shown = "; ".join("".join(c if c.isprintable() else "?" for c in text) for text in told)
    more = f"; and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    remedies = "; ".join(dict.fromkeys(_REMEDIES[leak.kind] for leak in listed[:_SHOWN]))
    return (
        f"{repo}: the snapshot knows the time after T0: {shown}{more}. Remedy: {remedies}. What is harmless "
        f"can be accepted, with a reason, under leaks: in envs/{repo.partition('@')[0]}/environment.yaml"
    )
