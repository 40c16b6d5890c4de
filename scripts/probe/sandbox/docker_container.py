"""What a sandbox's container is, in the words of Docker's API, and the image that it starts from."""

import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from probe.errors import SandboxError
from probe.sandbox import images, keeper
from probe.sandbox.base import WORK, Mount, SandboxSpec
from probe.sandbox.run_identity import run_id
from probe.sandbox.seccomp import docker_profile

if TYPE_CHECKING:
    import docker

_YOUNG_S = 600
_making = threading.Lock()

_BLOCKS_VSOCK = 23
"""First version of Docker whose own filter refuses virtual-machine sockets."""


def container(spec: SandboxSpec, image: str, engine: Mapping[str, Any]) -> dict[str, Any]:
    """The container, in the words of Docker's API."""
    return {
        "Image": image,
        "Entrypoint": [],
        "Cmd": list(keeper.COMMAND),
        "User": "0:0",
        "WorkingDir": WORK,
        "Hostname": "sandbox",
        "Env": [],
        "Labels": {images.LABEL: "sandbox", f"{images.LABEL}.run": run_id()},
        "Healthcheck": {"Test": ["NONE"]},
        "OpenStdin": True,
        "StdinOnce": True,
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "Tty": False,
        "HostConfig": _host_config(spec, engine),
    }


def _host_config(spec: SandboxSpec, engine: Mapping[str, Any]) -> dict[str, Any]:
    limits = spec.limits
    work, tmp = keeper.sizes(limits.disk_mb)
    memory = (limits.memory_mb + limits.disk_mb) * 1_000_000
    security = ["no-new-privileges"]
    if int(engine["Version"].split(".")[0]) < _BLOCKS_VSOCK:
        security.append(f"seccomp={docker_profile(engine['Arch'])}")
    return {
        "AutoRemove": True,
        "NetworkMode": "none",
        "Dns": ["127.0.0.1"],
        "ReadonlyRootfs": True,
        "CapDrop": ["ALL"],
        "CapAdd": ["KILL"],
        "SecurityOpt": security,
        "IpcMode": "private",
        "CgroupnsMode": "private",
        "Memory": memory,
        "MemorySwap": memory,
        "PidsLimit": max(limits.processes, keeper.FEWEST_PROCESSES) + keeper.SPARE_PROCESSES,
        "NanoCpus": int(limits.cpus * 1_000_000_000),
        "ShmSize": tmp,
        "Tmpfs": {
            WORK: f"rw,exec,nosuid,nodev,size={work},mode=0755,uid=1000,gid=1000",
            "/tmp": f"rw,exec,nosuid,nodev,size={tmp},mode=1777",  # noqa: S108
        },
        "Ulimits": [
            {"Name": "core", "Soft": 0, "Hard": 0},
            {"Name": "nofile", "Soft": 4_096, "Hard": 4_096},
        ],
        "Mounts": [_mount(mount) for mount in spec.mounts],
        "LogConfig": {"Type": "none"},
        "Init": False,
    }


def _mount(mount: Mount) -> dict[str, Any]:
    return {
        "Type": "bind",
        "Source": str(mount.host),
        "Target": mount.inside,
        "ReadOnly": not mount.writable,
        "BindOptions": {"Propagation": "rprivate"},
    }


def find_image(client: "docker.DockerClient", reference: str | None) -> tuple[str, str]:
    """An image's identity, and the identity with its platform.

    Raises:
        SandboxError: there is none of that name, or it would escape the limits.
    """
    from docker.errors import ImageNotFound

    name = reference or images.host_image_tag()
    try:
        image = client.images.get(name)
    except ImageNotFound:
        if reference is not None:
            raise SandboxError(f"{name}: no such image; run `docker pull {name}` first") from None
        with _making:
            if not client.api.images(name):
                _import_host_image(client, name)
        image = client.images.get(name)
    images.check_config(name, image.attrs["Config"])
    return str(image.id), f"{image.id} ({image.attrs['Os']}/{image.attrs['Architecture']})"


def _import_host_image(client: "docker.DockerClient", name: str) -> None:
    """Make the default image; earlier ones of ours that nothing uses are removed.

    Another process may be making the same one, and start from its own: what is young stays.
    """
    from docker.errors import APIError

    repository, _, tag = name.partition(":")
    client.api.import_image_from_data(
        images.host_image(),
        repository=repository,
        tag=tag,
        changes=[f"LABEL {images.LABEL}=image"],
    )
    for old in client.api.images(filters={"label": f"{images.LABEL}=image"}):
        if name not in (old["RepoTags"] or ()) and old["Created"] < time.time() - _YOUNG_S:
            with suppress(APIError):
                client.images.remove(str(old["Id"]))
