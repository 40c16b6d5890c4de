"""A second mirror of one upstream: what it takes from the first, and that it stands alone."""

import shutil
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest
from builders import HistoryBuilder

from probe.git.borrow import borrow
from probe.git.mirror import fetch_mirror
from probe.git.process import run_git
from probe.paths import neighbour_mirrors


class Recorder(SimpleHTTPRequestHandler):
    """Serves a folder and remembers what was asked for."""

    asked: ClassVar[list[str]] = []

    def log_request(self, code="-", size="-"):
        if str(getattr(code, "value", code)) == "200":
            self.asked.append(self.path)


@pytest.fixture
def upstream(tmp_path):
    """A history behind http, by git's plain file protocol: every object is a request."""
    history = HistoryBuilder(tmp_path / "www/origin.git")
    history.days = [
        history.commit({f"file{day}": "x" * day}, date=f"2024-03-{day:02}T12:00:00")
        for day in (1, 5, 9)
    ]
    history.git("update-server-info")
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Recorder, directory=str(tmp_path / "www"))
    )
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    Recorder.asked.clear()
    history.url = f"http://127.0.0.1:{server.server_port}/origin.git"
    yield history
    server.shutdown()
    server.server_close()
    thread.join()


def fetch(upstream, results, name):
    history = results / name / "history.json"
    return fetch_mirror(
        upstream.url,
        results / name / "history.git",
        t0="2024-03-02",
        t1="2024-03-31",
        repo=name,
        neighbours=neighbour_mirrors(history),
    )


def objects():
    return [path for path in Recorder.asked if "/objects/" in path and "/info/" not in path]


def test_only_what_the_neighbours_lack_comes_over_the_network(upstream, tmp_path):
    results = tmp_path / "results"
    first = fetch(upstream, results, "demo")
    assert len(objects()) == 9, "three commits, trees and files"
    Recorder.asked.clear()
    later = upstream.commit({"late": "y"}, date="2024-03-20T12:00:00")
    upstream.git("update-server-info")
    second = fetch(upstream, results, "demo@2024-03")
    assert len(objects()) == 3, "the new commit, its tree and its file"
    assert (first.t1, second.t1) == (upstream.days[-1], later)
    # it stands alone: no alternates, nothing that leads to the neighbour
    shutil.rmtree(results / "demo")
    mirror = results / "demo@2024-03/history.git"
    assert not (mirror / "objects/info/alternates").exists()
    run_git(mirror, "fsck", "--strict", "--connectivity-only")
    assert run_git(mirror, "rev-list", "--count", second.t1).strip() == b"4"
    assert b"borrowed" not in run_git(mirror, "for-each-ref")


def test_mirrors_of_another_source_lend_nothing(upstream, tmp_path):
    results = tmp_path / "results"
    other = HistoryBuilder(tmp_path / "other.git")
    other.commit({"a": "1"}, date="2024-03-01T12:00:00")
    tip = other.commit({"a": "2"}, date="2024-03-05T12:00:00")
    mirror = results / "demo/history.git"
    fetch_mirror(str(other.path), mirror, t0="2024-03-02", t1="2024-03-31", repo="demo")
    fetch(upstream, results, "demo@2024-03")
    assert len(objects()) == 9
    listed = run_git(results / "demo@2024-03/history.git", "cat-file", "--batch-check",
                     "--batch-all-objects").decode()  # fmt: skip
    assert tip not in listed


def test_a_neighbour_that_cannot_lend_is_passed_over(tmp_path):
    good = HistoryBuilder(tmp_path / "good.git")
    good.commit({"a": "1"})
    mirror = tmp_path / "mirror.git"
    run_git(None, "init", "--quiet", "--bare", str(mirror))
    assert borrow(mirror, "main", [tmp_path / "none.git"]) is None
    assert borrow(mirror, "main", [tmp_path / "none.git", good.path]) == good.path


def test_neighbours_are_variants_of_the_same_line(tmp_path):
    for name in ("a", "a@1", "a@2", "ab", "ab@1", "b", "a-b"):
        mirror = tmp_path / name / "history.git"
        mirror.mkdir(parents=True)
        if name != "a@2":
            (mirror / "HEAD").touch()
    found = [path.parent.name for path in neighbour_mirrors(tmp_path / "a@1/history.json")]
    assert found == ["a"]
    found = [path.parent.name for path in neighbour_mirrors(tmp_path / "a/history.json")]
    assert found == ["a@1"]
