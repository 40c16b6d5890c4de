"""The other end of the gateway, inside the sandbox: an address on 127.0.0.1 that leads to the socket.

Clients of the providers speak HTTP to a host and port, and no library of theirs can be told to use
a unix socket. So the agent's command is started by a forwarder, which ends with it. It needs what the
image has: Python 3.6 or newer, else Node.js, which most command-line agents need anyway.
"""

from collections.abc import Sequence
from importlib.resources import files

PORT = 8377
"""Port on 127.0.0.1 inside a sandbox, which has a network of its own; so no two ever meet."""

SOCKET = "/run/probe/gateway.sock"
"""Where the socket is mounted."""

DUMMY_KEY = "probe-gateway"
"""What clients get for a key, since most refuse to start without one."""

_LAUNCH = """
script=$1; spare=$2; shift 2
if command -v python3 >/dev/null 2>&1; then exec python3 -I -c "$0" "$@"; fi
if command -v node >/dev/null 2>&1; then exec node -e "$script" -- "$@"; fi
if [ -x "$spare" ]; then exec "$spare" -e "$script" -- "$@"; fi
echo 'probe: neither python3 nor node is in this image; one is needed to reach the model' >&2
exit 127
"""


def through(
    command: Sequence[str], *, socket: str = SOCKET, port: int = PORT, node: str = ""
) -> list[str]:
    """A command that runs ``command`` with the gateway at ``http://127.0.0.1:PORT``.

    Python is started in isolation: modules of the work folder must not shadow its own.

    Args:
        command: what is to run.
        socket: where the gateway's socket is mounted.
        port: on 127.0.0.1.
        node: path inside of a Node.js for images that have neither Python nor Node.js.

    It ends with the exit status of ``command``, 128 + n after signal n, and 127 where it cannot be
    started.
    """
    package = files("probe.gateway")
    python = package.joinpath("forward.py").read_text(encoding="utf-8")
    script = package.joinpath("forward.js").read_text(encoding="utf-8")
    return ["sh", "-c", _LAUNCH, python, script, node, socket, str(port), *command]


def client_environment(port: int = PORT) -> dict[str, str]:
    """Variables by which most clients find the gateway, whatever protocol they speak."""
    root = f"http://127.0.0.1:{port}"
    return {
        "OPENAI_BASE_URL": f"{root}/v1",
        "OPENAI_API_KEY": DUMMY_KEY,
        "ANTHROPIC_BASE_URL": root,
        "ANTHROPIC_API_KEY": DUMMY_KEY,
        "GOOGLE_GEMINI_BASE_URL": root,
        "GEMINI_API_KEY": DUMMY_KEY,
    }
