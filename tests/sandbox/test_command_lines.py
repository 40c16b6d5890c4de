"""Command lines of the engines that CI does not have, and parts that need no engine at all."""

import io
import itertools
import json
import os
import socket
import struct
import subprocess
import sys
import tarfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.cli import main
from probe.errors import SandboxError
from probe.sandbox import ENGINES, Limits, Mount, SandboxSpec, apptainer, open_sandbox, podman
from probe.sandbox.docker_stream import Connection, Frames
from probe.sandbox.images import host_image, host_image_tag
from probe.sandbox.run_identity import is_gone, run_id
from probe.sandbox.seccomp import docker_profile, filter_program
from probe.sandbox.streams import STDERR, STDOUT, Capture

SPEC = SandboxSpec(
    image="/images/probe.sif",
    limits=Limits(memory_mb=1_000, processes=50, cpus=1.5, disk_mb=400),
    mounts=[Mount(Path("/opt/agent"), "/opt/agent"), Mount(Path("/out"), "/out", writable=True)],
)


def test_apptainers_command_line():
    assert " ".join(apptainer.exec_command("/usr/bin/apptainer", SPEC)) == (
        "/usr/bin/apptainer --silent exec --userns --containall --cleanenv --no-eval --no-home"
        " --no-privs --net --network none --hostname sandbox --bind /dev/shm/work:/work"
        " --bind /dev/shm/tmp:/tmp --bind /dev/shm/shm:/dev/shm"
        " --bind /dev/shm/mounts/0:/opt/agent:ro --bind /dev/shm/mounts/1:/out:rw"
        " --pwd /work /images/probe.sif"
    )


def test_apptainer_says_that_it_is_untested(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    check = ENGINES["apptainer"]().check()
    assert (check.works, check.version) == (False, None)
    assert "untested" in check.reason
    assert check.remedy


def test_podmans_command_line():
    command = podman.run_command("probe-1", "sha256:abc", SPEC, "/profile")
    options = dict(itertools.pairwise(command))
    wanted = {
        "--network": "none",
        "--pull": "never",
        "--cap-drop": "all",
        "--memory": "1400000000",
        "--memory-swap": "1400000000",
        "--pids-limit": "51",
        "--cpus": "1.5",
        "--user": "0:0",
    }
    assert {name: options[name] for name in wanted} == wanted
    assert {"--rm", "--interactive", "--read-only", "--http-proxy=false"} <= set(command)
    assert "type=bind,src=/opt/agent,dst=/opt/agent,ro=true" in command
    assert "type=bind,src=/out,dst=/out" in command
    assert command[command.index("sha256:abc") + 1] == "/bin/bash"


def test_podman_keeps_values_out_of_its_arguments():
    command, given_by_name = podman.exec_command("box", {"TOKEN": "s3cret", "PATH": "/bin"}, False)
    assert "s3cret" not in " ".join(command)
    assert given_by_name == {"TOKEN": "s3cret"}
    assert "PATH=/bin" in command


@given(st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=30))), st.integers(1, 50))
def test_frames_come_apart_however_the_connection_cuts_them(frames, size):
    raw = b"".join(struct.pack(">BxxxI", stream, len(data)) + data for stream, data in frames)
    decoder, seen = Frames(), {STDOUT: b"", STDERR: b""}
    for start in range(0, len(raw), size):
        for stream, piece in decoder.take(raw[start : start + size]):
            seen[stream] += piece
    for stream, text in seen.items():
        assert text == b"".join(data for number, data in frames if number == stream)


@given(st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=30))), st.integers(0, 200))
def test_a_capture_keeps_the_first_bytes(pieces, limit):
    capture = Capture(limit)
    for stream, data in pieces:
        capture.add(stream, data)
    raw = capture.raw(0, 0.0)
    total = sum(len(data) for _, data in pieces)
    assert len(raw.stdout) + len(raw.stderr) == min(limit, total)
    assert raw.truncated == (total > limit)
    assert b"".join(data for stream, data in pieces if stream == STDOUT).startswith(raw.stdout)


def filtered(machine: str, arch: int, number: int, argument: int) -> int:
    """The kernel's virtual machine, for the few instructions that the program uses."""
    # struct seccomp_data: number, architecture, instruction pointer, arguments
    data = struct.pack("<IIQQ", number, arch, 0, argument)
    program = list(struct.iter_unpack("=HBBI", filter_program(machine)))
    place, register = 0, 0
    while True:
        code, if_true, if_false, value = program[place]
        place += 1
        if code == 0x06:
            return value
        if code == 0x20:
            register = struct.unpack_from("<I", data, value)[0]
            continue
        holds = {0x15: register == value, 0x35: register >= value, 0x45: bool(register & value)}
        place += if_true if holds[code] else if_false


ALLOW, DENY, ABSENT, NO_FAMILY = 0x7FFF0000, 0x50001, 0x50026, 0x50061


