"""Images that are built for snapshots, and folders that take their place where there are none.

Docker and Podman build from a Dockerfile without a network, and keep the image under a tag. What other
engines run lies in a folder that a sandbox filled.
"""

import os
import shutil
import subprocess
import tarfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

from probe.errors import SandboxError
from probe.sandbox import images
from probe.sandbox.docker_client import connect, told
from probe.sandbox.docker_container import find_image
from probe.sandbox.holder import UNPRIVILEGED
from probe.sandbox.podman import find_podman_image, podman, podman_environment

STAGE_LABEL = "build-stage"
"""Label of stages that are no use once the image is built."""
_REPORT_BYTES = 200_000


class BuildError(SandboxError):
    """A step of the build failed; :attr:`report` is what was printed."""

    def __init__(self, message: str, report: str) -> None:
        super().__init__(message)
        self.report = report


@dataclass(frozen=True)
class ImageBuild:
    """What an image is built from."""

    tag: str
    """Its name and tag."""
    dockerfile: str
    """Text; its base is the argument ``BASE``."""
    context: Mapping[str, Path]
    """Files that it may copy, by their path in the context."""
    base: str | None
    """Reference of the base image; None for the one made of the host's programs."""
    labels: Mapping[str, str]
    """Labels of the image."""
    memory_mb: int
    """Memory of its steps, in MB of 10^6 bytes."""
    timeout_s: float
    """Seconds of the whole build."""


def has_images(engine: str) -> bool:
    """Whether an engine starts from images; others start from a folder."""
    return engine in {"docker", "podman"}


def has_image(engine: str, tag: str) -> bool:
    """Whether an image of this tag is there.

    Raises:
        SandboxError: the engine does not answer.
    """
    if engine == "podman":
        return podman("image", "exists", f"localhost/{tag}").returncode == 0
    client = connect()
    try:
        with told("Docker does not answer"):
            return bool(client.images.list(name=tag))
    finally:
        client.close()


def environment_images() -> dict[str, int]:
    """Docker's images of snapshot environments, whoever's they are: size in bytes by tag, sorted.

    Raises:
        SandboxError: Docker does not answer.
    """
    client = connect()
    try:
        with told("Docker does not answer"):
            found = client.images.list(filters={"label": f"{images.LABEL}=environment"})
            return {
                tag: int(one.attrs["Size"]) for one in sorted(found, key=str) for tag in one.tags
            }
    finally:
        client.close()


def remove_image(engine: str, tag: str) -> None:
    """Remove an image, where it is.

    Raises:
        SandboxError: the engine does not answer.
    """
    if engine == "podman":
        podman("rmi", "--force", f"localhost/{tag}")
        return
    client = connect()
    try:
        with told(f"{tag}: cannot be removed"):
            if client.images.list(name=tag):
                client.images.remove(tag, force=True)
    finally:
        client.close()


def build_image(engine: str, build: ImageBuild) -> str:
    """Build an image without a network and return what was printed.

    Raises:
        BuildError: a step failed, or it took too long.
        SandboxError: the engine does not answer, or the base image is missing.
    """
    return _with_podman(build) if engine == "podman" else _with_docker(build)


def _with_docker(build: ImageBuild) -> str:
    client = connect()
    try:
        with told(f"{build.tag}: cannot be built"):
            find_image(client, build.base)
        base = build.base or images.host_image_tag()
        with TemporaryFile() as stream:
            _write_context(stream, build)
            stream.seek(0)
            with told(f"{build.tag}: cannot be built"):
                lines = client.api.build(
                    fileobj=stream,
                    custom_context=True,
                    tag=build.tag,
                    buildargs={"BASE": base},
                    labels=dict(build.labels),
                    network_mode="none",
                    rm=True,
                    forcerm=True,
                    decode=True,
                    timeout=int(build.timeout_s),
                    container_limits={"memory": build.memory_mb * 1_000_000},
                )
                return _follow(lines, build)
    finally:
        _remove_stages(client)
        client.close()


def _follow(lines: Iterator[Mapping[str, Any]], build: ImageBuild) -> str:
    deadline = time.monotonic() + build.timeout_s
    report = ""
    for line in lines:
        report = (report + str(line.get("stream", "")))[-_REPORT_BYTES:]
        if "error" in line:
            why = " ".join(str(line["error"]).split())
            raise BuildError(f"{build.tag}: cannot be built: {why[:300]}", report)
        if time.monotonic() > deadline:
            raise BuildError(f"{build.tag}: not built within {build.timeout_s:.0f} s", report)
    return report


def _write_context(stream: Any, build: ImageBuild) -> None:
    with tarfile.open(fileobj=stream, mode="w") as tar:
        content = build.dockerfile.encode()
        member = tarfile.TarInfo("Dockerfile")
        member.size = len(content)
        with TemporaryFile() as text:
            text.write(content)
            text.seek(0)
            tar.addfile(member, text)
        for name, path in sorted(build.context.items()):
            found = tar.gettarinfo(path, name)
            found.uid = found.gid = 0
            found.mode = 0o644
            with path.open("rb") as source:
                tar.addfile(found, source)


def _remove_stages(client: Any) -> None:
    """Remove what earlier stages left: they hold copies of all artifacts."""
    filters = {"label": f"{images.LABEL}={STAGE_LABEL}", "dangling": True}
    with told("a build's stages cannot be removed"):
        for image in client.images.list(filters=filters):
            client.images.remove(image.id, force=True)


def _with_podman(build: ImageBuild) -> str:
    find_podman_image(build.base)
    base = build.base or f"localhost/{images.host_image_tag()}"
    with TemporaryDirectory(prefix="probe-build-") as name:
        folder = Path(name)
        (folder / "Dockerfile").write_text(build.dockerfile, encoding="utf-8")
        for inside, path in build.context.items():
            place = folder / inside
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
        command = [
            "podman",
            "build",
            "--network",
            "none",
            "--pull=never",
            "--layers=false",
            "--force-rm",
        ]
        command += ["--build-arg", f"BASE={base}", "--tag", f"localhost/{build.tag}"]
        command += ["--memory", f"{build.memory_mb * 1_000_000}b"]
        command += [part for pair in build.labels.items() for part in ("--label", "=".join(pair))]
        try:
            said = subprocess.run(
                [*command, str(folder)],
                capture_output=True,
                text=True,
                env=podman_environment(),
                timeout=build.timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise BuildError(f"{build.tag}: not built within {build.timeout_s:.0f} s", "") from None
    filters = [f"label={images.LABEL}={STAGE_LABEL}", "dangling=true"]
    listed = podman("images", "--quiet", *(f"--filter={one}" for one in filters)).stdout.decode()
    for image in listed.split():
        podman("rmi", "--force", image)
    report = (said.stdout + said.stderr)[-_REPORT_BYTES:]
    if said.returncode:
        last = (said.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise BuildError(f"{build.tag}: cannot be built: {last[:300]}", report)
    return report


@contextmanager
def filling(folder: Path) -> Iterator[Path]:
    """A folder beside ``folder`` that a sandbox may write to, and that becomes ``folder`` at the end.

    Raises:
        SandboxError: it cannot be made.
    """
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        part.mkdir(parents=True)
        part.chmod(0o755)
        if os.geteuid() == 0:
            os.chown(part, UNPRIVILEGED, UNPRIVILEGED)
    except OSError as error:
        raise SandboxError(f"{part}: cannot make a folder: {error.strerror}") from error
    try:
        yield part
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
