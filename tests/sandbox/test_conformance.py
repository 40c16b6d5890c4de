"""What every engine must do, on the real engines."""

import os
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from sandbox.conftest import SMALL

from probe.errors import SandboxError
from probe.sandbox import ENGINES, WORK, Limits, Mount, SandboxSpec, check_engines, open_sandbox


def test_engine_checks_itself(engine):
    check = ENGINES[engine]().check()
    assert check.works, check
    assert check.version
    assert check.remedy == ""
    assert (engine, True) in [(other.engine, other.works) for other in check_engines()]


def test_says_what_it_is(box, engine):
    assert box.info.engine == engine
    assert box.info.limits == SMALL
    assert box.info.version[0].isdigit()
    assert any(machine in box.info.image for machine in ("amd64", "arm64", os.uname().machine))


def test_runs_text_with_bash_in_the_work_folder(box):
    output = box.run("pwd; a=(1 2); echo ${#a[@]}; echo problem >&2; exit 3")
    assert (output.exit, output.stdout, output.stderr) == (3, f"{WORK}\n2\n", "problem\n")
    assert not output.truncated
    assert not output.timed_out
    assert 0 < output.wall_s < 60


def test_runs_a_list_without_a_shell(box):
    output = box.run(["printf", "%s|", "$HOME", "a b", "*", ""])
    assert output.stdout == "$HOME|a b|*||"


@pytest.mark.parametrize("command", [["/no/such/program"], "no-such-program"])
def test_a_missing_program_is_an_output(box, command):
    output = box.run(command)
    assert output.exit == 127
    assert "no" in output.stderr


@pytest.mark.parametrize(
    "command", ["echo a\0b", ["printf", "a\0b"], [], [""], ["echo", "x" * 200_000]]
)
def test_a_command_that_cannot_be_executed_is_an_output(box, command):
    output = box.run(command)
    assert output.exit == 126
    assert output.stderr
    assert box.alive()


def test_a_very_long_script_runs(box):
    script = "x='" + "é" * 150_000 + "'\necho ${#x}"
    assert box.run(script).stdout == "150000\n"


def test_text_that_is_no_unicode_does_not_break_anything(box):
    assert box.run("printf 'a\\xff\\xfeb'").stdout == "a\ufffd\ufffdb"
    assert box.run("echo '\udc80'").exit == 0


@pytest.mark.parametrize(("signal", "status"), [("KILL", 137), ("TERM", 143), ("SEGV", 139)])
def test_a_command_that_is_killed_is_an_output(box, signal, status):
    assert box.run(f"kill -{signal} $$").exit == status


def test_standard_input_is_empty(box):
    assert box.run("cat; echo end").stdout == "end\n"


def test_state_lasts_between_commands(make):
    box = make()
    box.run("mkdir -p a/b; echo one >a/b/c; echo two >/tmp/d; ln -s a/b/c link")
    assert box.run("cat link /tmp/d").stdout == "one\ntwo\n"


def test_every_shell_is_new(make):
    box = make()
    box.run("cd /; export X=1; umask 777")
    assert box.run("pwd; echo ${X-unset}; umask").stdout == f"{WORK}\nunset\n0022\n"


def test_sandboxes_do_not_see_each_other(make):
    one, two = make(), make()
    one.run("echo secret >mine; echo secret >/tmp/mine")
    assert two.run("cat mine /tmp/mine").exit == 1


def test_unpacks_the_archive(make, archive):
    box = make(files=archive(**{"src/a.py": "print(1)\n", "name with space": "x", "-dash": "y"}))
    assert box.run("find . -type f | sort; cat src/a.py").stdout.split("\n") == [
        "./-dash",
        "./name with space",
        "./src/a.py",
        "print(1)",
        "",
    ]
    assert box.run("echo 2 >>src/a.py && touch src/new").exit == 0


def test_an_archive_that_does_not_fit_is_an_error(make, tmp_path, archive):
    with pytest.raises(SandboxError, match="cannot be unpacked"):
        make(files=archive(big="x" * 60_000_000))


