"""What the tests of environments share: trees, a machine, a package index."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from environment_snapshots import tree_of
from packageindex import PackageIndex

from probe.environment.base import Machine
from probe.environment.tree import Tree


@pytest.fixture
def tree(tmp_path: Path) -> Callable[[dict[str, str]], Tree]:
    """Makes a tree of these texts."""
    return lambda files: tree_of(files, tmp_path)


@pytest.fixture(scope="session")
def machine() -> Machine:
    """An ordinary one."""
    return Machine("linux", "x86_64", "glibc", (2, 36), (3, 11, 2))


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageIndex]:
    """A package index, to which uv and we are pointed."""
    with PackageIndex() as running:
        for name in ("UV_INDEX_URL", "PIP_INDEX_URL"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("UV_DEFAULT_INDEX", running.url)
        yield running
