"""A Docker daemon of the tests' own: in a temporary folder, without a network, gone afterwards.

Which daemon the suite ``docker`` uses:

- ``PROBE_TEST_DOCKER=host``: the one that answers at DOCKER_HOST, on request only, since the tests
  make and remove containers there (those with our label);
- root, with dockerd installed and no other containerd running: a private one, which touches no
  other daemon;
- with ``CI=true`` and neither: the machine's own, since such machines are thrown away.
"""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = "probe-dockerd."
_DEFAULT = "unix:///var/run/docker.sock"
_CONTAINERD = Path("/run/containerd/containerd.sock")
_START_S, _STOP_S = 60, 60
_CGROUPS = Path("/sys/fs/cgroup")


def kind() -> str | None:
    """``host`` or ``private``; None where there is none to be had."""
    asked = os.environ.get("PROBE_TEST_DOCKER")
    if asked == "host":
        return "host" if _answers() else None
    ci = os.environ.get("CI") == "true"
    if os.geteuid() == 0 and shutil.which("dockerd") and (ci or not _CONTAINERD.exists()):
        return "private"
    return "host" if ci and _answers() else None


@contextmanager
def daemon() -> Iterator[str]:
    """Address of a daemon of :func:`kind`; DOCKER_HOST says it meanwhile."""
    if kind() == "host":
        yield os.environ.get("DOCKER_HOST", "")
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        if _abandoned(folder):
            _clean(folder)
    # containerd takes the folder's name as an identifier: no underscore at either end
    folder = Path(tempfile.gettempdir(), f"{_PREFIX}{secrets.token_hex(4)}")
    folder.mkdir(mode=0o700)
    address = f"unix://{folder}/docker.sock"
    before = os.environ.get("DOCKER_HOST")
    process = None
    try:
        process = _start(folder, address)
        os.environ["DOCKER_HOST"] = address
        yield address
    finally:
        if before is None:
            os.environ.pop("DOCKER_HOST", None)
        else:
            os.environ["DOCKER_HOST"] = before
        if process is not None:
            _stop(process, address)
        _clean(folder)


def _start(folder: Path, address: str) -> subprocess.Popen[bytes]:
    name = folder.name
    command = [
        *("dockerd", "-H", address, "--data-root", folder / "data", "--exec-root", folder / "exec"),
        *("--pidfile", folder / "docker.pid", "--log-level", "warn", "--cgroup-parent", f"/{name}"),
        *("--containerd-namespace", name, "--containerd-plugins-namespace", f"{name}-plugins"),
        *("--bridge=none", "--iptables=false", "--ip6tables=false", "--ip-forward=false"),
        "--userland-proxy=false",
    ]
    with (folder / "log").open("wb") as log:
        # It must die with us, also when pytest is killed.
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", *command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    deadline = time.monotonic() + _START_S
    while not _answers(address):
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            process.wait()
            tail = (folder / "log").read_text("utf-8", "replace")[-2_000:]
            raise RuntimeError(f"no private dockerd: {tail}")
        time.sleep(0.1)
    return process


def _stop(process: subprocess.Popen[bytes], address: str) -> None:
    import docker

    with suppress(Exception):
        client = docker.DockerClient(base_url=address, timeout=30)
        for container in client.containers.list(all=True, ignore_removed=True):
            container.remove(force=True, v=True)
        client.close()
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _abandoned(folder: Path) -> bool:
    """Whether the daemon of a folder has ended without cleaning up; a young one may be starting."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if folder.name.encode() in path.read_bytes():
                return False
    with suppress(OSError):
        return time.time() - folder.stat().st_mtime > 10
    return False


def _clean(folder: Path) -> None:
    """Unmount, remove the control groups and the folder."""
    mounts = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    for place in sorted(
        (place for place in mounts if place.startswith(f"{folder}/")), reverse=True
    ):
        subprocess.run(["umount", "--lazy", place], check=False)
    for group in [*_CGROUPS.glob(f"*/{folder.name}"), *_CGROUPS.glob(folder.name)]:
        with suppress(OSError):
            group.rmdir()
    shutil.rmtree(folder, ignore_errors=True)


def _answers(address: str | None = None) -> bool:
    """Whether a daemon is there; asked without the SDK, which leaves sockets open on failure."""
    kind, _, path = (address or os.environ.get("DOCKER_HOST") or _DEFAULT).partition("://")
    if kind != "unix":
        return subprocess.run(["docker", "version"], capture_output=True).returncode == 0
    with socket.socket(socket.AF_UNIX) as door:
        door.settimeout(10)
        try:
            door.connect(path)
            door.sendall(b"GET /_ping HTTP/1.0\r\nHost: docker\r\n\r\n")
            return b"200 OK" in door.recv(1_000)
        except OSError:
            return False
