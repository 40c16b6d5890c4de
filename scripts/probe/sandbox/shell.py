"""The part of a sandbox that is the same on every engine: all of it is commands that run inside.

Files are written and read by programs inside, never by walking the sandbox's tree from the host:
whatever links a command has left there, they lead to places inside only.
"""

import io
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple, Self

from probe.errors import SandboxError
from probe.sandbox.archive import check_archive
from probe.sandbox.base import WORK, Limits, Output, SandboxInfo, SandboxSpec
from probe.sandbox.streams import Raw

HOME = "/tmp/home"  # noqa: S108 - a path inside
USER = "probe"
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": HOME,
    "USER": USER,
    "LOGNAME": USER,
    "LANG": "C.UTF-8",
    "TMPDIR": "/tmp",  # noqa: S108
    "TZ": "UTC",
    "TERM": "dumb",
}
"""What every command starts with, before the caller's own variables."""

_CHORE_S = 120.0
"""Seconds for a command of our own, such as writing a file."""
_SCRIPT_BYTES = 100_000
"""Longest command text that is passed as an argument; Linux takes 131,072 bytes."""
_SCRIPT = "/tmp/.probe-command"  # noqa: S108

_MISSING, _OUTSIDE, _SPECIAL = 91, 92, 93

_INSIDE = f"""
for top in {WORK} /tmp; do case "$real" in "$(realpath -e $top)"/*) inside=1;; esac; done
[ -n "$inside" ] || exit {_OUTSIDE}
"""
_READ = f"""
real=$(realpath -e -- "$1" 2>/dev/null) || exit {_MISSING}
{_INSIDE}
[ -f "$real" ] || exit {_SPECIAL}
exec head -c "$2" -- "$real"
"""
_WRITE = f"""
real=$(realpath -m -- "$1") || exit {_MISSING}
{_INSIDE}
[ ! -e "$real" ] || [ -f "$real" ] || exit {_SPECIAL}
mkdir -p -- "$(dirname -- "$real")" && exec cat >"$real"
"""


class Job(NamedTuple):
    """One command, as an engine is to run it."""

    command: Sequence[str]
    """Program and arguments."""
    environment: Mapping[str, str]
    """All its variables."""
    stdin: BinaryIO | None
    """Its input; None for none."""
    timeout_s: float
    """Seconds until it is killed."""
    output_bytes: int
    """Bytes of its output that are kept, both streams together."""


