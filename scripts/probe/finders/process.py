"""Running an analyser: a scrubbed environment, a bounded time, nothing of the snapshot executed.

The working folder is empty and outside the snapshot, so that no tool picks up a configuration by
being started beside it; HOME is another empty folder; the user's variables (keys among them) do
not reach the tool.
"""

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from probe.errors import FinderError

_LAST_LINES = 20


class ToolCrashError(FinderError):
    """The tool ended in a way that is no answer; the message is its last line."""


class ToolTimeoutError(FinderError):
    """The tool was killed because its time was over."""


@dataclass(frozen=True, slots=True)
class Output:
    """How a tool ended."""

    status: int
    """Exit status; negative for a signal."""
    stdout: bytes
    """All of it."""
    stderr: bytes
    """All of it."""

    def crash(self, tool: str) -> ToolCrashError:
        """The error that says in one line how the tool ended."""
        how = f"signal {-self.status}" if self.status < 0 else f"status {self.status}"
        text = (self.stderr.strip() or self.stdout.strip()).decode("utf-8", errors="replace")
        lines = [line.strip() for line in text.splitlines()[-_LAST_LINES:] if line.strip()]
        said = next((line for line in lines if "rror" in line or "panic" in line), None)
        detail = f": {(said or lines[-1])[:300]}" if lines else ""
        return ToolCrashError(f"{tool} ended with {how}{detail}")


class Bench:
    """A temporary folder to run a tool from, and the names that stand for this machine's paths."""

    def __init__(self, folder: Path, root: Path) -> None:
        self.folder = folder
        """For files that the tool reads: its configuration."""
        self.root = root
        """The snapshot."""
        for name in ("work", "home"):
            (folder / name).mkdir()

    def write(self, name: str, text: str) -> Path:
        """A file for the tool to read."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def execute(
        self, command: Sequence[str], limit_s: float, extra_env: dict[str, str] | None = None
    ) -> Output:
        """Run a command to its end, or kill it with all its children.

        Raises:
            ToolTimeoutError: it took longer than ``limit_s``.
            FinderError: it cannot be started.
        """
        with tempfile.TemporaryFile(dir=self.folder) as out, tempfile.TemporaryFile() as err:
            try:
                process = subprocess.Popen(
                    list(command),
                    cwd=self.folder / "work",
                    env=self._environment() | (extra_env or {}),
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    start_new_session=True,
                )
            except OSError as error:
                raise FinderError(f"{command[0]}: cannot start: {error.strerror}") from error
            status = _wait(process, limit_s)
            out.seek(0)
            err.seek(0)
            return Output(status, out.read(), err.read())

    def _environment(self) -> dict[str, str]:
        home = str(self.folder / "home")
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": home,
            "XDG_CACHE_HOME": home,
            "XDG_CONFIG_HOME": home,
            "TMPDIR": home,
            "LC_ALL": "C",
            "NO_COLOR": "1",
        }


def _wait(process: subprocess.Popen[bytes], limit_s: float) -> int:
    try:
        return process.wait(timeout=limit_s)
    except BaseException as error:
        _kill_group(process)
        if isinstance(error, subprocess.TimeoutExpired):
            raise ToolTimeoutError(f"stopped after {limit_s:.0f} s") from error
        raise


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill the tool and its children: it leads a session of its own."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def open_bench(root: Path) -> Iterator[Bench]:
    """A bench for a snapshot, removed at the end."""
    with tempfile.TemporaryDirectory(prefix="probe-finder-") as folder:
        yield Bench(Path(folder).resolve(), root.resolve())
