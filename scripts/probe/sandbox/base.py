"""What a sandbox is: the one interface behind which Docker, bubblewrap and others stand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

WORK = "/work"
"""Folder inside every sandbox that holds the given files; commands start there."""


@dataclass(frozen=True)
class Limits:
    """What a sandbox may use at most; all of them hold for all its processes together."""

    memory_mb: int = 4_096
    """Memory in MB of 10^6 bytes."""
    processes: int = 256
    """Processes and threads at one time."""
    cpus: float = 2.0
    """Processor seconds a second."""
    disk_mb: int = 2_048
    """Written data in MB of 10^6 bytes: the work folder and /tmp together or each, as the engine can."""
    output_kb: int = 1_024
    """Output of one command, stdout and stderr together, in kB of 10^3 bytes; the rest is cut."""


@dataclass(frozen=True)
class Mount:
    """A file or folder of the host that a sandbox may see."""

    host: Path
    """Absolute path on the host."""
    inside: str
    """Absolute path inside."""
    writable: bool = False
    """Whether it can be changed from inside; sockets need no right to write."""


@dataclass(frozen=True)
class SandboxSpec:
    """What a sandbox is opened with."""

    files: Path | None = None
    """An uncompressed tar archive that is unpacked into :data:`WORK`; None for an empty folder."""
    image: str | None = None
    """Image reference (Docker, Podman) or root folder (bubblewrap) or file (Apptainer); None for
    the engine's default: the host's system folders, read-only (bubblewrap), or an image that is made
    of the host's shell, git and Python (Docker, Podman)."""
    limits: Limits = Limits()
    """What it may use."""
    mounts: Sequence[Mount] = ()
    """What else of the host it sees."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables of its commands; nothing of the host's environment is passed on."""


class Output(NamedTuple):
    """What came of a command."""

    exit: int | None
    """Exit status, 128 + n after signal n; None where the time ran out."""
    stdout: str
    """As UTF-8, bytes that are none replaced."""
    stderr: str
    """Likewise."""
    truncated: bool
    """Whether output was cut."""
    timed_out: bool
    """Whether the time ran out: everything that the command started has been killed."""
    wall_s: float
    """Seconds."""


class SandboxInfo(NamedTuple):
    """What a record says of the sandbox that it came from."""

    engine: str
    """``docker``, ``bubblewrap``, ``podman`` or ``apptainer``."""
    version: str
    """Version of the engine."""
    image: str
    """Digest of the image, or the root folder's description."""
    limits: Limits
    """As opened."""


class Sandbox(Protocol):
    """An isolated place: no network, no host files, no host environment, limits that hold."""

    @property
    def info(self) -> SandboxInfo:
        """What it is."""
        ...

    def run(self, command: str | Sequence[str], timeout_s: float = 120) -> Output:
        """Run a command (text: with ``bash -c``) in :data:`WORK` and wait for its end.

        What it leaves running is killed when it ends or times out. A command that fails, is killed
        or runs out of memory is an :class:`Output`; a sandbox that is gone is an error.

        Raises:
            SandboxError: the sandbox died; nothing that follows can be trusted.
        """
        ...

    def write(self, path: str, content: bytes) -> None:
        """Write a file, relative to :data:`WORK` or below /tmp; folders are made.

        Raises:
            SandboxError: it cannot be written, or the sandbox died.
        """
        ...

    def read(self, path: str, max_bytes: int = 1_000_000) -> bytes:
        """The first bytes of a regular file inside; links are followed inside only.

        Raises:
            FileNotFoundError: no such regular file.
            SandboxError: the sandbox died.
        """
        ...

    def alive(self) -> bool:
        """Whether a trivial command still works."""
        ...

    def close(self) -> None:
        """Kill everything inside and remove every trace; harmless when called again."""
        ...


class Check(NamedTuple):
    """Whether an engine works here."""

    engine: str
    """Its name."""
    works: bool
    """Whether a sandbox was opened, ran a command and kept the network out."""
    version: str | None
    """Version, None where it is not installed."""
    reason: str
    """Why not, or what it runs on, in one line."""
    remedy: str
    """What to do about it; empty where it works."""


class Engine(Protocol):
    """A way to make sandboxes."""

    name: str

    def check(self) -> Check:
        """Try it for real; takes up to a second or two and never raises."""
        ...

    def open(self, spec: SandboxSpec) -> Sandbox:
        """A new sandbox.

        Raises:
            SandboxError: it cannot be opened; nothing is left behind.
        """
        ...