class ShellSandbox(ABC):
    """A sandbox of which an engine supplies :meth:`_execute` and :meth:`_remove` only."""

    def __init__(self, info: SandboxInfo, environment: Mapping[str, str]) -> None:
        self._info = info
        self._environment = {**ENVIRONMENT, **environment}
        self._lock = threading.RLock()
        self._dead = ""

    @abstractmethod
    def _execute(self, job: Job) -> Raw:
        """Run a command in :data:`WORK` and kill all that it leaves.

        Raises:
            SandboxError: the sandbox is gone.
        """

    @abstractmethod
    def _remove(self) -> None:
        """Kill everything and remove every trace; called once."""

    @property
    def info(self) -> SandboxInfo:
        """What it is."""
        return self._info

    def run(self, command: str | Sequence[str], timeout_s: float = 120) -> Output:
        """See :meth:`probe.sandbox.base.Sandbox.run`; calls from several threads take turns."""
        with self._lock:
            argv = self._argv(command)
            problem = argv if isinstance(argv, str) else _unfit(argv)
            if isinstance(argv, str) or problem:
                return Output(126, "", f"bash: {problem}\n", False, False, 0.0)
            limit = self._info.limits.output_kb * 1_000
            raw = self._guarded(Job(argv, self._environment, None, timeout_s, limit))
        out, err = (data.decode("utf-8", "replace") for data in (raw.stdout, raw.stderr))
        return Output(raw.exit, out, err, raw.truncated, raw.exit is None, raw.wall_s)

    def write(self, path: str, content: bytes) -> None:
        """See :meth:`probe.sandbox.base.Sandbox.write`."""
        try:
            target = _inside(path)
        except FileNotFoundError as error:
            raise SandboxError(str(error)) from None
        raw = self._chore(["/bin/bash", "-c", _WRITE, "write", target], content)
        if raw.exit:
            raise SandboxError(f"{path}: cannot be written in the sandbox: {_why(raw)}")

    def read(self, path: str, max_bytes: int = 1_000_000) -> bytes:
        """See :meth:`probe.sandbox.base.Sandbox.read`."""
        command = ["/bin/bash", "-c", _READ, "read", _inside(path), str(max_bytes)]
        raw = self._chore(command, b"", max(max_bytes, 10_000))
        if raw.exit:
            raise FileNotFoundError(f"{path}: cannot be read in the sandbox: {_why(raw)}")
        return raw.stdout[:max_bytes]

    def alive(self) -> bool:
        """Whether a trivial command still works."""
        try:
            return self._chore(["/bin/bash", "-c", "exit 7"], b"").exit == 7
        except SandboxError:
            return False

    def close(self) -> None:
        """Kill everything inside and remove every trace; harmless when called again."""
        with self._lock:
            if self._dead != "it was closed":
                self._dead = "it was closed"
                self._remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _prepare(self, files: Path | None) -> None:
        """Make the home folder and unpack the archive.

        Raises:
            SandboxError: it cannot be unpacked, or does not fit.
        """
        raw = self._chore(["/bin/mkdir", "-p", HOME], b"")
        if raw.exit:
            raise SandboxError(f"the sandbox's /tmp cannot be written: {_why(raw)}")
        if files is None:
            return
        command = ["tar", "-x", "-f", "-", "--no-same-owner", "-C", WORK]
        with files.open("rb") as archive, self._lock:
            raw = self._guarded(Job(command, ENVIRONMENT, archive, 10 * _CHORE_S, 10_000))
        if raw.exit != 0:
            raise SandboxError(f"{files}: cannot be unpacked in the sandbox: {_why(raw)}")

    def _argv(self, command: str | Sequence[str]) -> Sequence[str] | str:
        """What to execute, or why it cannot be."""
        if not isinstance(command, str):
            return command
        script = command.encode("utf-8", "replace")
        if len(script) < _SCRIPT_BYTES:
            return ["/bin/bash", "-c", script.decode()]
        try:
            self.write(_SCRIPT, script)
        except SandboxError as error:
            if not self.alive():
                raise
            return str(error)
        return ["/bin/bash", _SCRIPT]

    def _chore(self, command: Sequence[str], content: bytes, output_bytes: int = 10_000) -> Raw:
        """Run a command of our own, with the fixed environment."""
        with self._lock:
            job = Job(command, ENVIRONMENT, io.BytesIO(content), _CHORE_S, output_bytes)
            raw = self._guarded(job)
            if raw.exit is None:
                self._dead = f"{command[0]} did not end within {_CHORE_S:.0f} s"
                raise SandboxError(f"the sandbox died: {self._dead}")
            return raw

    def _guarded(self, job: Job) -> Raw:
        """Execute; once dead, always dead."""
        if self._dead:
            raise SandboxError(f"the sandbox is gone: {self._dead}")
        try:
            return self._execute(job)
        except SandboxError as error:
            self._dead = str(error)
            raise


def check_spec(spec: SandboxSpec) -> None:
    """Refuse what no engine can open.

    Raises:
        SandboxError: the archive, a mount or a limit is unusable.
    """
    if spec.files is not None:
        check_archive(spec.files)
    for mount in spec.mounts:
        if not mount.host.is_absolute() or not mount.host.exists():
            raise SandboxError(
                f"{mount.host}: to be mounted it must be an absolute path that exists"
            )
        inside = PurePosixPath(mount.inside)
        if not inside.is_absolute() or ".." in inside.parts or inside == PurePosixPath("/"):
            raise SandboxError(
                f"{mount.inside}: a mount needs an absolute path inside, not the root"
            )
    _check_limits(spec.limits)
    for name in spec.environment:
        if not name or "=" in name or "\0" in name + spec.environment[name]:
            raise SandboxError(f"{name!r}: not a name of an environment variable")


def _check_limits(limits: Limits) -> None:
    for name in ("memory_mb", "processes", "cpus", "disk_mb", "output_kb"):
        if getattr(limits, name) <= 0:
            raise SandboxError(f"{name}: a sandbox needs more than {getattr(limits, name)}")


def _inside(path: str) -> str:
    """The absolute path inside; links are looked at by the commands that use it."""
    pure = PurePosixPath(WORK) / path
    allowed = any(pure.is_relative_to(top) and str(pure) != top for top in (WORK, "/tmp"))  # noqa: S108
    if ".." in pure.parts or "\0" in path or not allowed:
        raise FileNotFoundError(f"{path!r}: not a path below {WORK} or /tmp")
    return str(pure)


def _unfit(argv: Sequence[str]) -> str:
    """Why a command can't be executed at all; empty where it can."""
    if not argv or not argv[0]:
        return "no command"
    if any("\0" in part for part in argv):
        return "a command cannot hold NUL bytes"
    if max(len(part.encode("utf-8", "replace")) for part in argv) > 131_000:
        return "argument list too long"
    return ""


def _why(raw: Raw) -> str:
    """What a chore's failure means, in words."""
    known = {
        _MISSING: "no such file",
        _OUTSIDE: f"it leads out of {WORK} and /tmp",
        _SPECIAL: "it is no regular file",
    }
    if raw.exit in known:
        return known[raw.exit]
    lines = raw.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else f"exit status {raw.exit}"
