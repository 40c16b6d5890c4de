"""``probe clean`` on a real daemon: only our own, only what nothing names (users_ask.md row 26)."""

import io
import tarfile
from datetime import UTC, datetime

import docker
import pytest

from probe.cli import main
from probe.records import Environment, Provenance, write_json

pytestmark = pytest.mark.docker

OURS = ["LABEL probe=environment"]


@pytest.fixture
def images(docker_daemon):
    """Makes empty images, and takes away what is left of them."""
    client = docker.DockerClient(base_url=docker_daemon)
    made = []

    def make(repository, tag, changes):
        content = io.BytesIO()
        with tarfile.open(fileobj=content, mode="w") as tar:
            tar.addfile(tarfile.TarInfo("empty"))
        client.api.import_image_from_data(content.getvalue(), repository, tag, changes=changes)
        made.append(f"{repository}:{tag}")

    make.tags = lambda: {tag for image in client.images.list() for tag in image.tags}
    yield make
    for tag in made:
        if client.images.list(name=tag):
            client.images.remove(tag, force=True)
    client.close()


def test_only_environments_that_no_result_names_are_removed(images, tmp_path, capsys):
    images("probe-env", "used", OURS)
    images("probe-env", "unused", OURS)
    images("foreign", "1", ["LABEL somebody=else"])
    environment = Environment(
        repo="alpha",
        status="built",
        cutoff=datetime(2025, 1, 1, tzinfo=UTC),
        image="probe-env:used",
        sha256="e",
        provenance=Provenance.of_heuristic("1"),
    )
    (tmp_path / "alpha/snapshot").mkdir(parents=True)
    write_json(tmp_path / "alpha/snapshot/environment.json", environment)
    assert main(["clean", "--results", str(tmp_path), "--dry-run"]) == 0
    assert "would remove image probe-env:unused (0 MB)\n" in capsys.readouterr().out
    assert "probe-env:unused" in images.tags()
    assert main(["clean", "--results", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "removed image probe-env:unused" in said and "probe-env:used" not in said
    assert {"probe-env:used", "foreign:1"} <= images.tags()
    assert "probe-env:unused" not in images.tags()
    assert main(["clean", "--results", str(tmp_path)]) == 0
    assert "no image of an environment is unused" in capsys.readouterr().out
