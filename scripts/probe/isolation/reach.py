"""Whether anything outside a sandbox can be reached: registries, names, the host's own services.

Each attempt has a counterpart that must be seen to work, since a tool that is missing inside looks
just like a network that is shut: a refused connection on the sandbox's loopback, and a listener on the
host that the host itself reaches. An attempt whose end is none of those that are known is an error.
"""

import os
import re
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from probe.errors import IsolationError
from probe.isolation.listing import Entry
from probe.records import Leak, LeakKind
from probe.sandbox import Sandbox

REGISTRIES = (
    "pypi.org", "files.pythonhosted.org", "registry.npmjs.org", "registry.yarnpkg.com", "nodejs.org",
    "github.com", "api.github.com", "codeload.github.com", "raw.githubusercontent.com",
)  # fmt: skip
"""Where pip, uv, npm, pnpm, yarn and git get what is new."""
_ADDRESSES = ("1.1.1.1", "8.8.8.8", "169.254.169.254", "2606:4700:4700::1111")
"""Reached without a name: two resolvers, the metadata service of clouds, one of IPv6."""
_SETTINGS = ("http_proxy", "https_proxy", "all_proxy", "pip_index_url", "pip_extra_index_url",
             "uv_index_url", "uv_default_index", "npm_config_registry", "docker_host")  # fmt: skip
_HOST_AND_PORT = re.compile(r"(?:\w+://)?(?:[^/@\s]*@)?([\w.-]+)(?::(\d+))?")
_ATTEMPT = r"""
export LC_ALL=C
try() {
    printf '%s\t%s\t' "$1" "$2"
    timeout 5 bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$1" "$2" 2>&1 | tr '\n\t' '  '
    printf '\t%s\n' "${PIPESTATUS[0]}"
}
while read -r host port; do try "$host" "$port"; done <<'END'
ENDPOINTS
END
"""
_INTERFACES = r"""
cat /proc/net/dev | tail -n +3 | cut -d: -f1
echo --
tail -n +2 /proc/net/route
cat /proc/net/ipv6_route 2>/dev/null | grep -v ' lo$' || true
"""
_ATTEMPT_S = 300
_REFUSED = "onnection refused"
_UNRESOLVED = (
    "not known",
    "name resolution",
    "No address associated",
    "does not resolve",
    "not supported",
)
_TIMED_OUT = 124
_CLOSED_PORT = 1


class Attempt(NamedTuple):
    """What came of one connection."""

    host: str
    """Name or address."""
    port: int
    """TCP port."""
    said: str
    """The shell's complaint."""
    exit: int
    """0: connected."""

    @property
    def hung(self) -> bool:
        """Whether nothing came back: without a network everything fails at once."""
        return self.exit == _TIMED_OUT

    @property
    def understood(self) -> bool:
        """Whether its end is one of those that are known."""
        return self.hung or self.resolved or any(words in self.said for words in _UNRESOLVED)

    @property
    def resolved(self) -> bool:
        """Whether the name led to an address, whatever became of the connection."""
        return self.exit == 0 or "connect:" in self.said


class Reach(NamedTuple):
    """What was tried, and what answered."""

    checks: dict[LeakKind, int]
    """Attempts by kind."""
    leaks: list[Leak]
    """What could be reached."""


def check_reach(box: Sandbox, entries: Sequence[Entry], allowed_sockets: Sequence[str]) -> Reach:
    """Try to leave a sandbox.

    Args:
        box: the sandbox.
        entries: everything inside.
        allowed_sockets: paths of sockets that are there on purpose: the gateway's.

    Raises:
        IsolationError: the attempts prove nothing: bash inside cannot connect at all, or the host
            cannot reach its own listener.
        SandboxError: the sandbox died.
    """
    with _listener() as (port, heard):
        _reach_self(port)
        endpoints = [*_registries(), *((a, 443) for a in _ADDRESSES), *_host_services(port)]
        closed, *tried = _try(box, [("127.0.0.1", _CLOSED_PORT), *endpoints])
        knocked = heard()
    if _REFUSED not in closed.said:
        raise IsolationError(
            "the sandbox's network cannot be judged: bash inside cannot even be refused on its own loopback "
            f"({closed.said or closed.exit}); the image needs a bash with /dev/tcp"
        )
    leaks = [leak for attempt in tried if (leak := _leak(attempt))]
    if knocked:
        leaks.append(
            Leak(kind="network", where=f"host:{port}", detail="a listener on the host was reached")
        )
    interfaces, more = _interfaces(box)
    sockets = [e for e in entries if e.kind == "socket"]
    leaks += [*more, *(
        Leak(kind="network", where=e.path, detail="a socket: somebody may listen at its other end")
        for e in sockets if e.path not in allowed_sockets
    )]  # fmt: skip
    registries = sum(attempt.host in REGISTRIES for attempt in tried)
    names = sum(not _is_address(attempt.host) for attempt in tried)
    others = len(tried) - registries + interfaces + len(sockets)
    return Reach({"registry": registries, "dns": names, "network": others}, leaks)


