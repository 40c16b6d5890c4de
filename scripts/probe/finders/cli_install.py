"""Command-line agents at exact versions, installed once for each lock and mounted into sandboxes.

They are a folder beside the cache rather than a layer of an image: the environment of every snapshot
is an image of its own, some engines have no images at all, and a read-only mount is the same to the
agent as a layer. Nothing of them runs while they are installed, and nothing is ever run outside a sandbox.
"""

import hashlib
import json
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

from probe.errors import FinderError
from probe.finders.cli_base import CliTool, Machine
from probe.models.locks import file_lock
from probe.models.secrets import one_line

_PROGRAMS = ("start", "node")
_LISTED = ("package.json", "package-lock.json", *_PROGRAMS)
_COMMAND = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
_NPM_S = 1_800
_MACHINES: dict[str, Machine] = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}
_SEARCHES = "node_modules/@qwen-code/qwen-code/vendor/ripgrep/*/rg"
"""A program that its package makes executable in an install script, which is not run here."""

_LENT = (
    "libutil.so.1",
    "libstdc++.so.6",
    "libgcc_s.so.1",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
    "libm.so.6",
)
"""Libraries that the agents' programs and Node.js need beside the C library."""


def machine() -> Machine:
    """The processor, as npm writes it.

    Raises:
        FinderError: no agents come for it.
    """
    found = _MACHINES.get(platform.machine().lower())
    if found is None:
        raise FinderError(
            f"command-line agents come for x86_64 and aarch64, not for {platform.machine()}"
        )
    return found


def agents_folder(listed: Path, state: Path) -> Path:
    """Where the agents of a lock are, or will be.

    Args:
        listed: the folder ``envs/agents``.
        state: the folder of the cache and the ledger.

    Raises:
        FinderError: a file of ``listed`` cannot be read.
    """
    digest = hashlib.sha256()
    for name in _LISTED:
        try:
            digest.update((listed / name).read_bytes() + b"\0")
        except OSError as error:
            raise FinderError(
                f"{listed / name}: cannot be read: {error.strerror}; it lists the command-line agents "
                "and comes with the workflow"
            ) from error
    return state / f"agents-{digest.hexdigest()[:16]}"


def install_agents(listed: Path, state: Path) -> Path:
    """The folder of the agents, installed now where it is not there yet (1.6 GB, half a minute).

    Safe for many processes and nodes: one installs, the others wait.

    Args:
        listed: the folder ``envs/agents``.
        state: the folder of the cache and the ledger.

    Raises:
        FinderError: npm is missing, or could not install them.
        RecordError: ``state`` cannot be written.
    """
    target = agents_folder(listed, state).absolute()
    if target.is_dir():
        return target
    check_npm(target)
    with file_lock(state / "agents.lock"):
        if not target.is_dir():
            _install(listed, target)
    return target


def check_npm(target: Path) -> None:
    """Say early that agents are not there and cannot be installed.

    Raises:
        FinderError: they are not, and npm is missing.
    """
    if not target.is_dir() and shutil.which("npm") is None:
        raise FinderError(
            f"command-line agents are not installed in {target}, and npm is missing: install Node.js with "
            "npm, or copy that folder from a machine that has it"
        )


def tool_version(tool: CliTool, agents: Path) -> str:
    """The installed version of a tool.

    Raises:
        FinderError: it is not installed.
    """
    package = tool.package.format(machine=machine())
    manifest = agents / "node_modules" / package / "package.json"
    try:
        return str(json.loads(manifest.read_text(encoding="utf-8"))["version"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FinderError(
            f"command-line agent {tool.name!r} is not installed in {agents} ({package}): either it does "
            f"not come for this processor ({machine()}), or the folder is damaged: remove it and run again"
        ) from error


def _install(listed: Path, target: Path) -> None:
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".agents-") as name:
            made = Path(name) / "agents"
            made.mkdir()
            for file in _LISTED:
                shutil.copy(listed / file, made)
            for file in _PROGRAMS:
                (made / file).chmod(0o755)
            _npm(made)
            for search in made.glob(_SEARCHES):
                search.chmod(0o755)
            _lend(made)
            made.chmod(0o755)
            made.rename(target)
    except OSError as error:
        raise FinderError(
            f"{target}: the command-line agents cannot be installed there: {error.strerror or error}"
        ) from error


def _npm(folder: Path) -> None:
    try:
        done = subprocess.run(
            _COMMAND,
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_NPM_S,
            check=False,
            umask=0o022,
        )
    except subprocess.TimeoutExpired as error:
        raise FinderError(_failed(f"no end within {_NPM_S} s")) from error
    if done.returncode:
        lines = [line.removeprefix("npm error").strip() for line in done.stderr.splitlines()]
        said = " ".join(line for line in lines if line and not line.startswith("A complete log"))
        raise FinderError(_failed(one_line(said, 300) or f"status {done.returncode}"))


def _failed(why: str) -> str:
    return (
        f"the command-line agents of envs/agents cannot be installed: npm ci: {why}; check the "
        "registry (`npm config get registry`) and the network"
    )


def _lend(folder: Path) -> None:
    """Keep what :file:`start` lends to programs, as far as this machine has it."""
    node = folder / "node_modules" / f"node-linux-{machine()}" / "bin" / "node"
    said = subprocess.run(
        [str(node)],
        env={"LD_TRACE_LOADED_OBJECTS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    lent = folder / "lib"
    lent.mkdir()
    places = {Path(word).parent for word in said.stdout.split() if word.startswith("/")}
    for place in sorted(places):
        for name in _LENT:
            if (place / name).is_file():
                shutil.copy(place / name, lent / name)
