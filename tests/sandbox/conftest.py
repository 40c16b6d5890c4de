"""Sandboxes for the suites: every test here runs on each real engine."""

import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from probe.sandbox import ENGINES, Limits, Sandbox, SandboxSpec, open_sandbox

SMALL = Limits(memory_mb=200, processes=40, cpus=1, disk_mb=40, output_kb=100)
TESTED = os.environ.get("PROBE_TEST_SANDBOXES", "docker,bubblewrap").split(",")
"""``PROBE_TEST_SANDBOXES=podman`` runs the suite on an engine that CI does not have."""
MARKED = {"docker": [pytest.mark.docker], "bubblewrap": [pytest.mark.bubblewrap]}


@pytest.fixture(
    params=[pytest.param(name, marks=MARKED.get(name, [])) for name in TESTED], scope="session"
)
def engine(request: pytest.FixtureRequest) -> str:
    """Name of an engine that runs here."""
    if request.param == "docker":
        request.getfixturevalue("docker_daemon")
    assert request.param in ENGINES
    return request.param


@pytest.fixture
def make(engine: str):
    """Opens sandboxes with small limits, and closes them at the end."""
    opened: list[Sandbox] = []

    def open_one(**changes: object) -> Sandbox:
        sandbox = open_sandbox(SandboxSpec(**{"limits": SMALL, **changes}), engine)
        opened.append(sandbox)
        return sandbox

    yield open_one
    for sandbox in opened:
        sandbox.close()


@pytest.fixture(scope="module")
def box(engine: str):
    """One sandbox for the tests of a module that leave it as it was."""
    with open_sandbox(SandboxSpec(limits=SMALL), engine) as sandbox:
        yield sandbox


@pytest.fixture
def archive(tmp_path: Path) -> Callable[..., Path]:
    """Makes a tar archive of a folder's files, given as name and text."""

    def build(**files: str) -> Path:
        path = tmp_path / "source.tar"
        with tarfile.open(path, "w") as tar:
            for number, (name, text) in enumerate(files.items()):
                source = tmp_path / f"file-{number}"
                source.write_text(text)
                tar.add(source, name)
        return path

    return build


@pytest.fixture
def open_folder(tmp_path: Path) -> Path:
    """A folder on the host whose parents and content any user may read."""
    for parent in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        if parent.stat().st_uid == os.geteuid():
            parent.chmod(0o755)
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o755)
    return folder
