"""How a Python project's own tests are run: by pytest, wherever they are."""

import shlex
from pathlib import PurePosixPath

from probe.environment.override import TestOverride
from probe.environment.python_project import Project
from probe.environment.python_pytest import pytest_settings
from probe.environment.recipe import TestPlan
from probe.environment.tree import Tree

_RUN = "python -m pytest --color=no -o cache_dir=/tmp/pytest-cache"
"""No -q: with one of the project's own, pytest would print no total."""
_SUBSET_FILES = 12
"""Test files in the representative part, at most."""
_ASIDE = frozenset(
    {"docs", "doc", "examples", "example", "benchmarks", "node_modules", "vendor", "_vendor"}
)


def plan_tests(tree: Tree, project: Project | None, said: TestOverride) -> TestPlan | None:
    """The commands; None where there is no test file and nobody named a command."""
    files = find_tests(tree)
    skipped = tuple(f"{what}: {why}" for what, why in sorted(said.skipped.items()))
    ignored = "".join(f" --ignore={shlex.quote(what)}" for what in sorted(said.skipped))
    if not files and said.full is None:
        return None
    settings = pytest_settings(tree, project) if project else {}
    places = "" if settings.get("testpaths") else "".join(f" {one}" for one in _places(files))
    kept = [one for one in files if not any(_below(one, what) for what in said.skipped)]
    part = " ".join(shlex.quote(one) for one in spread(kept, _SUBSET_FILES))
    return TestPlan(
        full=said.full or f"{_RUN}{ignored}{places}",
        subset=said.subset or (f"{_RUN} {part}" if part and said.full is None else None),
        totals=said.totals or "pytest",
        notes=skipped,
    )


def find_tests(tree: Tree) -> list[str]:
    """Files that pytest would collect by their name, outside of examples and the like."""
    found = []
    for path in tree.paths:
        pure = PurePosixPath(path)
        named = pure.name.startswith("test_") or pure.stem.endswith("_test")
        if pure.suffix == ".py" and named and not _ASIDE & set(pure.parts[:-1]):
            found.append(path)
    return found


def spread(files: list[str], most: int) -> list[str]:
    """Every k-th file, evenly over the sorted list, ``most`` at most: the same on every machine."""
    step = max(1, -(-len(files) // most))
    return files[step // 2 :: step]


def _places(files: list[str]) -> list[str]:
    """The topmost folders that hold tests: ``tests``, ``package/tests``; files at the root as such."""
    places = set()
    for path in files:
        parts = PurePosixPath(path).parts
        marks = [
            place for place, part in enumerate(parts[:-1]) if part in {"test", "tests", "testing"}
        ]
        depth = marks[0] + 1 if marks else len(parts) - 1
        places.add("/".join(parts[:depth]) or path)
    kept = [one for one in places if not any(_below(one, other) for other in places - {one})]
    return [shlex.quote(one) for one in sorted(kept)]


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")
