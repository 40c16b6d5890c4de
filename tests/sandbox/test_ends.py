"""How sandboxes end, wanted or not: errors where they died, and nothing left behind."""

import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import docker
import pytest
from sandbox.conftest import SMALL

from probe.errors import SandboxError
from probe.sandbox import Limits, Mount, SandboxSpec, open_sandbox
from probe.sandbox.docker import sweep

TINY = Limits(memory_mb=64, processes=24, cpus=1, disk_mb=8, output_kb=10)


def kill_from_outside(box) -> None:
    """What an operator, or the kernel, might do to it."""
    if box.info.engine == "docker":
        client = docker.from_env()
        client.api.kill(box._name)
        client.close()
    elif box.info.engine == "podman":
        subprocess.run(["podman", "kill", box._name], check=True, capture_output=True)
    else:
        os.kill(box._holder._process.pid, signal.SIGKILL)


def leftovers(engine: str, pid: int) -> dict[str, object]:
    """All that the sandboxes of a process may leave on this machine, and of ours descriptors."""
    owner = f"{os.uname().nodename}/{pid}/"
    found: dict[str, object] = {
        "processes": [
            path.parent.name
            for path in Path("/proc").glob("[0-9]*/environ")
            if f"PROBE_RUN={owner}" in _text(path)
        ],
        "mounts": [
            line for line in _text(Path("/proc/self/mounts")).splitlines() if " probe" in line
        ],
        "temporary files": [path.name for path in Path(tempfile.gettempdir()).iterdir()],
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "children": sorted(_text(Path("/proc/thread-self/children")).split()),
    }
    if engine == "docker":
        found |= _docker_leftovers(owner)
    return found


def _docker_leftovers(owner: str) -> dict[str, object]:
    """By listings alone: to inspect one by one fails on what goes away in between."""
    client = docker.from_env()
    folder = Path(os.environ.get("DOCKER_HOST", "").removeprefix("unix://")).parent
    private = folder.name if folder.name.startswith("probe-dockerd.") else "no private daemon"
    found: dict[str, object] = {
        "containers": [
            container["Id"]
            for container in client.api.containers(all=True)
            if container["Labels"].get("probe.run", "").startswith(owner)
        ],
        "volumes": [volume["Name"] for volume in client.api.volumes()["Volumes"] or []],
        "images": len(client.api.images(filters={"label": "probe"})),
        "groups": [
            str(path) for path in Path("/sys/fs/cgroup").glob(f"*/{private}/*/cgroup.procs")
        ],
        "daemon's mounts": _text(Path("/proc/self/mounts")).count(private),
        "shims": [
            path.parent.name
            for path in Path("/proc").glob("[0-9]*/cmdline")
            if "containerd-shim" in _text(path) and private in _text(path)
        ],
        "layers": len(list((folder / "data/overlay2").glob("*"))),
    }
    client.close()
    return found


@pytest.fixture(autouse=True)
def temporary_folder(tmp_path, monkeypatch):
    """Whatever is left in the folder for temporary files is ours."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))


@pytest.fixture
def number() -> str:
    """Seconds for a sleep that no one else has."""
    return str(10**8 + secrets.randbelow(10**8))


def running(number: str) -> list[str]:
    """Processes of the host with it in their command line."""
    return [
        path.parent.name for path in Path("/proc").glob("[0-9]*/cmdline") if number in _text(path)
    ]


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def settled(engine: str, pid: int, before: dict[str, object]) -> dict[str, object]:
    """What is left once the kernel and the daemon had time to clean up."""
    for _ in range(100):
        after = leftovers(engine, pid)
        if after == before:
            break
        time.sleep(0.1)
    return after


def test_a_dead_sandbox_is_an_error_and_stays_dead(make):
    box = make()
    kill_from_outside(box)
    for use in (lambda: box.run("true"), lambda: box.read("a"), lambda: box.write("a", b"")):
        with pytest.raises(SandboxError):
            use()
    assert not box.alive()


def test_a_sandbox_that_dies_during_a_command_is_an_error(make):
    box = make()
    timer = threading.Timer(0.5, kill_from_outside, [box])
    timer.start()
    with pytest.raises(SandboxError, match=r"died|gone"):
        box.run("sleep 3; echo finished", 30)
        box.run("true")
    timer.join()
    with pytest.raises(SandboxError):
        box.run("true")


@pytest.mark.bubblewrap
def test_a_killed_bubblewrap_is_an_error():
    with open_sandbox(SandboxSpec(limits=SMALL), "bubblewrap") as box:

        def kill() -> None:
            for _ in range(200):
                pids = _text(Path(f"/proc/{os.getpid()}/task/{thread}/children")).split()
                for pid in pids:
                    if "bwrap" in _text(Path(f"/proc/{pid}/cmdline")):
                        os.kill(int(pid), signal.SIGKILL)
                        return
                time.sleep(0.02)

        thread = threading.get_native_id()
        killer = threading.Timer(0.3, kill)
        killer.start()
        with pytest.raises(SandboxError, match="killed from outside"):
            box.run("sleep 30", 60)
        killer.join()


@pytest.mark.parametrize("busy", [False, True])
def test_a_killed_probe_leaves_nothing(engine, busy, number):
    open_sandbox(SandboxSpec(limits=TINY), engine).close()
    before = leftovers(engine, 0)
    code = f"""