@pytest.mark.parametrize(
    ("machine", "arch", "calls"),
    [
        (
            "x86_64",
            0xC000003E,
            {"read": 0, "ptrace": 101, "clone": 56, "clone3": 435, "socket": 41},
        ),
        (
            "aarch64",
            0xC00000B7,
            {"read": 63, "ptrace": 117, "clone": 220, "clone3": 435, "socket": 198},
        ),
    ],
)
def test_the_filter_of_system_calls(machine, arch, calls):
    results = {
        "read": (0, ALLOW),
        "ptrace": (16, DENY),
        "clone3": (0, ABSENT),
    }
    for name, (argument, wanted) in results.items():
        assert filtered(machine, arch, calls[name], argument) == wanted
    for flags, wanted in ((0x11, ALLOW), (0x10000000 | 0x11, DENY), (0x40000000, DENY)):
        assert filtered(machine, arch, calls["clone"], flags) == wanted
    for family, wanted in (
        (1, ALLOW),
        (2, ALLOW),
        (10, ALLOW),
        (16, ALLOW),
        (17, NO_FAMILY),
        (40, NO_FAMILY),
    ):
        assert filtered(machine, arch, calls["socket"], family) == wanted
    assert filtered(machine, 0x40000003, calls["read"], 0) == ABSENT
    assert filtered(machine, arch, 0x40000000 | calls["read"], 0) == ABSENT


def test_no_filter_for_an_unknown_machine():
    with pytest.raises(SandboxError, match="riscv64"):
        filter_program("riscv64")


def test_dockers_profile_is_of_its_machine():
    profile = json.loads(docker_profile("amd64"))
    assert profile["architectures"] == ["SCMP_ARCH_X86_64"]
    assert "architectures" not in json.loads(docker_profile("s390x"))


def test_the_hosts_image_is_the_same_each_time():
    first = host_image()
    assert first == host_image()
    assert host_image_tag().startswith("probe-host:")
    with tarfile.open(fileobj=io.BytesIO(first)) as archive:
        names = set(archive.getnames())
        owners = {(member.uid, member.gid, member.mtime) for member in archive}
    assert owners == {(0, 0, 0)}
    assert {"usr/bin/bash", "work", "tmp", "etc/passwd"} <= names
    for secret in ("etc/shadow", "root", "home", "etc/ssl/private", "etc/gitconfig"):
        assert not any(name == secret or name.startswith(f"{secret}/") for name in names)


def test_a_process_is_known_by_host_number_and_start():
    assert not is_gone(run_id())
    host, pid, started = run_id().rsplit("/", 2)
    assert pid == str(os.getpid())
    assert is_gone(f"{host}/{pid}/{int(started) - 1}")
    assert is_gone(f"{host}/999999999/1")
    assert not is_gone("another-host/999999999/1")
    assert not is_gone("")


def test_nothing_is_imported_for_engines_that_are_not_used():
    code = "import sys, probe.sandbox; print(sorted({'docker', 'requests', 'litellm'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).stdout == b"[]\n"


def test_where_nothing_works_there_is_an_error_never_a_bare_host(monkeypatch, capsys):
    monkeypatch.setenv("DOCKER_HOST", "unix:///no/such/docker.sock")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("probe.sandbox.bubblewrap.TOOLS_PATH", "/nowhere")
    with pytest.raises(SandboxError, match="no sandbox engine works here"):
        open_sandbox(SandboxSpec())
    assert main(["doctor"]) == 1
    said = capsys.readouterr()
    assert "no sandbox works here" in said.err
    lines = said.out.splitlines()
    for engine, state in {"docker": "missing", "bubblewrap": "missing", "git": "missing"}.items():
        place = next(number for number, line in enumerate(lines) if line.split()[:1] == [engine])
        assert state in lines[place]
        assert "remedy: " in lines[place + 1]


@pytest.mark.bubblewrap
def test_doctor(capsys, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "unix:///no/such/docker.sock")
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert [line for line in said.splitlines() if not line.startswith(" ")] == [
        "sandboxes",
        "programs",
        "disk",
    ]
    assert "  bubblewrap  works    " in said
    assert "Docker does not answer at unix:///no/such/docker.sock" in said
    assert "GB free" in said


@pytest.mark.docker
def test_doctor_leaves_no_image_behind(capsys):
    import docker

    client = docker.from_env()
    try:
        for made in ("environment", "image"):  # an image cannot go before those built on it
            for image in client.images.list(filters={"label": f"probe={made}"}):
                client.images.remove(image.id, force=True)
        assert main(["doctor"]) == 0
        assert "  docker      works    " in capsys.readouterr().out
        assert client.images.list(filters={"label": "probe=image"}) == []
    finally:
        client.close()


def test_output_that_came_with_the_answers_header_is_not_lost():
    """A busy machine hands over header and first output in one piece; the SDK's reader keeps both."""
    daemon, ours = socket.socketpair()
    frame = bytes([1, 0, 0, 0, 0, 0, 0, 3]) + b"out"
    with daemon, ours:
        daemon.sendall(b"HTTP/1.1 101 UPGRADED\r\n\r\n" + frame)
        raw = socket.SocketIO(ours, "rb")
        reader = io.BufferedReader(raw)
        assert reader.readline() + reader.readline() == b"HTTP/1.1 101 UPGRADED\r\n\r\n"
        raw._response = SimpleNamespace(raw=SimpleNamespace(_fp=SimpleNamespace(fp=reader)))
        with Connection(raw) as connection:
            assert connection.has_early
            assert connection.receive() == [(STDOUT, b"out")]
            assert not connection.has_early
            assert connection.receive() == []
            daemon.sendall(frame)
            assert connection.receive() == [(STDOUT, b"out")]
