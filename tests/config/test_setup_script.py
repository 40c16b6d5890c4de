"""Set-up: what it reuses, and the one line that it ends with where it cannot go on."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


class Checkout:
    """A folder with the files that set-up reads, and a PATH with chosen programs only."""

    def __init__(self, root: Path) -> None:
        self.root = root / "a checkout"
        self.programs = root / "programs"
        self.programs.mkdir()
        for name in ("envs/setup.sh", "envs/requirements.lock", "pyproject.toml"):
            target = self.root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target)
        for name in ("cat", "dirname", "git", "rm"):
            self.offer(name, Path(shutil.which(name)))

    def offer(self, name: str, program: Path) -> None:
        (self.programs / name).symlink_to(program)

    def set_up(self) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [shutil.which("sh"), "envs/setup.sh"],
            cwd=self.root,
            env={"PATH": str(self.programs)},
            capture_output=True,
            text=True,
            check=False,
        )

    def pretend_made(self) -> None:
        """Leave what a finished set-up leaves."""
        scripts = self.root / ".venv/bin"
        scripts.mkdir(parents=True)
        (scripts / "python").symlink_to(sys.executable)
        for stamp, name, more in [
            ("lock", "envs/requirements.lock", f" {self.root}"),
            ("package", "pyproject.toml", ""),
        ]:
            command = ["git", "hash-object", "--no-filters", name]
            digest = subprocess.run(command, cwd=self.root, capture_output=True, text=True)
            (self.root / f".venv/{stamp}.stamp").write_text(f"{digest.stdout.strip()}{more}\n")


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)


def test_an_environment_of_this_lock_is_reused_in_silence(checkout):
    checkout.pretend_made()
    done = checkout.set_up()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("change", ["lock", "place", "python"])
def test_another_environment_is_not_reused(checkout, change):
    checkout.pretend_made()
    if change == "lock":
        (checkout.root / "envs/requirements.lock").write_text("other\n")
    elif change == "place":
        checkout.root = checkout.root.rename(checkout.root.with_name("moved"))
    else:
        (checkout.root / ".venv/bin/python").unlink()
    done = checkout.set_up()
    assert done.stderr.startswith("setup: making .venv from envs/requirements.lock")


def test_no_python(checkout):
    done = checkout.set_up()
    assert done.returncode == 1
    assert re.fullmatch(r"setup: no Python 3\.11 or newer .*\n", done.stderr.split("...\n", 1)[1])


def test_an_old_python_is_passed_over(checkout):
    old = checkout.programs / "python3"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    assert "no Python 3.11 or newer" in checkout.set_up().stderr


def test_a_folder_that_is_no_environment_is_left_alone(checkout):
    checkout.offer("python3", Path(sys.executable))
    mine = checkout.root / ".venv/mine.txt"
    mine.parent.mkdir()
    mine.write_text("mine")
    done = checkout.set_up()
    assert done.returncode == 1
    assert done.stderr.endswith(".venv exists but is no virtual environment; move it away\n")
    assert mine.read_text() == "mine"


def test_no_git(checkout):
    (checkout.programs / "git").unlink()
    done = checkout.set_up()
    assert (done.returncode, done.stderr) == (1, "setup: git is missing; install it\n")


def test_make_lists_every_command():
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.M)[1].split()
    listed = subprocess.run(
        ["make", "--no-print-directory"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert sorted(line.split()[1] for line in listed.splitlines()) == sorted(phony)
