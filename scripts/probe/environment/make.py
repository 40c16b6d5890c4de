"""Making an environment from its recipe: an image where the engine has images, else a folder.

No network and no clock: what is inside depends on the recipe and on the base. The same step makes an
environment the first time, on another machine, and again where somebody removed it.
"""

import logging
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import Field

from probe.environment.base import UnbuildableError
from probe.environment.downloads import missing_artifacts
from probe.environment.recipe import ARTIFACTS, MISMATCH, PREFIX, Recipe
from probe.errors import ProbeError, SandboxError
from probe.models.locks import file_lock
from probe.records import Record, read_json
from probe.records.store import content_sha256
from probe.sandbox import Limits, Mount, SandboxSpec, open_sandbox
from probe.sandbox.building import (
    BuildError,
    ImageBuild,
    build_image,
    filling,
    has_image,
    has_images,
)
from probe.sandbox.images import LABEL, host_image_tag

log = logging.getLogger(__name__)

BUILD_S = 3_600
"""Seconds of an installation."""
_DISK_MB = 8_000
_NAME_DIGITS = 20
_NO_SPACE = "No space left on device"

_FRAME = """set -euo pipefail
export HOME=/tmp/home
mkdir -p "$HOME"
cd /work
"""
_END = f"""
find {PREFIX} -exec touch --no-dereference --date=@{{seconds}} {{{{}}}} +
chmod -R a+rX {PREFIX}
"""


class Ground(Record):
    """What a recipe is built on (``environment/ground.json``), kept so that it can be built again."""

    base_image: str | None
    """As in ``environment.base_image``."""
    dockerfile: str
    """Text of the Dockerfile."""
    memory_mb: int = Field(ge=1)
    """Memory of the installation, in MB of 10^6 bytes."""


def image_tag(recipe: Recipe, ground: Ground) -> str:
    """The image's name and tag: the same for the same recipe, base and Dockerfile."""
    about = [recipe.sha256, ground.base_image or host_image_tag(), ground.dockerfile]
    return f"probe-env:{content_sha256(about)[:_NAME_DIGITS]}"


def root_folder(recipe: Recipe) -> str:
    """The folder of engines without images, relative to ``results/{repo}``."""
    return f"environment/roots/{recipe.sha256[:_NAME_DIGITS]}"


def make_environment(
    recipe: Recipe, ground: Ground, folder: Path, *, archive: Path, engine: str, cache: Path | None
) -> str:
    """Build it, where it is not there yet, and return what was printed.

    Args:
        recipe: what to build.
        ground: what to build it on.
        folder: ``results/{repo}``.
        archive: the snapshot's ``source.tar``.
        engine: an engine's name, not ``auto``.
        cache: where artifacts may be found that are gone from the folder; None for nowhere.

    Raises:
        UnbuildableError: a step of the installation fails.
        ProbeError: an artifact is missing, the disk is full, or the engine does not work.
    """
    with file_lock(folder / "environment" / ".lock"):
        if is_made(recipe, ground, folder, engine):
            return ""
        _check_artifacts(recipe, folder, cache)
        log.info("installing %d packages", sum(len(one.releases) for one in recipe.ecosystems))
        if has_images(engine):
            return _make_image(recipe, ground, folder, archive, engine)
        return _make_folder(recipe, ground, folder, archive, engine)


def is_made(recipe: Recipe, ground: Ground, folder: Path, engine: str) -> bool:
    """Whether it is there already."""
    if has_images(engine):
        return has_image(engine, image_tag(recipe, ground))
    return (folder / root_folder(recipe)).is_dir()


def read_recipe(folder: Path) -> tuple[Recipe, Ground]:
    """What an environment below ``results/{repo}`` was built from.

    Raises:
        RecordError: a file is missing or malformed.
    """
    about = folder / "environment"
    return read_json(about / "recipe.json", Recipe), read_json(about / "ground.json", Ground)


