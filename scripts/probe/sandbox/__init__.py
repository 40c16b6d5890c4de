"""Isolated places in which foreign code runs, one interface over several engines.

``open_sandbox`` makes one; its commands have no network, see nothing of the host but what is mounted,
and leave nothing behind. Where no engine works there is an error, never a bare host.
"""

import functools
import os
from collections.abc import Callable

from probe.errors import SandboxError
from probe.sandbox.apptainer import ApptainerEngine
from probe.sandbox.base import (
    WORK,
    Check,
    Engine,
    Limits,
    Mount,
    Output,
    Sandbox,
    SandboxInfo,
    SandboxSpec,
)
from probe.sandbox.bubblewrap import BubblewrapEngine
from probe.sandbox.docker import DockerEngine
from probe.sandbox.podman import PodmanEngine

__all__ = [
    "ENGINES",
    "WORK",
    "Check",
    "Engine",
    "Limits",
    "Mount",
    "Output",
    "Sandbox",
    "SandboxInfo",
    "SandboxSpec",
    "check_engines",
    "engine_name",
    "open_sandbox",
]

ENGINES: dict[str, Callable[[], Engine]] = {
    "docker": DockerEngine,
    "bubblewrap": BubblewrapEngine,
    "podman": PodmanEngine,
    "apptainer": ApptainerEngine,
}
"""In the order in which ``auto`` tries them."""


def open_sandbox(spec: SandboxSpec, engine: str = "auto") -> Sandbox:
    """A new sandbox; use it in a ``with`` or close it.

    Args:
        spec: What it holds and may use.
        engine: A name in :data:`ENGINES`, or ``auto`` for the first that works.

    Raises:
        SandboxError: unknown engine, none works, or the spec can't be had.
    """
    return ENGINES[engine_name(engine)]().open(spec)


def engine_name(engine: str = "auto") -> str:
    """Name of the engine that a setting means here.

    Raises:
        SandboxError: unknown engine, or none works.
    """
    if engine == "auto":
        return _first_that_works(os.environ.get("DOCKER_HOST"))
    if engine not in ENGINES:
        raise SandboxError(f"sandbox engine {engine!r} unknown; known: {', '.join(ENGINES)}")
    return engine


@functools.cache
def _first_that_works(docker_host: str | None) -> str:
    """Name of an engine; tried once a process and address of Docker.

    Raises:
        SandboxError: none works.
    """
    for name, make in ENGINES.items():
        if make().check().works:
            return name
    raise SandboxError("no sandbox engine works here; `probe doctor` says why and what to do")


def check_engines() -> list[Check]:
    """Each engine tried for real, in the order of preference."""
    return [make().check() for make in ENGINES.values()]
