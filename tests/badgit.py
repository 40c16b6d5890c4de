"""A ``git`` that notes its calls, and that can fail over one commit.

::

    log = wrap_git(tmp_path, monkeypatch, failing="blame", over=sha)
    ...
    assert count(log, "blame") == 1
"""

import os
import shutil
from pathlib import Path

import pytest

_SCRIPT = """#!{python}
import os, subprocess, sys
args = sys.argv[1:]
commands = ("blame", "cat-file", "diff-tree", "grep", "log", "ls-tree", "rev-list")
command = next((word for word in args if word in commands), args[0])
with open({log!r}, "a") as log:
    log.write(command + "\\n")
over = {over!r}
def fail():
    sys.stderr.write("fatal: broken on purpose\\n")
    sys.exit(128)
if command not in {failing!r}:
    os.execv({git!r}, [{git!r}, *args])
if any(over in word for word in args):
    fail()
if not any(word == "--stdin" or word.startswith("--batch") for word in args):
    os.execv({git!r}, [{git!r}, *args])
git = subprocess.Popen([{git!r}, *args], stdin=subprocess.PIPE)
for line in iter(sys.stdin.buffer.readline, b""):
    if over.encode() in line:
        git.stdin.close()
        git.wait()
        fail()
    git.stdin.write(line)
    git.stdin.flush()
git.stdin.close()
sys.exit(git.wait())
"""


def wrap_git(
    folder: Path, monkeypatch: pytest.MonkeyPatch, failing: str = "", over: str = ""
) -> Path:
    """Put such a git first on PATH; return the file that lists its calls, a line each.

    Args:
        folder: where to write it.
        monkeypatch: takes it off PATH again.
        failing: commands that fail, separated by blanks.
        over: the commit over which they fail: its full name in an argument or on standard input.
    """
    real, python = shutil.which("git"), shutil.which("python3")
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    log = folder / "calls"
    log.touch()
    script = _SCRIPT.format(
        python=python, log=str(log), over=over, failing=tuple(failing.split()), git=real
    )
    (bin_folder / "git").write_text(script)
    (bin_folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}{os.environ['PATH']}")
    return log


def calls(log: Path) -> dict[str, int]:
    """How often each command was called."""
    lines = log.read_text().split()
    return {command: lines.count(command) for command in set(lines)}
