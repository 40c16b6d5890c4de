"""bubblewrap: sandboxes without a daemon, an image or a right that an ordinary user lacks.

Every command is a bubblewrap of its own: new user, process, network, IPC, host name and mount
namespaces, no capability and no way to gain one, a filter of system calls, limits. When its first
process dies the kernel kills every other, whatever it called (setsid, fork twice). What a command
wrote lasts in the :class:`~probe.sandbox.holder.Holder`.
"""

import math
import os
import platform
import random
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from probe.errors import SandboxError
from probe.sandbox.base import WORK, Check, Limits, Sandbox, SandboxInfo, SandboxSpec
from probe.sandbox.bubblewrap_run import BubblewrapRun
from probe.sandbox.checking import try_out
from probe.sandbox.holder import STAGE, TOOLS_PATH, Holder
from probe.sandbox.shell import Job, ShellSandbox, check_spec
from probe.sandbox.streams import Capture, Raw
from probe.sandbox.watch import MemoryWatch

_TOOLS = ("unshare", "nsenter", "mount", "bash")
_INSTALL = (
    "install it: apt-get install bubblewrap, dnf install bubblewrap, or ask the administrator"
)
_KERNEL = (5, 14)
"""Since then the limit on processes is kept for each user namespace."""
_NAMESPACES_OFF = (
    "Linux 5.14 or newer must let users make namespaces: user.max_user_namespaces above 0, and 0 for "
    "kernel.apparmor_restrict_unprivileged_userns where there is such a setting"
)
_UID = "1000"
_NAMESPACES = ("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts")
_SYSTEM = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32")
"""Folders of the host that make the default image."""
_ETC = ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "mime.types", "ssl/certs")
"""What is harmless and of use below the host's /etc; ``python3*`` is added."""
_OWN_ETC = ("passwd", "group", "hosts", "nsswitch.conf")
_NOT_FROM_IMAGE = {"dev", "proc", "sys", "tmp", "work", "run"}
_LIMITED = """
ulimit -H -S -u "$1" && ulimit -H -S -d "$2" && ulimit -H -S -c 0 && ulimit -H -S -n 4096 || exit 125
shift
shift
exec "$@"
"""
"""Limits are set inside, where processes are counted apart from all others of the same user."""


class BubblewrapSandbox(ShellSandbox):
    """A holder for the files, and a bubblewrap for each command."""

    def __init__(self, spec: SandboxSpec, version: str) -> None:
        """Open it.

        Raises:
            SandboxError: it cannot be opened; nothing is left.
        """
        image = Path(spec.image) if spec.image else None
        described = f"{image or 'system folders of the host'} ({_system(image or Path('/'))})"
        info = SandboxInfo("bubblewrap", version, described, spec.limits)
        super().__init__(info, spec.environment)
        sources = [mount.host for mount in spec.mounts] + ([image] if image else [])
        self._processors = processors(spec.limits.cpus)
        self._holder = Holder(spec.limits.disk_mb, sources)
        try:
            self._options = _options(spec, version)
            self._prepare(spec.files)
        except BaseException:
            self.close()
            raise

    def _execute(self, job: Job) -> Raw:
        started = time.monotonic()
        limits = self._info.limits
        command = limited(limits, 1, job.command)
        variables = [part for pair in job.environment.items() for part in ("--setenv", *pair)]
        options = [*self._options, *variables]
        watch = MemoryWatch(limits.memory_mb * 1_000_000)
        capture = Capture(job.output_bytes)
        with BubblewrapRun(self._holder.entry, options, command, job.stdin) as run:
            os.sched_setaffinity(run.first, self._processors)
            watch.start(run.first)
            status = run.follow(capture, started + job.timeout_s, watch)
        if not self._holder.alive:
            raise SandboxError("the sandbox died: the process that holds its files is gone")
        if watch.exceeded:
            status = 128 + signal.SIGKILL
        return capture.raw(status, started)

    def _remove(self) -> None:
        self._holder.close()


def _options(spec: SandboxSpec, version: str) -> list[str]:
    """What every bubblewrap of a sandbox is told."""
    options = [*_NAMESPACES, "--unshare-cgroup-try", "--uid", _UID, "--gid", _UID]
    if tuple(map(int, version.split(".")[:2])) >= (0, 8):
        options.append("--disable-userns")
    options += ["--cap-drop", "ALL", "--hostname", "sandbox", "--die-with-parent", "--new-session"]
    if spec.image is None:
        options += _host_system()
    else:
        options += _image(Path(spec.image), f"{STAGE}/mounts/{len(spec.mounts)}")
    options += ["--proc", "/proc", "--dev", "/dev", "--bind", f"{STAGE}/shm", "/dev/shm"]  # noqa: S108
    options += ["--remount-ro", "/dev", "--symlink", "/tmp", "/var/tmp"]  # noqa: S108
    options += ["--bind", f"{STAGE}/tmp", "/tmp", "--bind", f"{STAGE}/work", WORK]  # noqa: S108
    for number, mount in enumerate(spec.mounts):
        flag = "--bind" if mount.writable else "--ro-bind"
        options += [flag, f"{STAGE}/mounts/{number}", mount.inside]
    return [*options, "--remount-ro", "/", "--chdir", WORK]