def _leak(attempt: Attempt) -> Leak | None:
    where = f"{attempt.host}:{attempt.port}"
    if attempt.exit == 0:
        kind: LeakKind = "registry" if attempt.host in REGISTRIES else "network"
        return Leak(kind=kind, where=where, detail="can be connected to")
    if attempt.hung:
        return Leak(
            kind="network", where=where, detail="no answer and no refusal: something takes packets"
        )
    if attempt.resolved and not _is_address(attempt.host):
        return Leak(
            kind="dns", where=attempt.host, detail=f"the name has an address: {attempt.said}"
        )
    if _REFUSED in attempt.said and attempt.host not in ("127.0.0.1", "::1"):
        return Leak(kind="network", where=where, detail="somebody refuses: there is a way to it")
    return None


def _try(box: Sandbox, endpoints: Sequence[tuple[str, int]]) -> list[Attempt]:
    listed = "\n".join(f"{host} {port}" for host, port in endpoints)
    output = box.run(_ATTEMPT.replace("ENDPOINTS", listed), _ATTEMPT_S)
    attempts = []
    for line in output.stdout.splitlines():
        host, port, said, status = line.split("\t")
        attempts.append(Attempt(host, int(port), said.strip(), int(status)))
        if not attempts[-1].understood:
            raise IsolationError(
                f"the sandbox's network cannot be judged: the attempt to reach {host}:{port} ended "
                f"unforeseen: {said.strip() or f'exit status {status}'}"
            )
    if len(attempts) != len(endpoints):
        raise IsolationError(
            f"the sandbox's network cannot be judged: {len(attempts)} of {len(endpoints)} attempts ended; "
            f"{' '.join(output.stderr.split())[-200:] or 'no word of why'}; the image needs timeout and tr"
        )
    return attempts


def _interfaces(box: Sandbox) -> tuple[int, list[Leak]]:
    output = box.run(_INTERFACES, 30)
    listed, _, routes = output.stdout.partition("--\n")
    names = listed.split()
    if "lo" not in names:
        raise IsolationError(
            f"the sandbox's network cannot be judged: /proc/net/dev shows {names or 'nothing'}"
        )
    # tunnel devices of the kernel appear in every new namespace, down and without a route
    leaks = [
        Leak(kind="network", where=line.split()[0], detail="a route leads out of the sandbox")
        for line in routes.splitlines()
        if line.split()
    ]
    return len(names) + len(routes.splitlines()), leaks


def _registries() -> list[tuple[str, int]]:
    """The public ones, and those of this host's own settings, proxies included."""
    found = [(name, 443) for name in REGISTRIES]
    for name, value in sorted(os.environ.items()):
        if name.lower() not in _SETTINGS:
            continue
        for word in value.split():
            match = _HOST_AND_PORT.match(word)
            if match and not word.startswith(("unix:", "file:")):
                found.append((match[1], int(match[2] or (80 if word.startswith("http:") else 443))))
    return list(dict.fromkeys(found))


def _host_services(port: int) -> list[tuple[str, int]]:
    """The listener under every address of this host, and the host's resolvers."""
    addresses = ["127.0.0.1", *_own_addresses()]
    with suppress(OSError), open("/etc/resolv.conf", encoding="utf-8") as stream:  # noqa: PTH123
        words = [line.split() for line in stream]
        servers = [w[1] for w in words if len(w) > 1 and w[0] == "nameserver"]
        return [*((address, port) for address in addresses), *((s, 53) for s in servers)]
    return [(address, port) for address in addresses]


def _own_addresses() -> list[str]:
    """Addresses of this host, as far as it says them."""
    done = subprocess.run(["hostname", "-I"], capture_output=True, text=True, check=False)
    return done.stdout.split() if done.returncode == 0 else []


@contextmanager
def _listener() -> Iterator[tuple[int, "_Heard"]]:
    """A listener on all of the host's addresses."""
    with socket.socket() as door:
        door.bind(("0.0.0.0", 0))  # noqa: S104 - it answers nothing
        door.listen()
        door.setblocking(False)
        yield door.getsockname()[1], _Heard(door)


class _Heard:
    """Whether somebody else than this process knocked."""

    def __init__(self, door: socket.socket) -> None:
        self._door = door

    def __call__(self) -> bool:
        knocks = 0
        with suppress(BlockingIOError):
            while True:
                self._door.accept()[0].close()
                knocks += 1
        return knocks > 1  # the first was our own


def _reach_self(port: int) -> None:
    try:
        socket.create_connection(("127.0.0.1", port), 5).close()
    except OSError as error:
        raise IsolationError(
            f"the host cannot reach its own listener at 127.0.0.1:{port} ({error}), so that a sandbox's "
            "failure to do so proves nothing"
        ) from error


def _is_address(host: str) -> bool:
    return ":" in host or host.replace(".", "").isdigit()