def test_the_environment_is_fixed_and_the_callers(make, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-host-secret")
    box = make(environment={"GREETING": "two\nlines = $x", "PATH": "/usr/bin:/bin"})
    shown = box.run(["env", "-0"]).stdout.split("\0")
    values = dict(pair.split("=", 1) for pair in shown if pair)
    for added_by_shell_or_engine in ("PWD", "SHLVL", "_", "HOSTNAME", "OLDPWD", "container"):
        values.pop(added_by_shell_or_engine, None)
    assert values == {
        "GREETING": "two\nlines = $x",
        "PATH": "/usr/bin:/bin",
        "HOME": "/tmp/home",
        "USER": "probe",
        "LOGNAME": "probe",
        "LANG": "C.UTF-8",
        "TMPDIR": "/tmp",
        "TZ": "UTC",
        "TERM": "dumb",
    }
    assert box.run('test -w "$HOME" && echo yes').stdout == "yes\n"


def test_runs_unprivileged_under_a_name(box):
    assert box.run("id -u; id -un; id -G").stdout == "1000\nprobe\n1000\n"


def test_the_tools_that_agents_need_are_there(box):
    tools = "bash git python3 grep sed awk find xargs diff patch tar sort head tail cat ps"
    assert box.run(f"command -v {tools} | wc -l").stdout == f"{len(tools.split())}\n"
    assert box.run("python3 -c 'import json, sqlite3, ctypes, ssl, zlib; print(1)'").stdout == "1\n"
    assert box.run("git init -q /tmp/r && git -C /tmp/r status --short; rm -r /tmp/r").exit == 0


def test_the_loopback_works_inside_one_command(box):
    code = """
import socket, threading
server = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=lambda: server.accept()[0].sendall(b"hi")).start()
print(socket.create_connection(server.getsockname()).recv(2))
"""
    assert box.run(["python3", "-c", code]).stdout == "b'hi'\n"


def test_localhost_has_an_address(box):
    """Test suites of projects start servers under this name."""
    said = box.run("python3 -c 'import socket; print(socket.gethostbyname(\"localhost\"))'")
    assert said.stdout == "127.0.0.1\n", said.stderr
    assert box.run("grep -v '^nameserver 127' /etc/resolv.conf").stdout == ""


def test_time_out_is_told_apart(box):
    output = box.run("echo before; sleep 60", timeout_s=1)
    assert (output.exit, output.timed_out, output.stdout) == (None, True, "before\n")
    assert box.run("echo after").stdout == "after\n"


def test_what_a_command_leaves_running_does_not_hold_it_up(box):
    assert box.run("sleep 50 & echo done").wall_s < 40


def test_a_command_that_closes_its_output_is_waited_for(box):
    assert box.run("exec >&- 2>&-; sleep 0.5; exit 3").exit == 3
    assert box.run("exec >&- 2>&-; sleep 60", timeout_s=1).timed_out


def test_no_time_at_all(box):
    for timeout in (0.0, 0.001, 0.02, 0.05, 0.1):
        assert box.run("sleep 30", timeout_s=timeout).timed_out
    assert box.run("echo on").stdout == "on\n"


def test_output_is_cut_and_both_streams_count(box):
    output = box.run(
        "head -c 80000 /dev/zero | tr '\\0' a; head -c 80000 /dev/zero | tr '\\0' b >&2"
    )
    assert output.exit == 0
    assert output.truncated
    assert len(output.stdout) + len(output.stderr) == 100_000
    exact = box.run("head -c 100000 /dev/zero | tr '\\0' a")
    assert (len(exact.stdout), exact.truncated) == (100_000, False)


def test_write_and_read(make):
    box = make()
    content = bytes(range(256)) * 1_000
    box.write("new/folder/file.bin", content)
    box.write("/tmp/other", b"")
    box.write("-n", b"dash")
    assert box.read("new/folder/file.bin") == content
    assert box.read(f"{WORK}/new/folder/file.bin", max_bytes=3) == b"\0\1\2"
    assert box.read("/tmp/other") == b""
    assert box.read("-n") == b"dash"
    box.write("new/folder/file.bin", b"short")
    assert box.read("new/folder/file.bin") == b"short"
    assert box.run("stat -c %a new/folder/file.bin").stdout == "644\n"


def test_read_follows_links_inside(make):
    box = make()
    box.run("echo x >a; ln -s a b; ln -s /tmp/c d; echo y >/tmp/c")
    assert box.read("b") == b"x\n"
    assert box.read("d") == b"y\n"


@pytest.mark.parametrize(
    "path", ["missing", ".", "..", "../etc/passwd", "/etc/passwd", "a\0b", "/tmp"]
)
def test_read_of_what_is_no_file_inside(box, path):
    with pytest.raises(FileNotFoundError):
        box.read(path)
    assert box.alive()


def test_a_file_that_may_not_be_read(make):
    box = make()
    box.run("echo x >closed; chmod 000 closed")
    with pytest.raises(FileNotFoundError, match="Permission denied"):
        box.read("closed")


@pytest.mark.parametrize("path", ["..", "../x", "/etc/x", "/usr/x", "a\0b", "/tmp"])
def test_write_to_a_place_that_is_none(box, path):
    with pytest.raises(SandboxError):
        box.write(path, b"")
    assert box.alive()


def test_a_full_disk_is_told_and_can_be_emptied(make):
    box = make()
    assert box.run("head -c 100000000 /dev/zero >full").exit != 0
    with pytest.raises(SandboxError, match="No space left"):
        box.write("more", b"x" * 1_000_000)
    assert box.run("rm full").exit == 0
    box.write("more", b"x" * 1_000_000)


def test_mounts(make, open_folder):
    (open_folder / "readme").write_text("hello")
    (open_folder / "out").mkdir()
    (open_folder / "out").chmod(0o777)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(open_folder / "s"))
        (open_folder / "s").chmod(0o666)
        server.listen()
        box = make(
            mounts=[
                Mount(open_folder, "/opt/agent"),
                Mount(open_folder / "out", "/out", writable=True),
                Mount(open_folder / "s", "/run/gateway.sock"),
            ]
        )
        assert box.run("cat /opt/agent/readme; echo x >/opt/agent/new").stdout == "hello"
        assert not (open_folder / "new").exists()
        assert box.run("echo result >/out/file").exit == 0
        assert (open_folder / "out/file").read_text() == "result\n"
        code = "import socket; s = socket.socket(socket.AF_UNIX); s.connect('/run/gateway.sock'); s.send(b'hi')"
        assert box.run(["python3", "-c", code]).exit == 0
        connection, _ = server.accept()
        with connection:
            assert connection.recv(2) == b"hi"


