"""How an engine is tried: a sandbox is opened, runs a command, and shows no way to a network."""

from collections.abc import Callable

from probe.errors import SandboxError
from probe.sandbox.base import Check, Limits, Sandbox, SandboxSpec

_LIMITS = Limits(memory_mb=256, processes=32, cpus=1, disk_mb=16, output_kb=10)
_COMMAND = """
set -e
echo kept >kept
while IFS=: read -r name rest; do
    case "$name" in *'|'*|*Inter*) ;; *) echo "interface $name" ;; esac
done </proc/net/dev
echo "user $(id -u)"
"""


def try_out(
    name: str,
    version: str | None,
    open_one: Callable[[SandboxSpec], Sandbox],
    remedy: str,
    image: str | None = None,
) -> Check:
    """Whether a sandbox can be opened and does what it must; never raises.

    Args:
        name: The engine's name.
        version: Its version, or None where it is not installed.
        open_one: Opens a sandbox.
        remedy: What to do when it fails.
        image: What to open it on; None for the engine's default.
    """
    try:
        sandbox = open_one(SandboxSpec(image=image, limits=_LIMITS))
    except SandboxError as error:
        return Check(name, False, version, str(error), remedy)
    try:
        output = sandbox.run(_COMMAND, 30)
        kept = sandbox.read("kept", 100)
    except (SandboxError, FileNotFoundError) as error:
        return Check(name, False, version, str(error), remedy)
    finally:
        sandbox.close()
    seen = output.stdout.split()
    interfaces = {seen[i + 1] for i, word in enumerate(seen) if word == "interface"}
    if output.exit != 0 or kept != b"kept\n":
        return Check(name, False, version, f"a command failed: {output.stderr.strip()}", remedy)
    if interfaces - {"lo"}:
        return Check(name, False, version, f"sees the network: {sorted(interfaces)}", remedy)
    if "user 0" in output.stdout:
        return Check(name, False, version, "commands run as root", remedy)
    return Check(name, True, version, sandbox.info.image, "")
