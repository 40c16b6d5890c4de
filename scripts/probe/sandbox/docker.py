"""Docker through its SDK: a container for each sandbox, an exec for each command.

The container has no network, a read-only root, memory file systems of fixed size at the work folder
and /tmp, and limits of its control group. Its first process is :mod:`probe.sandbox.keeper`. The
daemon itself removes it when its standard input ends, so that a kill -9 of PROBE leaves none.
"""

import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from probe.errors import SandboxError
from probe.sandbox import images, keeper
from probe.sandbox.base import WORK, Check, Sandbox, SandboxInfo, SandboxSpec
from probe.sandbox.checking import try_out
from probe.sandbox.docker_client import REQUEST_S, connect, told
from probe.sandbox.docker_container import container, find_image
from probe.sandbox.docker_stream import Connection, KeeperStream, drain, follow
from probe.sandbox.run_identity import is_gone
from probe.sandbox.shell import Job, ShellSandbox, check_spec
from probe.sandbox.streams import Capture, Feed, Raw

_KILL_S = 60.0
_GONE_S = 30.0
_REMEDY = "install Docker, start its daemon and get the right to use it: `docker info` must work"


class DockerSandbox(ShellSandbox):
    """A container."""

    def __init__(self, spec: SandboxSpec) -> None:
        """Open it.

        Raises:
            SandboxError: no daemon, no such image, or it cannot be opened; nothing is left.
        """
        self._client = connect()
        self._name = f"probe-{secrets.token_hex(8)}"
        self._keeper: KeeperStream | None = None
        self._data_kb = spec.limits.memory_mb * 1_000_000 // 1_024
        try:
            with told("no container can be started"):
                engine = self._client.version()
                identity, described = find_image(self._client, spec.image)
                info = SandboxInfo("docker", engine["Version"], described, spec.limits)
                super().__init__(info, spec.environment)
                self._start(container(spec, identity, engine))
            self._prepare(spec.files)
        except BaseException:
            self._remove()
            raise

    def _start(self, config: Mapping[str, Any]) -> None:
        api: Any = self._client.api  # the stubs lack a call
        api.create_container_from_config(config, name=self._name)
        streams = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
        self._keeper = KeeperStream(api.attach_socket(self._name, params=streams))
        api.start(self._name)
        self._keeper.expect("ready", REQUEST_S)

    def _execute(self, job: Job) -> Raw:
        started = time.monotonic()
        api, line = self._client.api, self._keeper
        if line is None:
            raise SandboxError("the sandbox was never started")
        capture = Capture(job.output_bytes)
        feed = None if job.stdin is None else Feed(job.stdin)
        with told("the sandbox died"):
            created = api.exec_create(
                self._name,
                ["/bin/bash", "-c", keeper.LIMITED, "run", str(self._data_kb), *job.command],
                stdin=job.stdin is not None,
                environment=dict(job.environment),
                workdir=WORK,
                user=keeper.USER,
            )["Id"]
            running = partial(self._runs, created)
            with Connection(api.exec_start(created, socket=True)) as connection:
                ended = follow(connection, line, capture, feed, started + job.timeout_s, running)
                self._finish(line, connection, capture, running)
            status = self._status(created) if ended else None
        return capture.raw(status, started)

    def _finish(
        self,
        line: KeeperStream,
        connection: Connection,
        capture: Capture,
        running: Callable[[], bool],
    ) -> None:
        """Kill all that is left, also what the daemon was only about to start."""
        deadline = time.monotonic() + _KILL_S
        while time.monotonic() < deadline:
            line.kill_all(_KILL_S)
            if drain(connection, capture, 0.1) and not running():
                return
        raise SandboxError("the sandbox died: a command in it cannot be killed")

    def _runs(self, created: str) -> bool:
        return bool(self._client.api.exec_inspect(created)["Running"])

    def _status(self, created: str) -> int:
        """The exit status of an exec that is over; the daemon may need a moment to know."""
        deadline = time.monotonic() + _KILL_S
        while time.monotonic() < deadline:
            known = self._client.api.exec_inspect(created)
            if not known["Running"] and known["ExitCode"] is not None:
                if not known["Pid"]:
                    raise SandboxError("the sandbox died: Docker could not start a command in it")
                return int(known["ExitCode"])
            time.sleep(0.005)
        raise SandboxError("the sandbox died: Docker does not tell how a command ended")

    def _remove(self) -> None:
        from docker.errors import APIError, NotFound
        from requests.exceptions import RequestException

        api = self._client.api
        if self._keeper is not None:
            self._keeper.close()
        with suppress(RequestException, NotFound):
            deadline = time.monotonic() + _GONE_S
            with suppress(APIError):
                api.remove_container(self._name, force=True, v=True)
            while time.monotonic() < deadline:
                api.inspect_container(self._name)
                time.sleep(0.01)
        self._client.close()


class DockerEngine:
    """Makes Docker sandboxes."""

    name = "docker"

    def check(self) -> Check:
        """Try it for real; an image that has to be made for it is removed again."""
        try:
            client = connect()
        except SandboxError as error:
            return Check(self.name, False, None, str(error), _REMEDY)
        try:
            with told("Docker does not answer"):
                version = client.version()["Version"]
                had_image = bool(client.images.list(name=images.host_image_tag()))
            check = try_out(self.name, version, self.open, "see the reason, or give an image")
            if not had_image:
                with told("the image made for the trial cannot be removed"):
                    client.images.remove(images.host_image_tag())
        except SandboxError as error:
            return Check(self.name, False, None, str(error), _REMEDY)
        finally:
            client.close()
        return check

    def open(self, spec: SandboxSpec) -> Sandbox:
        """See :class:`probe.sandbox.base.Engine`."""
        check_spec(spec)
        return DockerSandbox(spec)


def data_folder() -> Path | None:
    """Where Docker keeps images on this machine; None where it does not answer or is elsewhere."""
    try:
        client = connect()
    except SandboxError:
        return None
    try:
        with told("Docker does not answer"):
            folder = Path(client.info()["DockerRootDir"])
    except SandboxError:
        return None
    finally:
        client.close()
    return folder if folder.exists() else None


def sweep() -> list[str]:
    """Remove containers of ours whose process on this host is gone; the names of those removed.

    Raises:
        SandboxError: Docker does not answer.
    """
    client = connect()
    removed = []
    try:
        with told("Docker does not answer"):
            for container in client.containers.list(
                all=True, filters={"label": f"{images.LABEL}=sandbox"}, ignore_removed=True
            ):
                if is_gone(container.labels.get(f"{images.LABEL}.run", "")):
                    container.remove(force=True, v=True)
                    removed.append(str(container.name))
    finally:
        client.close()
    return removed