def test_a_mount_of_a_closed_folder(make, tmp_path):
    (tmp_path / "closed").mkdir(mode=0o700)
    (tmp_path / "closed/inner").mkdir(mode=0o755)
    (tmp_path / "closed/inner/file").write_text("x")
    box = make(mounts=[Mount(tmp_path / "closed/inner", "/data")])
    assert box.run("cat /data/file").stdout == "x"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mounts": [Mount(Path("relative"), "/x")]}, "absolute path that exists"),
        ({"mounts": [Mount(Path("/no/such"), "/x")]}, "absolute path that exists"),
        ({"mounts": [Mount(Path("/usr"), "x")]}, "absolute path inside"),
        ({"mounts": [Mount(Path("/usr"), "/x/../y")]}, "absolute path inside"),
        ({"files": Path("/no/such.tar")}, "not a readable tar"),
        ({"files": Path("/etc/passwd")}, "not a readable tar"),
        ({"environment": {"A=B": "x"}}, "environment variable"),
        ({"environment": {"A": "\0"}}, "environment variable"),
        ({"limits": Limits(memory_mb=0)}, "memory_mb"),
        ({"image": "no-such-image-or-folder"}, "no-such-image-or-folder"),
    ],
)
def test_a_spec_that_cannot_be_had_is_an_error(make, change, message):
    with pytest.raises(SandboxError, match=message):
        make(**change)


