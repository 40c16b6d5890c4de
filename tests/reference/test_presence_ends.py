"""The agent of stage presence where something goes wrong: limits, deaths, kills, attacks, no money."""

import hashlib
import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from investigations import (
    Case,
    about,
    cite,
    commands,
    drop,
    investigate,
    keep,
    looked,
    run,
)
from modelserver import Fault
from scripted import play

from probe.errors import BudgetError, ModelError, SandboxError
from probe.git.archive import build_archive
from probe.models.client import Client
from probe.reference.presence_box import Checkout
from probe.reference.presence_model import BOX, investigate_presences

SANDBOXES = [
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
    pytest.param("docker", marks=pytest.mark.docker),
]
PRICE = {"input": 1.0, "output": 2.0, "as_of": "2026-12-01"}


@pytest.fixture(params=SANDBOXES)
def engine(request):
    return request.param


@pytest.fixture
def case(tmp_path):
    return Case(tmp_path)


@pytest.fixture
def git_sha256(tmp_path):
    """A mirror in git's newer format, its first commit and its second."""
    work, mirror = tmp_path / "work", tmp_path / "mirror.git"
    environment = {
        "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org",
    }  # fmt: skip

    def git(*arguments):
        done = subprocess.run(
            ["git", *arguments], env=environment, cwd=tmp_path, capture_output=True, check=True
        )
        return done.stdout.decode().strip()

    git("init", "-q", "--object-format=sha256", str(work))
    names = []
    for number in (1, 2):
        (work / "a.py").write_text(f"x = {number}\n")
        git("-C", str(work), "add", "a.py")
        git("-C", str(work), "commit", "-q", "-m", f"{number}")
        names.append(git("-C", str(work), "rev-parse", "HEAD"))
    git("clone", "-q", "--bare", str(work), str(mirror))
    return mirror, *names


def _fingerprint(folder: Path) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        for path in sorted(folder.rglob("*"))
    }


def test_nothing_inside_can_change_the_history_or_reach_out(case, server, engine):
    before = _fingerprint(case.history.path)
    blob = next(path for path in before if "/objects/" in path and len(Path(path).name) == 38)
    inside = f"/history.git/{Path(blob).relative_to(case.history.path)}"
    attempts = run(
        f"git update-ref refs/heads/mine {case.t0}",
        "echo x > /history.git/HEAD",
        "touch /history.git/objects/mine",
        f"chmod u+w {inside}; echo x > {inside}",
        f"rm -rf /history.git/objects; git cat-file -e {case.t0} && exit 9",
        "echo text | git hash-object -w --stdin",
    )
    reach = run(
        f"exec 3<>/dev/tcp/127.0.0.1/{server.port}",
        "git -c protocol.file.allow=always ls-remote https://example.org/x.git",
        "cat /proc/net/route /proc/net/dev | grep -v -e Iface -e lo: -e Inter -e face",
        "git config --list --show-origin | grep -v -e command -e /history.git",
    )
    found = looked(case, server, engine, "total", attempts, reach, keep())
    ended = commands(case, "total")
    assert [line.exit for line in ended[:4] if line.exit == 0] == []
    assert ended[4].exit == 9 and ended[5].exit != 0
    assert [line.exit for line in ended[6:] if line.exit == 0] == []
    assert _fingerprint(case.history.path) == before
    assert found.verdict == "keep"


def test_finished_passes_are_read_from_their_transcripts(case, server, engine):
    play(server, run("ls"), run("date +%N"), drop("absent_capability", cite("ls", "pkg")))
    block = about(case, server.openai, engine)
    first = investigate(case, block, "total", "later", "scale")
    asked = server.count()
    assert asked == 9
    with Client(case.folder / "no cache", 0.0) as client:
        again = investigate_presences(list(case.candidates.values()), block, client)
    assert again == first and server.count() == asked
    assert [one.verdict for one in again] == ["drop"] * 3


@pytest.mark.bubblewrap
def test_a_server_that_is_down_fails_the_job_and_keeps_what_was_bought(case, server):
    block = about(case, server.openai, "bubblewrap", parallel=1)
    play(server, run("ls"), keep())
    server.fail(Fault.latency(0), Fault.latency(0), Fault.latency(0), Fault.status(401))
    with pytest.raises(ModelError, match=r"does not answer: auth: .*run the same command again"):
        investigate(case, block, "total", "later", "scale")
    assert len(server.bought) == 3
    found = investigate(case, block, "total", "later", "scale")
    assert [one.verdict for one in found] == ["keep"] * 3
    assert len(server.bought) == 6, "two calls a candidate, none of them twice"
    server.fail(*[Fault.status(500)] * 12)
    elsewhere = case.folder / "elsewhere"
    silent = about(case, server.openai, "bubblewrap", transcripts=elsewhere, entry={"seed": 2})
    with pytest.raises(ModelError, match="does not answer: server_error"):
        investigate(case, silent, "total", "later")


