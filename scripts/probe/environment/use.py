"""Opening a sandbox in which the snapshot's code runs, whatever the engine."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from probe.environment.make import image_tag, make_environment, read_recipe, root_folder
from probe.environment.recipe import OVERLAY, PREFIX
from probe.errors import ProbeError, SandboxError
from probe.records import Environment
from probe.sandbox import Limits, Mount, Sandbox, SandboxSpec, engine_name, open_sandbox
from probe.sandbox.building import has_images

_OVERLAY_S = 600
_COPY_OVERLAY = f"""
[ -d {OVERLAY} ] || exit 0
cd {OVERLAY} && find . -mindepth 1 -maxdepth 1 -exec cp -a --no-preserve=ownership -t /work {{}} +
"""


def open_environment(
    environment: Environment,
    folder: Path,
    *,
    archive: Path,
    engine: str,
    limits: Limits,
    mounts: Sequence[Mount] = (),
    variables: Mapping[str, str] | None = None,
) -> Sandbox:
    """A sandbox with the snapshot in ``/work`` and its environment ready; close it.

    Where the environment is ``sources_only`` it is the engine's bare sandbox. Where it was built but
    is not there (another machine or engine, a removed image), it is built again from its artifacts.

    Args:
        environment: the record in ``environment.json``.
        folder: ``results/{repo}``.
        archive: the snapshot's ``source.tar``.
        engine: as in ``sandbox.engine``.
        limits: of the sandbox.
        mounts: what else it sees.
        variables: of its commands, over those of the environment.

    Raises:
        SandboxError: no engine works, or the environment is neither there nor can be built again.
    """
    named = engine_name(engine)
    image, own = _ready(environment, folder, archive, named)
    spec = SandboxSpec(
        files=archive,
        image=image,
        limits=limits,
        mounts=[*own, *mounts],
        environment={**environment.variables, **(variables or {})},
    )
    box = open_sandbox(spec, named)
    try:
        laid = box.run(_COPY_OVERLAY, _OVERLAY_S)
        if laid.exit != 0:
            why = (laid.stderr.strip().splitlines() or [f"exit status {laid.exit}"])[-1]
            raise SandboxError(f"{PREFIX}: its files cannot be laid over the sources: {why}")
    except BaseException:
        box.close()
        raise
    return box


def _ready(
    environment: Environment, folder: Path, archive: Path, engine: str
) -> tuple[str | None, list[Mount]]:
    """The image and mounts of an environment, built again where it is missing."""
    if environment.status == "sources_only":
        return environment.image if has_images(engine) else None, []
    try:
        recipe, ground = read_recipe(folder)
        if recipe.sha256 != environment.sha256:
            raise SandboxError(
                f"{folder / 'environment' / 'recipe.json'}: is another environment than "
                f"{folder / 'snapshot' / 'environment.json'} says; run the same command again"
            )
        make_environment(recipe, ground, folder, archive=archive, engine=engine, cache=None)
    except SandboxError:
        raise
    except ProbeError as error:
        raise SandboxError(f"{environment.repo}: no environment: {error}") from error
    if has_images(engine):
        return image_tag(recipe, ground), []
    return None, [Mount((folder / root_folder(recipe)).absolute(), PREFIX)]
