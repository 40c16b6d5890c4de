"""Memory stays bounded where a window holds diffs of tens of megabytes."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
BOUND_MB = 250
"""A bare interpreter with our libraries takes 60; the texts of one such diff alone would take 200."""


@pytest.fixture(scope="module")
def huge(tmp_path_factory, request) -> tuple[str, str, str]:
    """Sixty commits; three of them rewrite 20 MB of code and a bundle of one line."""
    sys.path.insert(0, str(BENCHMARKS))
    request.addfinalizer(lambda: sys.path.remove(str(BENCHMARKS)))
    from reference import generate_huge

    path = tmp_path_factory.mktemp("huge") / "repo"
    t0, t1 = generate_huge(path, commits=60, huge=3, size=20)
    return str(path), t0, t1


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")
@pytest.mark.parametrize("stage", ["window", "candidates"])
def test_huge_diffs_are_not_held(huge, stage):
    command = [sys.executable, str(BENCHMARKS / "reference.py"), *huge, "--stage", stage]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert int(told) < BOUND_MB
