"""The place where a bubblewrap sandbox keeps its files between commands.

Each command gets new namespaces of its own, so that none can outlive its end. What must last (the
work folder, /tmp) lies in a memory file system of fixed size in a mount namespace that a small idle
process, the holder, keeps open. No program of the sandbox ever runs in that namespace, and nothing
of it is visible on the host: when the holder ends, the kernel drops all of it, also after a
kill -9 of PROBE, since the holder waits for the end of a pipe that PROBE holds.
"""

import os
import selectors
import subprocess
from collections.abc import Sequence
from pathlib import Path

from probe.errors import SandboxError
from probe.sandbox.run_identity import run_id

STAGE = "/dev/shm"  # noqa: S108 - covered by a file system of our own in the holder's namespace
"""Where the memory file system lies in the holder's mount namespace."""
UNPRIVILEGED = 65_533
"""User and group id that root becomes before it starts a sandbox; nothing else uses it."""
TOOLS_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where the host's tools are looked for."""

RUN_VARIABLE = "PROBE_RUN"
"""Variable of the tools outside, never seen inside."""

_START_S = 20.0
_SCRIPT = """
set -eu
bytes=$1 inodes=$2 owner=$3
shift 3
mount -t tmpfs -o "size=$bytes,nr_inodes=$inodes,mode=0755" probe "$STAGE"
cd "$STAGE"
mkdir work tmp shm etc mounts
printf 'root:x:0:0:root:/:/bin/false\\nprobe:x:1000:1000::/tmp/home:/bin/bash\\n' >etc/passwd
printf 'nobody:x:65534:65534:nobody:/:/bin/false\\n' >>etc/passwd
printf 'root:x:0:\\nprobe:x:1000:\\nnogroup:x:65534:\\n' >etc/group
printf '127.0.0.1 localhost sandbox\\n::1 localhost\\n' >etc/hosts
printf 'passwd: files\\ngroup: files\\nhosts: files\\n' >etc/nsswitch.conf
chmod 1777 tmp shm
[ "$owner" = - ] || chown "$owner" work tmp shm
number=0
for source in "$@"; do
    if [ -d "$source" ]; then mkdir "mounts/$number"; else : >"mounts/$number"; fi
    mount --rbind -- "$source" "mounts/$number"
    number=$((number + 1))
done
echo ready
exec cat
"""


def tool_environment() -> dict[str, str]:
    """What the tools around a sandbox get of variables; ``PROBE_RUN`` tells whose they are."""
    return {"PATH": TOOLS_PATH, "LC_ALL": "C", RUN_VARIABLE: run_id()}


class Holder:
    """A running holder, and the way into its mount namespace."""

    def __init__(self, disk_mb: int, sources: Sequence[Path]) -> None:
        """Start it.

        Args:
            disk_mb: Size of the file system in MB of 10^6 bytes.
            sources: Files and folders of the host; number i is found at :meth:`source`.

        Raises:
            SandboxError: namespaces or mounts are not to be had here.
        """
        root = os.geteuid() == 0
        namespaces = ["--mount"] if root else ["--user", "--map-root-user", "--mount"]
        owner = f"{UNPRIVILEGED}:{UNPRIVILEGED}" if root else "-"
        limits = [str(disk_mb * 1_000_000), str(max(10_000, disk_mb * 100))]
        for path in sources:
            if path.is_relative_to(STAGE):
                raise SandboxError(f"{path}: nothing below {STAGE} can be mounted by bubblewrap")
        self._process = subprocess.Popen(
            ["unshare", *namespaces, "--", "bash", "-c", _SCRIPT, "holder", *limits, owner]
            + [str(path) for path in sources],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**tool_environment(), "STAGE": STAGE},
            cwd="/",
            start_new_session=True,
        )
        try:
            self._await_ready()
        except BaseException:
            self.close()
            raise

    def _await_ready(self) -> None:
        out, err = self._process.stdout, self._process.stderr
        if out is None or err is None:
            raise SandboxError("bubblewrap: the holder has no pipes")
        with selectors.DefaultSelector() as selector:
            selector.register(out, selectors.EVENT_READ)
            if not selector.select(_START_S) or out.readline() != b"ready\n":
                self._process.kill()
                lines = err.read().decode("utf-8", "replace").splitlines()
                why = lines[-1] if lines else "no answer"
                raise SandboxError(f"bubblewrap: no namespace for the sandbox's files: {why}")

    @property
    def alive(self) -> bool:
        """Whether it still holds the files."""
        return self._process.poll() is None

    @property
    def entry(self) -> list[str]:
        """The start of a command line that runs the rest of it, unprivileged, in the namespace."""
        command = ["nsenter", "--target", str(self._process.pid), "--mount"]
        if os.geteuid() == 0:
            ids = [f"--setuid={UNPRIVILEGED}", f"--setgid={UNPRIVILEGED}"]
            return [*command, *ids, "--"]
        return [*command, "--user", "--preserve-credentials", "--"]

    def close(self) -> None:
        """End it; the kernel removes its file system."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
