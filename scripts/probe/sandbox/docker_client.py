"""Reaching the Docker daemon, and what its errors mean."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from probe.errors import SandboxError

if TYPE_CHECKING:
    import docker

REQUEST_S = 60
"""Seconds that a request may take."""
_DEFAULT = "unix:///var/run/docker.sock"


def connect() -> "docker.DockerClient":
    """A client of the daemon at DOCKER_HOST, to be closed.

    Raises:
        SandboxError: nothing answers there.
    """
    import docker
    from docker.errors import DockerException

    _knock()
    try:
        return docker.from_env(timeout=REQUEST_S)
    except DockerException as error:
        raise SandboxError(f"Docker does not answer: {line(error)}") from None


def _knock() -> None:
    """Fail early where nothing listens: the SDK would leave its socket open."""
    address = os.environ.get("DOCKER_HOST") or _DEFAULT
    kind, _, path = address.partition("://")
    if kind != "unix":
        return
    with socket.socket(socket.AF_UNIX) as door:
        door.settimeout(REQUEST_S)
        try:
            door.connect(path)
        except OSError as error:
            reason = error.strerror or error
            raise SandboxError(f"Docker does not answer at {address}: {reason}") from None


@contextmanager
def told(what: str) -> Iterator[None]:
    """Errors of the SDK and of the connection, in one line."""
    from docker.errors import DockerException
    from requests.exceptions import RequestException

    try:
        yield
    except (DockerException, RequestException, OSError) as error:
        raise SandboxError(f"{what}: {line(error)}") from error


def line(error: Exception) -> str:
    """An error of the SDK in one line."""
    return " ".join(str(getattr(error, "explanation", None) or error).split())[:300]
