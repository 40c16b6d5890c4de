"""``probe doctor``: what works on this machine, and what to do about the rest."""

import argparse
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from probe.cli.commands import Commands
from probe.errors import SandboxError
from probe.sandbox import Check, check_engines
from probe.sandbox.docker import data_folder

_LOW_GB = 10
_INDENT = 12


class _Row(NamedTuple):
    name: str
    state: str
    """``works``, ``fails``, ``missing`` or ``low``."""
    detail: str
    remedy: str = ""


def add(commands: Commands) -> None:
    """Add the command."""
    doctor = commands.add_parser(
        "doctor",
        help="say what works on this machine",
        description="Try each sandbox engine for real and look at the programs and the disk. "
        "Nothing on the machine is changed. The exit status is 0 when at least one sandbox works.",
    )
    doctor.set_defaults(run=_doctor)


def _doctor(options: argparse.Namespace) -> None:
    checks = check_engines()
    sections = {
        "sandboxes": map(_engine, checks),
        "programs": _programs(),
        "disk": _disks(),
    }
    for title, rows in sections.items():
        print(title)
        for row in rows:
            print(f"  {row.name:<{_INDENT}}{row.state:<9}{row.detail}".rstrip())
            if row.remedy:
                print(f"  {'':<{_INDENT}}{'':<9}remedy: {row.remedy}")
    if not any(check.works for check in checks):
        raise SandboxError(
            "no sandbox works here, so that no agent can run; see the remedies above"
        )


def _engine(check: Check) -> _Row:
    state = "works" if check.works else "missing" if check.version is None else "fails"
    version = f"{check.version}, " if check.version else ""
    return _Row(check.engine, state, f"{version}{check.reason}", check.remedy)


def _programs() -> Iterator[_Row]:
    yield _Row("python", "works", f"{platform.python_version()}, {sys.executable}")
    yield _program("git", "install git 2.36 or newer: no history can be read without it")
    yield _program("node", "install Node.js 20 or newer: some analysers and agents need it")


def _program(name: str, remedy: str) -> _Row:
    place = shutil.which(name)
    if place is None:
        return _Row(name, "missing", "not on PATH", remedy)
    try:
        said = subprocess.run([place, "--version"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as error:
        return _Row(name, "fails", str(error), remedy)
    version = said.stdout.strip().removeprefix(f"{name} version ").removeprefix("v")
    if said.returncode:
        return _Row(name, "fails", f"{place} --version: status {said.returncode}", remedy)
    return _Row(name, "works", f"{version}, {place}")


def _disks() -> Iterator[_Row]:
    yield _disk("working", Path.cwd())
    docker = data_folder()
    if docker is not None:
        yield _disk("docker", docker)


def _disk(name: str, folder: Path) -> _Row:
    try:
        usage = shutil.disk_usage(folder)
    except OSError as error:
        return _Row(name, "fails", f"{folder}: {error.strerror}")
    free, total = usage.free / 1e9, usage.total / 1e9
    detail = f"{folder}: {free:.1f} of {total:.1f} GB free"
    if free < _LOW_GB:
        return _Row(name, "low", detail, f"free some: a build may need {_LOW_GB} GB")
    return _Row(name, "works", detail)
