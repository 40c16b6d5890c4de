"""Apptainer, for clusters that have nothing else: written from its manual, untested on a real engine.

No Apptainer can be installed where PROBE is tested, so that only the command lines are under test,
and `probe doctor`, which tries a sandbox for real, has the last word on a user's machine. It works
as bubblewrap does: one process a command, files in a :class:`~probe.sandbox.holder.Holder`. It has
no filter of system calls, so that virtual-machine sockets stay open where the kernel has them.
"""

import os
import re
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from probe.errors import SandboxError
from probe.sandbox.base import WORK, Check, Sandbox, SandboxInfo, SandboxSpec
from probe.sandbox.bubblewrap import limited, processors
from probe.sandbox.checking import try_out
from probe.sandbox.holder import STAGE, Holder, tool_environment
from probe.sandbox.shell import Job, ShellSandbox, check_spec
from probe.sandbox.streams import Capture, Feed, Raw, drain, output_pipes, pump
from probe.sandbox.watch import MemoryWatch, descendants

_KILL_S = 60.0
_REMEDY = "ask the cluster's administrator for Apptainer 1.1 or newer with user namespaces"
_NO_IMAGE = "apptainer has no default image: give a .sif file or a root folder as the image"


class ApptainerSandbox(ShellSandbox):
    """A holder for the files, and an Apptainer for each command."""

    def __init__(self, spec: SandboxSpec, program: str, version: str) -> None:
        """Open it.

        Raises:
            SandboxError: it cannot be opened; nothing is left.
        """
        if spec.image is None:
            raise SandboxError(_NO_IMAGE)
        info = SandboxInfo("apptainer", version, spec.image, spec.limits)
        super().__init__(info, spec.environment)
        self._processors = processors(spec.limits.cpus)
        self._holder = Holder(spec.limits.disk_mb, [mount.host for mount in spec.mounts])
        try:
            self._command = exec_command(program, spec)
            self._prepare(spec.files)
        except BaseException:
            self.close()
            raise

    def _execute(self, job: Job) -> Raw:
        started = time.monotonic()
        limits = self._info.limits
        command = limited(limits, 4, job.command)
        variables = {f"APPTAINERENV_{name}": value for name, value in job.environment.items()}
        watch = MemoryWatch(limits.memory_mb * 1_000_000)
        capture = Capture(job.output_bytes)
        with subprocess.Popen(
            [*self._holder.entry, *self._command, *command],
            stdin=subprocess.DEVNULL if job.stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**tool_environment(), **variables},
            cwd="/",
            bufsize=0,
            start_new_session=True,
        ) as process:
            os.sched_setaffinity(process.pid, self._processors)
            watch.start(process.pid)
            ended = _follow(process, capture, job.stdin, started + job.timeout_s, watch)
        if not self._holder.alive:
            raise SandboxError("the sandbox died: the process that holds its files is gone")
        status = process.returncode if ended else 128 + signal.SIGKILL if watch.exceeded else None
        if status is not None and status < 0:
            raise SandboxError("the sandbox died: Apptainer was killed from outside")
        return capture.raw(status, started)

    def _remove(self) -> None:
        self._holder.close()


def exec_command(program: str, spec: SandboxSpec) -> list[str]:
    """The command line that runs something inside, up to the command itself."""
    command = [program, "--silent", "exec", "--userns", "--containall", "--cleanenv", "--no-eval"]
    command += ["--no-home", "--no-privs", "--net", "--network", "none", "--hostname", "sandbox"]
    binds = [f"{STAGE}/work:{WORK}", f"{STAGE}/tmp:/tmp", f"{STAGE}/shm:/dev/shm"]  # noqa: S108
    for number, mount in enumerate(spec.mounts):
        right = "rw" if mount.writable else "ro"
        binds.append(f"{STAGE}/mounts/{number}:{mount.inside}:{right}")
    for bind in binds:
        command += ["--bind", bind]
    return [*command, "--pwd", WORK, str(spec.image)]


def _follow(
    process: subprocess.Popen[bytes],
    capture: Capture,
    stdin: BinaryIO | None,
    deadline: float,
    watch: MemoryWatch,
) -> bool:
    """Move a command's bytes, then kill all that is left; whether it ended by itself."""
    outputs = output_pipes(process)
    over = os.pidfd_open(process.pid)
    try:
        feed = None if process.stdin is None else (process.stdin, Feed(stdin))
        ended = pump(outputs, capture, ended=over, stdin=feed, deadline=deadline, tick=watch)
    finally:
        os.close(over)
    limit = time.monotonic() + _KILL_S
    while process.poll() is None:
        for pid in descendants(process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > limit:
            raise SandboxError("the sandbox died: a command in it cannot be killed")
        time.sleep(0.01)
    drain(outputs, capture)
    return ended


class ApptainerEngine:
    """Makes Apptainer sandboxes."""

    name = "apptainer"

    def check(self) -> Check:
        """Try it for real with the host's own root folder as the image."""
        program = shutil.which("apptainer") or shutil.which("singularity")
        if program is None:
            reason = "apptainer is not installed (this engine is untested by PROBE's own suite)"
            return Check(self.name, False, None, reason, _REMEDY)
        version = _version(program)
        return try_out(self.name, version, self.open, _NO_IMAGE, image="/")

    def open(self, spec: SandboxSpec) -> Sandbox:
        """See :class:`probe.sandbox.base.Engine`."""
        check_spec(spec)
        program = shutil.which("apptainer") or shutil.which("singularity")
        if program is None:
            raise SandboxError(f"apptainer is not installed; {_REMEDY}")
        if spec.image is not None and not Path(spec.image).exists():
            raise SandboxError(f"{spec.image}: no such image file or root folder")
        return ApptainerSandbox(spec, program, _version(program))


def _version(program: str) -> str:
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    number = re.search(r"\d[\w.+-]*", said.stdout)
    return number.group() if number else "?"
