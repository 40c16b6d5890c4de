"""The only place where git is started.

Each call gets an environment of our own, so that a user's aliases, attributes, hooks of the diff
machinery or replace refs cannot change a result. Input and error output go through unnamed
temporary files instead of pipes: however much git reads or complains, nobody waits for anybody.
"""

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from probe.errors import GitError

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

RENAME_LIMIT = 1000
"""git compares contents for renames while additions x deletions stay within this squared."""

_PIPE_BYTES = 1 << 20
_KEPT = ("GIT_ASKPASS", "GIT_EXEC_PATH", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSL_CAINFO")
_FIXED = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
}
_ISOLATED = {
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}
# Newer versions of git read the attributes of a bare repository from its HEAD (attr.tree), which
# would let a branch that moved decide what counts as binary. Blobs above the threshold count as
# binary instead of being diffed in memory. The limit on renames holds for every diff; blame reads no
# such setting and has git's own (1,000; 400 before git 2.34).
_OPTIONS = (
    f"-c attr.tree={EMPTY_TREE}",
    f"-c core.attributesFile={os.devnull}",
    "-c core.quotePath=true",
    "-c core.bigFileThreshold=32m",
    "-c core.fsmonitor=false",
    f"-c diff.renameLimit={RENAME_LIMIT}",
    "-c gc.auto=0",
)


def git_environment(*, user_config: bool = False) -> dict[str, str]:
    """The environment of every git process.

    Args:
        user_config: keep the user's and the system's configuration. Only for reaching a source:
            its proxies, credentials, ``insteadOf`` and ``safe.directory`` live there.
    """
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name in _KEPT
    }
    environment.update(_FIXED)
    if user_config:
        for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"):
            if name in os.environ:
                environment[name] = os.environ[name]
    else:
        environment.update(_ISOLATED)
    return environment


def available_processors() -> int:
    """How many processors this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def git_command(repo: Path | None, *arguments: str) -> list[str]:
    """The command line for ``arguments`` in ``repo`` (a git directory; None for none at all)."""
    options = [word for option in _OPTIONS for word in option.split(" ", 1)]
    place = [] if repo is None else [f"--git-dir={repo}"]
    return ["git", "--no-pager", *place, *options, *arguments]


def run_git(
    repo: Path | None,
    *args: str,
    stdin: bytes | None = None,
    user_config: bool = False,
    index: Path | None = None,
) -> bytes:
    """Run git to its end and return what it printed.

    Args:
        repo: a git directory; None for commands that need none.
        args: the subcommand and its arguments.
        stdin: what it reads; nothing by default.
        user_config: see :func:`git_environment`.
        index: the index file to use.

    Raises:
        GitError: git is not installed or ended with another code than 0.
    """
    try:
        done = subprocess.run(
            git_command(repo, *args),
            input=stdin or b"",
            capture_output=True,
            check=False,
            env=git_environment(user_config=user_config)
            | ({} if index is None else {"GIT_INDEX_FILE": str(index)}),
        )
    except FileNotFoundError as error:
        raise GitError("git: command not found; install git 2.31 or newer") from error
    if done.returncode:
        raise _failure(repo, args, done.returncode, done.stderr)
    return done.stdout


@contextmanager
def stream_git(repo: Path, *args: str, stdin: bytes = b"") -> Iterator[IO[bytes]]:
    """Run git and read what it prints while it runs.

    The body must read to the end; leaving it by an exception (a closed generator too) kills git.

    Raises:
        GitError: git is not installed, or ended with another code than 0; raised after the body.
    """
    with TemporaryFile() as fed, TemporaryFile() as complaints:
        fed.write(stdin)
        fed.seek(0)
        try:
            process = subprocess.Popen(
                git_command(repo, *args),
                stdin=fed,
                stdout=subprocess.PIPE,
                stderr=complaints,
                env=git_environment(),
                bufsize=_PIPE_BYTES,
            )
        except FileNotFoundError as error:
            raise GitError("git: command not found; install git 2.31 or newer") from error
        if process.stdout is None:  # never: stdout is a pipe
            raise GitError("git: no output pipe")
        with process.stdout as stream:
            _widen(stream)
            try:
                yield stream
            except BaseException:
                process.kill()
                process.wait()
                raise
        if process.wait():
            complaints.seek(0)
            raise _failure(repo, args, process.returncode, complaints.read())


def _widen(stream: IO[bytes]) -> None:
    """Let git work further ahead of its reader, where the system allows it."""
    if sys.platform == "linux":
        with suppress(OSError):
            fcntl.fcntl(stream, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def pipe_git(
    maker: tuple[Path, *tuple[str, ...]], taker: tuple[Path, *tuple[str, ...]], *, stdin: bytes
) -> None:
    """Feed what git prints in one repository to git in another.

    Args:
        maker: repository and arguments; may be anybody's repository.
        taker: repository and arguments; its output is dropped.
        stdin: what the maker reads.

    Raises:
        GitError: one of them ended with another code than 0.
    """
    with TemporaryFile() as fed, TemporaryFile() as first, TemporaryFile() as second:
        fed.write(stdin)
        fed.seek(0)
        with (
            subprocess.Popen(
                git_command(*maker),
                stdin=fed,
                stdout=subprocess.PIPE,
                stderr=first,
                env=git_environment(user_config=True),
            ) as making,
            subprocess.Popen(
                git_command(*taker),
                stdin=making.stdout,
                stdout=subprocess.DEVNULL,
                stderr=second,
                env=git_environment(),
            ) as taking,
        ):
            if making.stdout is not None:
                making.stdout.close()  # the taker holds it; the maker must see when that one dies
        for process, complaints, (repo, *args) in (
            (making, first, maker),
            (taking, second, taker),
        ):
            if process.returncode:
                complaints.seek(0)
                raise _failure(Path(repo), tuple(args), process.returncode, complaints.read())


def _failure(repo: Path | None, args: tuple[str, ...], code: int, stderr: bytes) -> GitError:
    lines = stderr.decode("utf-8", errors="replace").replace("\r", "\n").splitlines()
    told = [line.strip() for line in lines if line.strip()]
    # "fatal:" and "error:" say more than the advice that may follow them.
    grave = [line for line in told if line.startswith(("fatal:", "error:"))]
    last = (grave or told or ["it said nothing"])[-1]
    where = "" if repo is None else f" in {repo}"
    return GitError(f"git {args[0]}{where}: exit code {code}: {last}")