def install_text(recipe: Recipe) -> str:
    """The whole script: each ecosystem's in a shell of its own, then dates and rights."""
    parts = [_FRAME]
    for one in recipe.ecosystems:
        given = {**recipe.variables, **one.variables}
        exports = "".join(
            f"export {name}={_quoted(value)}\n" for name, value in sorted(given.items())
        )
        listed = "".join(
            f"{name}=({' '.join(_quoted(f'{ARTIFACTS}/{file}') for file in files)})\n"
            for name, files in sorted(one.groups.items())
        )
        parts.append(f"(\n{exports}{listed}{one.install}\n)\n")
    seconds = int(recipe.cutoff.timestamp())
    return "".join(parts) + _END.format(seconds=seconds)


def _quoted(text: str) -> str:
    escaped = text.replace("'", "'\\''")
    return f"'{escaped}'"


def _check_artifacts(recipe: Recipe, folder: Path, cache: Path | None) -> None:
    artifacts = [file for one in recipe.ecosystems for file in one.artifacts]
    place = folder / "environment" / "artifacts"
    lacking = missing_artifacts(artifacts, place, cache or place / ".none")
    if lacking:
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        raise ProbeError(
            f"{place / lacking[0].file}: missing or altered{more}; fetch again: delete "
            f"{folder / 'environment' / 'recipe.json'} and run the same command"
        )


def _make_image(recipe: Recipe, ground: Ground, folder: Path, archive: Path, engine: str) -> str:
    files = [file.file for one in recipe.ecosystems for file in one.artifacts]
    place = folder / "environment" / "artifacts"
    with TemporaryDirectory(prefix="probe-install-") as name:
        script = Path(name) / "install.sh"
        script.write_text(install_text(recipe), encoding="utf-8")
        context = {f"artifacts/{file}": place / file for file in files}
        context |= {"source.tar": archive, "install.sh": script}
        build = ImageBuild(
            tag=image_tag(recipe, ground),
            dockerfile=ground.dockerfile,
            context=context,
            base=ground.base_image,
            labels={
                LABEL: "environment",
                f"{LABEL}.repo": recipe.repo,
                f"{LABEL}.environment": recipe.sha256,
                f"{LABEL}.lock": lock_sha256(recipe),
            },
            memory_mb=ground.memory_mb,
            timeout_s=BUILD_S,
        )
        try:
            return build_image(engine, build)
        except BuildError as error:
            raise _fault(folder, error.report, str(error)) from error


def lock_sha256(recipe: Recipe) -> str:
    """Hash over the ecosystems' locks, which the image carries as a label."""
    return content_sha256([one.lock for one in recipe.ecosystems])


def _make_folder(recipe: Recipe, ground: Ground, folder: Path, archive: Path, engine: str) -> str:
    place = (folder / "environment" / "artifacts").absolute()
    place.mkdir(parents=True, exist_ok=True)
    with filling((folder / root_folder(recipe)).absolute()) as root:
        spec = SandboxSpec(
            files=archive,
            limits=Limits(
                memory_mb=ground.memory_mb, processes=512, disk_mb=_DISK_MB, output_kb=4_000
            ),
            mounts=[Mount(root, PREFIX, writable=True), Mount(place, ARTIFACTS)],
        )
        with closing(open_sandbox(spec, engine)) as box:
            box.write("/tmp/install.sh", install_text(recipe).encode())  # noqa: S108
            said = box.run("bash /tmp/install.sh", BUILD_S)
            report = said.stdout + said.stderr
            if said.timed_out:
                raise UnbuildableError(f"the installation did not end within {BUILD_S} s")
            if said.exit != 0:
                raise _fault(folder, report, f"exit status {said.exit}")
    return report


def _fault(folder: Path, report: str, otherwise: str) -> ProbeError:
    """What a failed installation means, with the line that says most."""
    if _NO_SPACE in report or _NO_SPACE in otherwise:
        return SandboxError(f"no environment can be installed: {_NO_SPACE}; free some, then go on")
    lines = [line.strip() for line in report.splitlines() if line.strip()]
    for line in lines:
        if MISMATCH in line:
            return ProbeError(
                f"{line.partition(': ')[2]}; the engine or the base image was changed: delete "
                f"{folder / 'environment' / 'recipe.json'} and run the same command again"
            )
    telling = [line for line in lines if "error" in line.lower() or "not found" in line.lower()]
    last = (telling or lines or [otherwise])[-1]
    return UnbuildableError(f"its installation fails: {last[:400]}")