from probe.sandbox import SandboxSpec, open_sandbox
box = open_sandbox(SandboxSpec(), {engine!r})
print("open", flush=True)
box.run("sleep {number} & setsid sleep {number}" if {busy} else "true", 600)
import time; time.sleep(600)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"open\n"
    time.sleep(0.5)
    process.kill()
    process.wait()
    process.stdout.close()
    assert settled(engine, process.pid, before) == before
    for _ in range(100):
        if not running(number):
            break
        time.sleep(0.1)
    assert running(number) == []


def test_a_failed_opening_leaves_nothing(engine, archive):
    open_sandbox(SandboxSpec(limits=TINY), engine).close()
    before = leftovers(engine, os.getpid())
    big = archive(big="x" * 20_000_000)
    for spec in (
        SandboxSpec(limits=TINY, files=big),
        SandboxSpec(limits=TINY, image="no-such-image"),
        SandboxSpec(limits=TINY, mounts=[Mount(Path("/usr"), "/proc/1/x")]),
    ):
        with pytest.raises(SandboxError):
            open_sandbox(spec, engine).close()
    assert settled(engine, os.getpid(), before) == before


def test_two_hundred_sandboxes_leave_nothing(engine, number):
    open_sandbox(SandboxSpec(limits=TINY), engine).close()
    before = leftovers(engine, os.getpid())

    def live(turn: int) -> str:
        with open_sandbox(SandboxSpec(limits=TINY), engine) as box:
            if turn % 5 == 1:
                kill_from_outside(box)
                return "killed"
            if turn % 5 == 2:
                assert box.run(f"setsid sleep {number} & sleep {number}", 0.2).timed_out
                return "timed out"
            box.write("a", b"x")
            return box.run(f"sleep {number} & cat a").stdout

    with ThreadPoolExecutor(10) as pool:
        ends = list(pool.map(live, range(200)))
    assert {end: ends.count(end) for end in set(ends)} == {"killed": 40, "timed out": 40, "x": 120}
    assert settled(engine, os.getpid(), before) == before
    assert running(number) == []


@pytest.mark.docker
def test_sweep_removes_what_a_gone_process_of_this_host_made():
    open_sandbox(SandboxSpec(limits=TINY), "docker").close()
    client = docker.from_env()
    try:
        image = client.images.list(filters={"label": "probe=image"})[0].id
        host = os.uname().nodename
        labels = {
            "gone": {"probe": "sandbox", "probe.run": f"{host}/999999999/1"},
            "elsewhere": {"probe": "sandbox", "probe.run": "other-host/999999999/1"},
            "foreign": {"app": "theirs"},
        }
        made = {
            name: client.containers.create(image, ["true"], network_mode="none", labels=given)
            for name, given in labels.items()
        }
        with open_sandbox(SandboxSpec(limits=TINY), "docker") as box:
            assert sweep() == [made["gone"].name]
            assert box.alive()
        left = {container["Id"] for container in client.api.containers(all=True)}
        assert left == {made["elsewhere"].id, made["foreign"].id}
        for name in ("elsewhere", "foreign"):
            made[name].remove()
    finally:
        client.close()
