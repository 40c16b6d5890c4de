"""One bubblewrap, from its start to the death of all that it started."""

import json
import os
import select
import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from typing import IO, BinaryIO, Self

from probe.errors import SandboxError
from probe.sandbox.holder import RUN_VARIABLE, tool_environment
from probe.sandbox.seccomp import filter_program
from probe.sandbox.streams import Capture, Feed, drain, output_pipes, pump

_START_S = 30.0
_DEATH_S = 60.0


class BubblewrapRun:
    """A command in namespaces of its own; a context manager, which kills what is left at its end.

    The command waits for :meth:`follow`, so that limits can be set from outside on
    :attr:`first` before any foreign code runs.
    """

    first: int
    """The host's number of the sandbox's first process: the others die with it."""

    def __init__(
        self,
        entry: Sequence[str],
        options: Sequence[str],
        command: Sequence[str],
        stdin: BinaryIO | None,
    ) -> None:
        """Take what to run.

        Args:
            entry: Command line to put before bubblewrap's.
            options: bubblewrap's options, passed out of sight of ``ps``.
            command: Program and arguments inside.
            stdin: Input of the command; None for none.
        """
        self._entry = entry
        self._options = options
        self._command = command
        self._stdin = stdin

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._start(stack)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def follow(
        self, capture: Capture, deadline: float, tick: Callable[[], float | None]
    ) -> int | None:
        """Let the command run to its end, its deadline (monotonic) or what ``tick`` says; kill the rest.

        Returns:
            Its exit status, or None where it had to be stopped.

        Raises:
            SandboxError: bubblewrap was killed from outside.
        """
        self._go.write(b"go")
        feed = None
        if self._process.stdin is not None:
            feed = (self._process.stdin, Feed(self._stdin))
        ended = pump(
            self._outputs, capture, ended=self._ended, stdin=feed, deadline=deadline, tick=tick
        )
        self._kill()
        drain(self._outputs, capture)
        status = self._exit_status()
        if ended and status is None:
            raise SandboxError("the sandbox died: bubblewrap was killed from outside")
        return status if ended else None

    def _start(self, stack: ExitStack) -> None:
        unset = ["--unsetenv", RUN_VARIABLE, "--unsetenv", "LC_ALL"]
        options = "\0".join([*unset, *self._options, ""]).encode("utf-8", "replace")
        arguments, program = _file(stack, options), _file(stack, filter_program())
        self._status, told = _pipe(stack)
        wait, self._go = _pipe(stack)
        given = {
            "--args": arguments.fileno(),
            "--seccomp": program.fileno(),
            "--json-status-fd": told.fileno(),
            "--block-fd": wait.fileno(),
        }
        flags = [part for flag, number in given.items() for part in (flag, str(number))]
        self._process = subprocess.Popen(
            [*self._entry, "bwrap", *flags, "--", *self._command],
            stdin=subprocess.DEVNULL if self._stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=list(given.values()),
            env=tool_environment(),
            cwd="/",
            bufsize=0,
        )
        stack.callback(self._end)
        for ours in (arguments, program, told, wait):
            ours.close()
        self._ended = os.pidfd_open(self._process.pid)
        stack.callback(os.close, self._ended)
        self.first = self._child()
        self._first = os.pidfd_open(self.first)
        stack.callback(os.close, self._first)
        stack.callback(self._kill)
        self._outputs = output_pipes(self._process)

    def _child(self) -> int:
        """Wait for the first process; what bubblewrap says instead is the error."""
        said = b""
        ready = True
        while ready and b"}" not in said:
            ready = bool(select.select([self._status], [], [], _START_S)[0])
            chunk = os.read(self._status.fileno(), 4_096) if ready else b""
            ready = bool(chunk)
            said += chunk
        if b"}" not in said:
            self._process.kill()
            errors = self._process.stderr.read() if self._process.stderr else b""
            lines = errors.decode("utf-8", "replace").strip().splitlines() or ["no answer"]
            raise SandboxError(f"the sandbox died: bubblewrap does not start: {lines[-1]}")
        return int(json.loads(said[: said.index(b"}") + 1])["child-pid"])

    def _kill(self) -> None:
        """Kill the first process and wait until the kernel has killed the others."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._first, signal.SIGKILL)
        if not select.select([self._first], [], [], _DEATH_S)[0]:
            raise SandboxError(f"process {self.first} of the sandbox outlived SIGKILL")

    def _exit_status(self) -> int | None:
        """The command's own status, None when bubblewrap did not live to tell it."""
        self._process.wait()
        for line in self._status.read().decode().splitlines():
            if "exit-code" in line:
                return int(json.loads(line)["exit-code"])
        return None

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()


def _pipe(stack: ExitStack) -> tuple[IO[bytes], IO[bytes]]:
    read, write = os.pipe()
    return (
        stack.enter_context(open(read, "rb", buffering=0)),  # noqa: PTH123 - a descriptor
        stack.enter_context(open(write, "wb", buffering=0)),  # noqa: PTH123
    )


def _file(stack: ExitStack, content: bytes) -> IO[bytes]:
    """A nameless file that starts at its beginning."""
    file = open(os.memfd_create("probe"), "w+b", buffering=0)  # noqa: PTH123, SIM115
    stack.enter_context(file)
    file.write(content)
    file.seek(0)
    return file