def test_after_close_everything_is_an_error(make):
    box = make()
    box.close()
    box.close()
    assert not box.alive()
    for use in (lambda: box.run("true"), lambda: box.write("a", b""), lambda: box.read("a")):
        with pytest.raises(SandboxError, match="closed"):
            use()


def test_threads_take_turns(box):
    with ThreadPoolExecutor(8) as pool:
        outputs = list(pool.map(lambda number: box.run(f"echo {number}"), range(16)))
    assert [output.stdout for output in outputs] == [f"{number}\n" for number in range(16)]


def test_many_at_once(engine):
    def one(number: int) -> str:
        with open_sandbox(SandboxSpec(limits=SMALL), engine) as box:
            box.write("n", str(number).encode())
            return box.run("cat n").stdout

    with ThreadPoolExecutor(12) as pool:
        assert list(pool.map(one, range(12))) == [str(number) for number in range(12)]


def test_a_sandbox_outlives_the_thread_that_opened_it(make):
    opened = []
    thread = threading.Thread(target=lambda: opened.append(make()))
    thread.start()
    thread.join()
    time.sleep(0.1)
    assert opened[0].run("echo here").stdout == "here\n"


def test_the_processors_are_limited(make):
    box = make(limits=replace(SMALL, cpus=1))
    code = """
import multiprocessing, resource, time
def burn():
    end = time.monotonic() + 2
    while time.monotonic() < end: pass
started = time.monotonic()
workers = [multiprocessing.Process(target=burn) for _ in range(4)]
[worker.start() for worker in workers]
[worker.join() for worker in workers]
use = resource.getrusage(resource.RUSAGE_CHILDREN)
print((use.ru_utime + use.ru_stime) / (time.monotonic() - started))
"""
    assert float(box.run(["python3", "-c", code]).stdout) < 1.2


def test_auto_takes_one_that_works(engine):
    with open_sandbox(SandboxSpec(limits=SMALL)) as box:
        assert box.info.engine in ENGINES


def test_unknown_engine(engine):
    with pytest.raises(SandboxError, match=r"'gvisor' unknown; known: docker, bubblewrap"):
        open_sandbox(SandboxSpec(), "gvisor")


@pytest.mark.bubblewrap
@pytest.mark.skipif(os.geteuid() != 0, reason="the suite runs as an ordinary user already")
def test_bubblewrap_works_as_an_ordinary_user_too():
    code = """
from probe.sandbox import SandboxSpec, open_sandbox
with open_sandbox(SandboxSpec(), "bubblewrap") as box:
    box.write("a", b"b")
    print(box.run("cat a; id -u; cat /proc/self/status | grep CapBnd").stdout)
"""
    source = Path(__file__).resolve().parents[2] / "scripts"
    done = subprocess.run(
        [*_AS_NOBODY, _python_for_all(), "-B", "-c", code],
        env={"PYTHONPATH": str(source), "PATH": "/usr/bin:/bin"},
        cwd="/",
        capture_output=True,
        text=True,
    )
    assert done.stdout == "b1000\nCapBnd:\t0000000000000000\n\n", done.stderr


_AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def _python_for_all() -> str:
    """An interpreter that another user may run, new enough for PROBE."""
    for path in (sys.executable, "/usr/local/bin/python3", "/usr/bin/python3"):
        code = "import sys; sys.exit(sys.version_info < (3, 11))"
        try:
            if subprocess.run([*_AS_NOBODY, path, "-c", code], capture_output=True).returncode == 0:
                return path
        except OSError:
            continue
    if os.environ.get("CI") == "true":
        pytest.fail("no Python 3.11 that another user may run")
    pytest.skip("no Python 3.11 that another user may run")
