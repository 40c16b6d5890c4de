"""The part of the agents' folder that one tool needs, and so the part that its sessions see.

Agents are younger than any snapshot. What one of them depends on can be the very project that is
audited, in a version of today: so a session is shown its own tool's packages and no others.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from probe.errors import FinderError
from probe.finders.cli_base import CliTool
from probe.finders.cli_install import machine
from probe.models.locks import file_lock

_MODULES = "node_modules"
_NODE = "node-linux-{machine}"
_NEEDS = ("dependencies", "optionalDependencies", "peerDependencies")


def tool_folder(tool: CliTool, agents: Path) -> Path:
    """The folder of one tool beside that of all, made now where it is not there yet.

    Its files are links to those of the installation where they can be, and then take no room.

    Args:
        tool: the agent.
        agents: the folder of all agents.

    Raises:
        FinderError: the tool is not installed, or the folder cannot be written.
    """
    target = agents.with_name(f"{agents.name}-{tool.name}")
    if target.is_dir():
        return target
    with file_lock(agents.parent / "agents.lock"):
        if not target.is_dir():
            _link(tool, agents, target)
    return target


def needed_packages(lock: Mapping[str, object], roots: Iterable[str]) -> list[str]:
    """Places of the packages that some packages need, themselves included, sorted.

    A dependency is looked for as Node.js does: below the package that needs it, then below each
    folder above.

    Args:
        lock: a ``package-lock.json`` of version 3.
        roots: names of packages.

    Raises:
        FinderError: the lock lists no packages.
    """
    packages = lock.get("packages")
    if not isinstance(packages, Mapping):
        raise FinderError("package-lock.json of the command-line agents lists no packages")
    open_ = [place for name in roots if (place := _find(packages, "", name)) is not None]
    found: set[str] = set()
    while open_:
        place = open_.pop()
        if place in found:
            continue
        found.add(place)
        entry = packages[place]
        names = {name for key in _NEEDS for name in entry.get(key, {})}
        open_ += [near for name in names if (near := _find(packages, place, name)) is not None]
    return sorted(found)


def _find(packages: Mapping[str, object], place: str, name: str) -> str | None:
    while True:
        near = f"{place}/{_MODULES}/{name}".lstrip("/")
        if near in packages:
            return near
        if not place:
            return None
        place = place.rpartition(f"{_MODULES}/")[0].rstrip("/")


def _link(tool: CliTool, agents: Path, target: Path) -> None:
    names = [tool.package.format(machine=machine()), _NODE.format(machine=machine())]
    try:
        lock = json.loads((agents / "package-lock.json").read_text(encoding="utf-8"))
        places = [place for place in needed_packages(lock, names) if (agents / place).is_dir()]
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".agents-") as name:
            made = Path(name) / "agents"
            made.mkdir()
            for place in places:
                _link_package(agents / place, made / place)
            _link_programs(agents, made)
            made.chmod(0o755)
            made.rename(target)
    except (OSError, ValueError) as error:
        raise FinderError(
            f"{target}: the packages of {tool.name!r} cannot be put there: {error}; remove {agents} "
            "and run again"
        ) from error


def _link_or_copy(source: str | Path, target: str | Path) -> None:
    """A second name for a file; a copy where the installation lies on another file system."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _link_package(source: Path, target: Path) -> None:
    """A package without those nested in it, which are listed by themselves where they are needed."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(
        source,
        target,
        symlinks=True,
        copy_function=_link_or_copy,
        ignore=lambda folder, names: {_MODULES} & set(names) if folder == str(source) else set(),
        dirs_exist_ok=True,
    )


def _link_programs(agents: Path, made: Path) -> None:
    for one in sorted(agents.iterdir()):
        if one.is_file():
            _link_or_copy(one, made / one.name)
    shutil.copytree(agents / "lib", made / "lib", copy_function=_link_or_copy)
    programs = made / _MODULES / ".bin"
    programs.mkdir(parents=True, exist_ok=True)
    for link in sorted((agents / _MODULES / ".bin").iterdir()):
        if link.is_symlink() and (programs / link.readlink()).exists():
            (programs / link.name).symlink_to(link.readlink())