@pytest.mark.bubblewrap
def test_one_failure_among_answers_is_unjudged(case, server):
    block = about(case, server.openai, "bubblewrap", parallel=1)
    play(server, keep())
    server.fail(Fault.status(500), Fault.status(500))
    first, second = investigate(case, block, "total", "later")
    assert (first.verdict, first.failure.kind, second.verdict) == (None, "server_error", "keep")


@pytest.mark.bubblewrap
def test_the_budget_fails_the_job(case, server):
    entry = {"price": PRICE, "max_output_tokens": 1_000}
    block = about(case, server.openai, "bubblewrap", entry=entry, parallel=1)
    play(server, run("ls"), keep())
    with pytest.raises(BudgetError, match=r"budget\.usd"):
        investigate(case, block, "total", usd=0.0)
    assert server.count() == 0
    (found,) = investigate(case, block, "total", usd=1.0)
    assert found.verdict == "keep" and server.count() == 2


def _children() -> set[int]:
    tasks = Path("/proc/self/task")
    return {int(pid) for task in tasks.iterdir() for pid in (task / "children").read_text().split()}


@pytest.mark.bubblewrap
def test_a_sandbox_that_dies_is_replaced_once(case, server):
    before = _children()

    def kill(seen):
        for pid in _children() - before:
            os.kill(pid, signal.SIGKILL)
        return keep()

    # the first command's sandbox is killed while the model answers; the pass goes on in another
    play(server, run("ls"), lambda seen: kill(seen) and run("ls pkg"), keep())
    (found,) = investigate(case, about(case, server.openai, "bubblewrap"), "total")
    assert found.verdict == "keep"
    assert server.count() == 3


@pytest.mark.bubblewrap
def test_killed_and_run_again_no_call_is_made_twice(case, server):
    # outputs change from run to run, so that only the transcript can save the calls
    changing = [run("date +%N; echo $RANDOM")] * 6
    play(server, *changing, keep())
    server.latency = 0.05
    worker = Path(__file__).with_name("presence_worker.py")
    tests = Path(__file__).parent.parent
    command = [sys.executable, str(worker), str(case.folder), server.openai]
    paths = os.pathsep.join(map(str, [tests, tests / "workflow"]))
    environment = os.environ | {"PYTHONPATH": paths}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        while len(server.bought) < 3 and process.poll() is None:
            pass
        process.kill()
    assert process.returncode == -signal.SIGKILL
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "keep\n"), done.stderr
    bought = Counter(str(body["messages"]) for body in server.bought)
    assert len(bought) == 7
    assert sum(bought.values()) <= 8, "only the call in flight may be bought again"


def test_an_unreadable_mirror_is_one_line_with_the_remedy(case, engine):
    objects = case.history.path / "objects"
    mode = objects.stat().st_mode
    view = case.folder / "view.git"
    with Checkout(
        case.archive, case.history.path, view, case.t0, case.fixes["total"],
        engine=engine, limits=BOX,
    ) as checkout:  # fmt: skip
        objects.chmod(0)
        try:
            with pytest.raises(
                SandboxError, match=r"git cannot read this history .*chmod -R a\+rX"
            ):
                checkout.open()
        finally:
            objects.chmod(mode)
        checkout.open().close()
    assert not view.exists()


@pytest.mark.bubblewrap
def test_a_history_of_sha256_names_is_read_too(tmp_path, git_sha256):
    mirror, t0, fix = git_sha256
    archive = tmp_path / "source.tar"
    build_archive(mirror, t0, archive, repo="case")
    with (
        Checkout(
            archive, mirror, tmp_path / "view.git", t0, fix, engine="bubblewrap", limits=BOX
        ) as checkout,
        closing(checkout.open()) as box,
    ):
        assert box.run(f"git log --format=%H {fix}").stdout.split() == [fix, t0]
        assert box.run(f"git show {t0}:a.py").stdout == "x = 1\n"