def _host_system() -> list[str]:
    """The host's programs and libraries, and an /etc of our own."""
    options = []
    for name in _SYSTEM:
        path = Path("/") / name
        if path.is_symlink():
            options += ["--symlink", str(path.readlink()), f"/{name}"]
        elif path.is_dir():
            options += ["--ro-bind", str(path), str(path)]
    versions = [f"etc/{path.name}" for path in sorted(Path("/etc").glob("python3*"))]
    for name in [*(f"etc/{name}" for name in _ETC), *versions]:
        if (Path("/") / name).exists():
            options += ["--ro-bind", f"/{name}", f"/{name}"]
    for name in _OWN_ETC:
        options += ["--ro-bind", f"{STAGE}/etc/{name}", f"/etc/{name}"]
    return options


def _image(folder: Path, staged: str) -> list[str]:
    """Everything at the top of a root folder but what the sandbox has of its own."""
    options = []
    for path in sorted(folder.iterdir()):
        if path.name in _NOT_FROM_IMAGE:
            continue
        if path.is_symlink():
            options += ["--symlink", str(path.readlink()), f"/{path.name}"]
        else:
            options += ["--ro-bind", f"{staged}/{path.name}", f"/{path.name}"]
    return options


def limited(limits: Limits, spare: int, command: Sequence[str]) -> list[str]:
    """The command under the limits that are set inside, with ``spare`` processes of the engine's own."""
    processes, memory_kb = limits.processes + spare, limits.memory_mb * 1_000_000 // 1_024
    return ["/bin/bash", "-c", _LIMITED, "limited", str(processes), str(memory_kb), *command]


def processors(cpus: float) -> set[int]:
    """As many of the processors that we may use as ``cpus`` rounded up; others each time."""
    allowed = sorted(os.sched_getaffinity(0))
    return set(random.sample(allowed, min(len(allowed), math.ceil(cpus))))


def _system(root: Path) -> str:
    """What the system in a folder calls itself, with the machine."""
    name = "unnamed system"
    with suppress(OSError):
        for line in (root / "etc/os-release").read_text("utf-8", "replace").splitlines():
            if line.startswith("PRETTY_NAME="):
                name = line.partition("=")[2].strip("\"'")
    return f"{name}, {platform.machine()}"


class BubblewrapEngine:
    """Makes bubblewrap sandboxes."""

    name = "bubblewrap"

    def check(self) -> Check:
        """Try it for real."""
        version = _version()
        problem = _problem(version)
        if problem is not None:
            return Check(self.name, False, version, *problem)
        return try_out(self.name, version, self.open, _NAMESPACES_OFF)

    def open(self, spec: SandboxSpec) -> Sandbox:
        """See :class:`probe.sandbox.base.Engine`."""
        check_spec(spec)
        version = _version()
        problem = _problem(version)
        if version is None or problem is not None:
            raise SandboxError(f"bubblewrap: {'; '.join(problem or ())}")
        if spec.image is not None and not Path(spec.image, "bin/bash").exists():
            raise SandboxError(f"{spec.image}: for bubblewrap an image is a root folder with bash")
        return BubblewrapSandbox(spec, version)


def _problem(version: str | None) -> tuple[str, str] | None:
    """What stands in the way before anything is tried, and the remedy."""
    if version is None:
        return "bwrap is not installed", _INSTALL
    missing = [tool for tool in _TOOLS if not shutil.which(tool, path=TOOLS_PATH)]
    if missing:
        return f"{', '.join(missing)} missing", "install util-linux and bash"
    kernel = tuple(int(part) for part in re.findall(r"\d+", platform.release())[:2])
    if kernel < _KERNEL:
        reason = f"Linux {platform.release()} would count all processes of a user together"
        return reason, "use Linux 5.14 or newer, or another engine"
    return None


def _version() -> str | None:
    """As bwrap says; None where it is not installed."""
    try:
        said = subprocess.run(
            ["bwrap", "--version"],
            env={"PATH": TOOLS_PATH},
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return said.stdout.split()[-1]
