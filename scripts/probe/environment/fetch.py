"""From a snapshot to the recipe of its environment: with a network, without running foreign code."""

import logging
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from probe.environment.base import Ecosystem, FetchJob, UnbuildableError
from probe.environment.ecosystems import ECOSYSTEMS
from probe.environment.machine import describe_machine
from probe.environment.override import Override
from probe.environment.recipe import FORM, EcosystemRecipe, Recipe
from probe.environment.tree import Tree
from probe.environment.version import UNKNOWN, snapshot_version
from probe.errors import ProbeError
from probe.records import Provenance, SnapshotInfo
from probe.records.snapshot import Release

log = logging.getLogger(__name__)

PACKAGE_COLUMNS = ("ecosystem", "name", "version", "uploaded", "accepted")
"""Columns of ``packages.tsv``."""


class Place(NamedTuple):
    """Where a fetch works."""

    artifacts: Path
    """``results/{repo}/environment/artifacts``."""
    cache: Path
    """Downloaded files of all repositories."""
    engine: str
    """As in ``sandbox.engine``."""
    base_image: str | None
    """As in ``environment.base_image``."""


def fetch_environment(
    info: SnapshotInfo,
    archive: Path,
    languages: Sequence[str],
    override: Override,
    place: Place,
    *,
    build: bool = True,
) -> Recipe:
    """The recipe of a snapshot's environment, its artifacts downloaded and checked.

    Args:
        info: the snapshot.
        archive: its ``source.tar``.
        languages: keys of the repository's languages.
        override: what a person wrote.
        place: where to work.
        build: false where no environment is wanted at all.

    Raises:
        ProbeError: the recipe cannot be made now, or a person has to decide: a release after T0, a
            lock without hashes, an index without dates or out of reach.
    """
    cutoff = info.committer_time
    if not build:
        return _recipe(info, cutoff, "environments are switched off (environment.build)")
    if override.disable is not None:
        return _recipe(info, cutoff, f"switched off for this repository: {override.disable}")
    tree = Tree(archive)
    found = [one for one in ECOSYSTEMS if _serves(one, languages) and one.detect(tree)]
    if not found:
        named = ", ".join(languages)
        return _recipe(info, cutoff, f"nothing in the snapshot says what it needs ({named})")
    version, where = snapshot_version(tree)
    job = FetchJob(
        repo=info.repo,
        tree=tree,
        cutoff=cutoff,
        artifacts=place.artifacts,
        cache=place.cache,
        override=override,
        machine=describe_machine(place.engine, place.base_image),
        version=override.version or version,
    )
    log.info("version %s %s", job.version, f"(from {where})" if version != UNKNOWN else "(unknown)")
    made, problems = [], []
    for one in found:
        try:
            made.append(one.fetch(job))
        except UnbuildableError as error:
            problems.append(f"{one.name}: {error}")
        except ProbeError as error:
            raise type(error)(str(error).replace("{repo}", info.repo)) from error
    for problem in problems:
        log.warning("%s", problem)
    if not made:
        return _recipe(info, cutoff, "; ".join(problems))
    return _recipe(info, cutoff, None, made, problems)


def _serves(one: Ecosystem, languages: Sequence[str]) -> bool:
    return bool(set(one.languages) & set(languages))


def _recipe(
    info: SnapshotInfo,
    cutoff: datetime,
    reason: str | None,
    made: Sequence[EcosystemRecipe] = (),
    problems: Sequence[str] = (),
) -> Recipe:
    if made and problems:
        first = made[0].model_copy(update={"notes": (*made[0].notes, *problems)})
        made = [first, *made[1:]]
    return Recipe(
        repo=info.repo,
        archive_sha256=info.archive_sha256,
        cutoff=cutoff,
        reason=None if reason is None else " ".join(reason.split()),
        ecosystems=tuple(made),
        provenance=Provenance.of_heuristic(FORM),
    )


def package_table(recipe: Recipe, late: Iterable[str] = ()) -> str:
    """Every release inside with its upload, tab-separated: for people and for the check on leaks.

    Args:
        recipe: the recipe.
        late: releases that a person accepted though they are younger, ``name==version``.
    """
    accepted = set(late)
    rows = ["\t".join(PACKAGE_COLUMNS)]
    for one in (one for ecosystem in recipe.ecosystems for one in ecosystem.releases):
        uploaded = one.uploaded.isoformat() if one.uploaded else ""
        mark = "yes" if _is_late(one, recipe) and _key(one) & accepted else ""
        rows.append("\t".join((one.ecosystem, one.name, one.version, uploaded, mark)))
    return "\n".join(rows) + "\n"


def _is_late(one: Release, recipe: Recipe) -> bool:
    return one.uploaded is None or one.uploaded > recipe.cutoff


def _key(one: Release) -> set[str]:
    return {f"{one.name}=={one.version}", f"{one.name}@{one.version}"}
