"""Sandboxes for one candidate: the snapshot's files, and git history up to the fix, read-only.

The mirror itself is not shown, only its objects, under a git directory of our own. That one holds
two refs, HEAD at the snapshot and the fix, and nothing of where the mirror lies or how far it
reaches. So what a command prints depends on these two commits alone: the same candidate leads to
the same questions in a longer window, another block or another results folder.
"""

from collections.abc import Mapping
from pathlib import Path
from shutil import rmtree
from types import TracebackType
from typing import Self

from probe.errors import SandboxError
from probe.sandbox import Limits, Mount, Sandbox, SandboxSpec, open_sandbox

HISTORY = "/history.git"
"""Where the history is mounted inside; GIT_DIR says so."""

_CONFIG = {
    "safe.directory": "*",
    # the shortest unique abbreviation depends on how many objects the mirror holds
    "core.abbrev": "12",
    "core.quotePath": "false",
    "gc.auto": "0",
}
ENVIRONMENT: Mapping[str, str] = {
    "GIT_DIR": HISTORY,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "PAGER": "cat",
    "GIT_CONFIG_COUNT": str(len(_CONFIG)),
    **{f"GIT_CONFIG_KEY_{n}": key for n, key in enumerate(_CONFIG)},
    **{f"GIT_CONFIG_VALUE_{n}": value for n, value in enumerate(_CONFIG.values())},
    # sets print in one order, so that what is cited prints the same again
    "PYTHONHASHSEED": "0",
}
"""Variables of every command: plain git commands read the history, and outputs can be repeated."""


class Checkout:
    """A snapshot with the history of one fix; opens any number of equal sandboxes.

    A context manager: the git directory of our own lasts as long as it is entered. One that a kill
    left behind is made anew by the next run.
    """

    def __init__(
        self,
        archive: Path,
        mirror: Path,
        view: Path,
        t0: str,
        fix: str,
        *,
        engine: str,
        limits: Limits,
    ) -> None:
        """Nothing is opened yet.

        Args:
            archive: the snapshot's files (``source.tar``).
            mirror: a git directory with the window.
            view: where the git directory of our own is made.
            t0: the snapshot commit.
            fix: the fix commit.
            engine: as in ``sandbox.engine``.
            limits: of each sandbox.
        """
        self._archive, self._mirror, self._view = archive, mirror.resolve(), view.absolute()
        self._t0, self._fix = t0, fix
        self._engine, self._limits = engine, limits

    def __enter__(self) -> Self:
        rmtree(self._view, ignore_errors=True)
        self._view.mkdir(parents=True)
        write_view(self._view, self._t0, self._fix)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        rmtree(self._view, ignore_errors=True)

    def open(self) -> Sandbox:
        """A fresh sandbox in which git has been seen to read the history; close it.

        Raises:
            SandboxError: none can be had, or git cannot read the history inside.
        """
        mounts = (
            Mount(self._view, HISTORY),
            Mount(self._mirror / "objects", f"{HISTORY}/objects"),
        )
        spec = SandboxSpec(
            files=self._archive, limits=self._limits, mounts=mounts, environment=ENVIRONMENT
        )
        box = open_sandbox(spec, self._engine)
        try:
            self._check(box)
        except BaseException:
            box.close()
            raise
        return box

    def _check(self, box: Sandbox) -> None:
        seen = box.run(f"git rev-parse '{self._t0}^{{tree}}' '{self._fix}^{{tree}}'", 60)
        if seen.exit != 0:
            why = (seen.stderr.strip().splitlines() or [f"exit status {seen.exit}"])[-1]
            raise SandboxError(
                f"{self._mirror}: git cannot read this history in a {box.info.engine} sandbox: "
                f"{why}; everybody must be able to read it (chmod -R a+rX {self._mirror}), and the "
                "image must have git"
            )


def write_view(folder: Path, t0: str, fix: str) -> None:
    """Write a bare git directory without objects: HEAD at ``t0``, one ref at ``fix``.

    Files are made readable for everybody, since a sandbox's user is nobody's.
    """
    kind = "1\n[extensions]\n\tobjectFormat = sha256\n" if len(t0) == 64 else "0\n"
    files = {
        "HEAD": f"{t0}\n",
        "packed-refs": f"# pack-refs with: sorted\n{fix} refs/heads/fix\n",
        "config": f"[core]\n\tbare = true\n\trepositoryFormatVersion = {kind}",
    }
    for name in ("objects", "refs"):
        (folder / name).mkdir()
        (folder / name).chmod(0o755)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o644)
    folder.chmod(0o755)
