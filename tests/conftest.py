"""What all tests share: small environments, and the suites that need an engine.

A marker of ``ENGINES`` says that a test needs something beyond Python and git. With ``CI=true`` such
a test always runs, and fails where the engine is missing; elsewhere it is left out where the
engine is missing, and the run's last lines name the suite and how to get it.
"""

import os
import shutil
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import private_docker
import pytest

ROOT = Path(__file__).resolve().parent.parent


class Engine(NamedTuple):
    """Something that a suite needs."""

    available: Callable[[], bool]
    remedy: str


def _index_answers() -> bool:
    """Whether pip's package index answers; its address is pip's own setting."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "-q", "-d", os.devnull]
    try:
        socket.setdefaulttimeout(5)
        probe = subprocess.run(
            [*command, "six==0"], capture_output=True, text=True, timeout=60, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return "from versions: 0." in probe.stderr or "from versions: 1." in probe.stderr


def _npm_answers() -> bool:
    """Whether npm reaches its registry."""
    if shutil.which("npm") is None:
        return False
    command = ["npm", "view", "is-number", "version", "--fetch-retries=0"]
    try:
        return subprocess.run(command, capture_output=True, timeout=60, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def _bubblewrap_works() -> bool:
    from probe.sandbox.bubblewrap import BubblewrapEngine

    return BubblewrapEngine().check().works


ENGINES = {
    "node": Engine(lambda: shutil.which("node") is not None, "install Node.js 20 or newer"),
    "tmpfs": Engine(
        lambda: os.geteuid() == 0 and sys.platform == "linux",
        "run as root on Linux: a file system of 1 MB is mounted for the full-disk tests",
    ),
    "docker": Engine(
        lambda: private_docker.kind() is not None,
        "run as root with dockerd installed (a private daemon is started and stopped), "
        "or set PROBE_TEST_DOCKER=host to use your own daemon",
    ),
    "bubblewrap": Engine(
        _bubblewrap_works, "install bubblewrap 0.4 or newer; `probe doctor` says what it needs"
    ),
    "npm": Engine(_npm_answers, "install npm, with a registry that it can reach"),
    "registry": Engine(_index_answers, "connect to a package index that pip can reach"),
}

_left_out: Counter[str] = Counter()


LONG = {"test_killed.py", "test_models.py", "test_agent_cells.py", "test_extract_workflow.py"}
"""Files that take longest."""


def pytest_configure(config: pytest.Config) -> None:
    for name, engine in ENGINES.items():
        config.addinivalue_line("markers", f"{name}: to run it, {engine.remedy}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # files that take minutes begin first, so that no worker waits at the end for the last of them
    items.sort(key=lambda item: item.path.name not in LONG)
    if os.environ.get("CI") == "true":
        return
    wanted = {name for name in ENGINES for item in items if item.get_closest_marker(name)}
    missing = {name for name in wanted if not ENGINES[name].available()}
    kept, removed = [], []
    for item in items:
        lacks = [name for name in sorted(missing) if item.get_closest_marker(name)]
        _left_out.update(lacks)
        (removed if lacks else kept).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=removed)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for name, number in sorted(_left_out.items()):
        remedy = ENGINES[name].remedy
        terminalreporter.write_line(f"did not run: suite '{name}' ({number} tests); {remedy}")


@pytest.fixture(scope="session")
def docker_daemon():
    """The address of a running Docker daemon; DOCKER_HOST says it while the tests run."""
    with private_docker.daemon() as address:
        yield address


@pytest.fixture(autouse=True)
def _engine_of_marker(request):
    """Start the daemon for the first test that carries the marker ``docker``."""
    if request.node.get_closest_marker("docker"):
        request.getfixturevalue("docker_daemon")


@pytest.fixture
def run_python(tmp_path):
    """Run code in a new interpreter in ``tmp_path``."""

    def run(code: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
        )

    return run


@pytest.fixture
def server():
    """A model server of the test's own."""
    from modelserver import ModelServer

    with ModelServer() as running:
        yield running


@pytest.fixture
def full_disk(tmp_path):
    """A file system of 1 MB; needs the marker ``tmpfs``."""
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)
