"""From a recipe to an environment that works: installed, tried by the project's own tests, recorded."""

import logging
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from probe.environment.base import UnbuildableError
from probe.environment.make import Ground, image_tag, make_environment, root_folder
from probe.environment.recipe import FORM, EcosystemRecipe, Recipe, TestPlan
from probe.environment.suite import Run, run_suite
from probe.environment.use import open_environment
from probe.errors import ConfigError
from probe.records import Environment, Provenance
from probe.records.store import content_sha256, write_json, write_text
from probe.sandbox import Limits, engine_name
from probe.sandbox.building import has_images

log = logging.getLogger(__name__)

_TEST_DISK_MB = 4_000
_TEST_PROCESSES = 512


def build_environment(
    recipe: Recipe,
    folder: Path,
    *,
    archive: Path,
    dockerfiles: Sequence[Path],
    engine: str,
    base_image: str | None,
    test_s: float,
    memory_mb: int,
    cache: Path | None = None,
) -> tuple[Environment, str]:
    """Build an environment and run the project's tests in it; without a network.

    Args:
        recipe: what to build.
        folder: ``results/{repo}``.
        archive: the snapshot's ``source.tar``.
        dockerfiles: ``envs/*.Dockerfile``.
        engine: as in ``sandbox.engine``.
        base_image: as in ``environment.base_image``.
        test_s: seconds of the tests, at most.
        memory_mb: memory of the sandbox, in MB of 10^6 bytes.
        cache: downloaded files of all repositories.

    Returns:
        The record, and what was printed by the tests, or by the installation where it failed.

    Raises:
        ConfigError: there is no Dockerfile for the ecosystem.
        ProbeError: the engine does not work, an artifact is missing, or the disk is full.
    """
    if recipe.reason is not None:
        return sources_only(recipe, recipe.reason, base_image), f"{recipe.reason}\n"
    named = engine_name(engine)
    ground = Ground(
        base_image=base_image,
        dockerfile=_dockerfile(recipe.ecosystems[0], dockerfiles),
        memory_mb=memory_mb,
    )
    write_json(folder / "environment" / "ground.json", ground)
    try:
        printed = make_environment(
            recipe, ground, folder, archive=archive, engine=named, cache=cache
        )
    except UnbuildableError as error:
        log.warning("%s", error)
        return sources_only(recipe, str(error), base_image), f"{error}\n"
    if printed:
        write_text(folder / "environment" / "install.log", printed)
    for line in printed.splitlines():
        if line.startswith("PROBE:"):
            log.warning("%s", line)
    _remove_others(folder, recipe)
    environment = _record(recipe, ground, named)
    plan = next((one.tests for one in recipe.ecosystems if one.tests is not None), None)
    if plan is None:
        return environment, "the project has no tests\n"
    run = _run_tests(environment, plan, folder, archive, engine, test_s, memory_mb)
    log.info("%s (%s)", run.totals.line, run.totals.problem or run.totals.command)
    for note in run.totals.notes:
        log.warning("tests: %s", note)
    return environment.model_copy(update={"tests": run.totals}), run.log


def _remove_others(folder: Path, recipe: Recipe) -> None:
    """Remove folders of earlier recipes: each is a whole installation."""
    kept = folder / root_folder(recipe)
    for other in kept.parent.glob("*"):
        if other != kept and not other.name.startswith("."):
            shutil.rmtree(other, ignore_errors=True)


def _run_tests(
    environment: Environment,
    plan: TestPlan,
    folder: Path,
    archive: Path,
    engine: str,
    test_s: float,
    memory_mb: int,
) -> Run:
    open_box = partial(
        open_environment,
        environment,
        folder,
        archive=archive,
        engine=engine,
        limits=Limits(
            memory_mb=memory_mb, processes=_TEST_PROCESSES, disk_mb=_TEST_DISK_MB, output_kb=2_000
        ),
    )
    return run_suite(open_box, plan, test_s)


def _dockerfile(first: EcosystemRecipe, dockerfiles: Sequence[Path]) -> str:
    wanted = f"{first.ecosystem}.Dockerfile"
    for path in dockerfiles:
        if path.name == wanted:
            return path.read_text(encoding="utf-8")
    raise ConfigError(f"envs/{wanted}: missing; take it from PROBE's own repository")


def _record(recipe: Recipe, ground: Ground, engine: str) -> Environment:
    releases = [one for ecosystem in recipe.ecosystems for one in ecosystem.releases]
    dates = [one.uploaded for one in releases if one.uploaded is not None]
    images = has_images(engine)
    return Environment(
        repo=recipe.repo,
        status="built",
        cutoff=recipe.cutoff,
        runtimes={k: v for one in recipe.ecosystems for k, v in one.runtimes.items()},
        locks={one.ecosystem: one.lock_source for one in recipe.ecosystems},
        releases=len(releases),
        newest=max(dates, default=None),
        unknown_dates=sum(one.uploaded is None for one in releases),
        variables=recipe.variables,
        image=image_tag(recipe, ground) if images else None,
        folder=None if images else root_folder(recipe),
        sha256=recipe.sha256,
        provenance=recipe.provenance,
    )


def sources_only(recipe: Recipe, reason: str, base_image: str | None) -> Environment:
    """The record of a snapshot that has no environment, for this reason."""
    return Environment(
        repo=recipe.repo,
        status="sources_only",
        reason=" ".join(reason.split()),
        cutoff=recipe.cutoff,
        image=base_image,
        sha256=content_sha256(
            {"form": FORM, "sources_only": recipe.archive_sha256, "base": base_image}
        ),
        provenance=Provenance.of_heuristic(FORM),
    )
