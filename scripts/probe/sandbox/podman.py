"""Podman through its command line: like Docker's sandboxes, without a daemon.

``podman run`` holds the container's first process (:mod:`probe.sandbox.keeper`), ``podman exec`` runs
commands. When PROBE dies, the keeper's standard input ends, and Podman removes the container.
"""

import json
import os
import resource
import secrets
import select
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import IO, BinaryIO

from probe.errors import SandboxError
from probe.sandbox import images, keeper
from probe.sandbox.base import WORK, Check, Sandbox, SandboxInfo, SandboxSpec
from probe.sandbox.checking import try_out
from probe.sandbox.run_identity import run_id
from probe.sandbox.seccomp import docker_profile
from probe.sandbox.shell import ENVIRONMENT, Job, ShellSandbox, check_spec
from probe.sandbox.streams import Capture, Feed, Raw, drain, output_pipes, pump

_START_S = 120.0
_KILL_S = 60.0
_OWN = ("PATH", "HOME", "TMPDIR", "LD_", "XDG_", "DBUS_", "CONTAINER", "PODMAN", "STORAGE_", "_")
"""Variables that would change Podman itself are passed by value, others by name only."""
_KEPT = ("HOME", "PATH", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
_KEPT_PARTS = ("CONTAINERS_", "STORAGE_")
_MOST_PROCESSES = 30_000
_REMEDY = "`podman run --rm IMAGE true` must work; see docs/sandbox.md"


class _Line(keeper.Orders):
    """The pipes of ``podman run``."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        if process.stdin is None or process.stdout is None:
            raise SandboxError("podman: no pipes")
        self._in: IO[bytes] = process.stdin
        self._out: IO[bytes] = process.stdout
        self.closed = False

    def fileno(self) -> int:
        return self._out.fileno()

    def take(self) -> bytes:
        data = os.read(self._out.fileno(), 4_096)
        self.closed = not data
        return data

    def send(self, data: bytes) -> int:
        try:
            return os.write(self._in.fileno(), data)
        except BrokenPipeError:
            self.closed = True
            return len(data)


class PodmanSandbox(ShellSandbox):
    """A container."""

    def __init__(self, spec: SandboxSpec, version: str) -> None:
        """Open it.

        Raises:
            SandboxError: no such image, or it cannot be opened; nothing is left.
        """
        self._name = f"probe-{secrets.token_hex(8)}"
        self._process: subprocess.Popen[bytes] | None = None
        self._data_kb = spec.limits.memory_mb * 1_000_000 // 1_024
        identity, described = find_podman_image(spec.image)
        super().__init__(SandboxInfo("podman", version, described, spec.limits), spec.environment)
        try:
            self._line = self._start(spec, identity)
            self._prepare(spec.files)
        except BaseException:
            self._remove()
            raise

    def _start(self, spec: SandboxSpec, image: str) -> _Line:
        with _profile() as profile:
            command = run_command(self._name, image, spec, f"/proc/self/fd/{profile}")
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=podman_environment(),
                pass_fds=[profile],
                cwd="/",
                bufsize=0,
            )
            line = _Line(self._process)
            try:
                line.expect("ready", _START_S)
            except SandboxError:
                self._process.kill()
                raise SandboxError(f"podman: no container: {_said(self._process)}") from None
        return line

    def _execute(self, job: Job) -> Raw:
        started = time.monotonic()
        capture = Capture(job.output_bytes)
        argv, given = exec_command(self._name, job.environment, job.stdin is not None)
        argv += ["/bin/bash", "-c", keeper.LIMITED, "run", str(self._data_kb), *job.command]
        with subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL if job.stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**podman_environment(), **given},
            cwd="/",
            bufsize=0,
        ) as process:
            ended = self._follow(process, capture, job.stdin, started + job.timeout_s)
        raw = capture.raw(process.returncode if ended else None, started)
        if raw.exit in (125, 255) and raw.stderr.startswith(b"Error: "):
            raise SandboxError(f"the sandbox died: {raw.stderr.decode('utf-8', 'replace').strip()}")
        return raw

    def _follow(
        self,
        process: subprocess.Popen[bytes],
        capture: Capture,
        stdin: BinaryIO | None,
        deadline: float,
    ) -> bool:
        """Move a command's bytes, then kill all that is left; whether it ended by itself."""
        outputs = output_pipes(process)
        over = os.pidfd_open(process.pid)
        try:
            feed = None if process.stdin is None else (process.stdin, Feed(stdin))
            ended = pump(outputs, capture, ended=over, stdin=feed, deadline=deadline)
            if process.stdin is not None:
                process.stdin.close()
            limit = time.monotonic() + _KILL_S
            while True:
                # Podman's monitor reaps a dead command only once its output has been taken.
                self._line.kill_all(_KILL_S, partial(drain, outputs, capture))
                drain(outputs, capture)
                if select.select([over], [], [], 0.1)[0]:
                    break
                if time.monotonic() > limit:
                    process.kill()
                    raise SandboxError("the sandbox died: a command in it cannot be killed")
            drain(outputs, capture)
        finally:
            os.close(over)
        return ended

    def _remove(self) -> None:
        process = self._process
        podman("rm", "--force", "--volumes", "--time", "0", self._name)
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    stream.close()


def run_command(name: str, image: str, spec: SandboxSpec, profile: str) -> list[str]:
    """The command line that opens a container and holds it open."""
    limits = spec.limits
    work, tmp = keeper.sizes(limits.disk_mb)
    memory = str((limits.memory_mb + limits.disk_mb) * 1_000_000)
    processes = max(limits.processes, keeper.FEWEST_PROCESSES) + keeper.SPARE_PROCESSES
    most = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    most = _MOST_PROCESSES if most == resource.RLIM_INFINITY else min(most, _MOST_PROCESSES)
    options = {
        "--name": name,
        "--hostname": "sandbox",
        "--workdir": WORK,
        "--user": "0:0",
        "--pull": "never",
        "--network": "none",
        "--ipc": "private",
        "--cap-drop": "all",
        "--cap-add": "KILL",
        "--memory": memory,
        "--memory-swap": memory,
        "--pids-limit": str(processes),
        "--cpus": str(limits.cpus),
        "--shm-size": str(tmp),
        "--log-driver": "none",
        "--entrypoint": "[]",
    }
    command = ["podman", "run", "--rm", "--interactive", "--read-only", "--read-only-tmpfs=false"]
    command += ["--http-proxy=false", "--no-healthcheck", "--init=false"]
    command += [part for pair in options.items() for part in pair]
    command += ["--label", f"{images.LABEL}=sandbox", "--label", f"{images.LABEL}.run={run_id()}"]
    command += ["--security-opt", "no-new-privileges", "--security-opt", f"seccomp={profile}"]
    for limit in (f"nproc={most}:{most}", "nofile=4096:4096", "core=0:0"):
        command += ["--ulimit", limit]
    flags = "rw,exec,nosuid,nodev,notmpcopyup,mode=1777"
    for place, size in ((WORK, work), ("/tmp", tmp)):  # noqa: S108
        command += ["--tmpfs", f"{place}:{flags},size={size}"]
    for mount in spec.mounts:
        right = "" if mount.writable else ",ro=true"
        command += ["--mount", f"type=bind,src={mount.host},dst={mount.inside}{right}"]
    return [*command, image, *keeper.COMMAND]


def exec_command(
    name: str, environment: Mapping[str, str], with_input: bool
) -> tuple[list[str], dict[str, str]]:
    """The start of a command line that runs something inside, and the variables it takes by name."""
    command = ["podman", "exec", "--user", keeper.USER, "--workdir", WORK]
    command += ["--interactive"] if with_input else []
    given = {}
    for variable, value in environment.items():
        if variable.startswith(_OWN) or ENVIRONMENT.get(variable) == value:
            command += ["--env", f"{variable}={value}"]
        else:
            command += ["--env", variable]
            given[variable] = value
    return [*command, name], given


def find_podman_image(reference: str | None) -> tuple[str, str]:
    """An image's identity, and the identity with its platform.

    Raises:
        SandboxError: there is none of that name, or it would escape the limits.
    """
    name = reference or f"localhost/{images.host_image_tag()}"
    if podman("image", "exists", name).returncode:
        if reference is not None:
            raise SandboxError(f"{name}: no such image; run `podman pull {name}` first")
        change = f"LABEL {images.LABEL}=image"
        made = podman("import", "--quiet", "--change", change, "-", name, given=images.host_image())
        if made.returncode:
            raise SandboxError(f"podman: no image can be made: {_last(made.stderr)}")
    told = podman("image", "inspect", name)
    if told.returncode:
        raise SandboxError(f"podman: {_last(told.stderr)}")
    image = json.loads(told.stdout)[0]
    images.check_config(name, image.get("Config", {}))
    identity = f"sha256:{image['Id']}"
    return identity, f"{identity} ({image['Os']}/{image['Architecture']})"


@contextmanager
def _profile() -> Iterator[int]:
    """Descriptor of a nameless file with the filter of system calls."""
    machine = images.platform_name().partition("/")[2]
    descriptor = os.memfd_create("probe")
    try:
        os.write(descriptor, docker_profile(machine).encode())
        yield descriptor
    finally:
        os.close(descriptor)


def podman(*arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run Podman with a short command.

    Raises:
        SandboxError: no answer.
    """
    try:
        return subprocess.run(
            ["podman", *arguments],
            input=given,
            capture_output=True,
            env=podman_environment(),
            timeout=_START_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise SandboxError(f"podman {arguments[0]}: no answer in {_START_S:.0f} s") from None


def podman_environment() -> dict[str, str]:
    """What Podman itself needs of the host's variables to find its storage."""
    names = [name for name in os.environ if name in _KEPT or name.startswith(_KEPT_PARTS)]
    return {name: os.environ[name] for name in names}


def _said(process: subprocess.Popen[bytes]) -> str:
    return _last(process.stderr.read() if process.stderr else b"")


def _last(errors: bytes) -> str:
    lines = errors.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "no reason given"


class PodmanEngine:
    """Makes Podman sandboxes."""

    name = "podman"

    def check(self) -> Check:
        """Try it for real; an image that has to be made for it is removed again."""
        if shutil.which("podman") is None:
            return Check(self.name, False, None, "podman is not installed", "install podman")
        try:
            version = _version()
            tag = f"localhost/{images.host_image_tag()}"
            had_image = podman("image", "exists", tag).returncode == 0
            check = try_out(self.name, version, self.open, _REMEDY)
            if not had_image:
                podman("rmi", "--force", tag)
        except SandboxError as error:
            return Check(self.name, False, "?", str(error), _REMEDY)
        return check

    def open(self, spec: SandboxSpec) -> Sandbox:
        """See :class:`probe.sandbox.base.Engine`."""
        check_spec(spec)
        if shutil.which("podman") is None:
            raise SandboxError("podman is not installed")
        return PodmanSandbox(spec, _version())


def _version() -> str:
    said = podman("--version")
    if said.returncode:
        raise SandboxError(f"podman: {_last(said.stderr)}")
    return said.stdout.decode().split()[-1]
