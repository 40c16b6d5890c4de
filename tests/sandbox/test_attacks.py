"""What foreign code may try, on the real engines: each test plays the attacker and checks the host."""

import io
import os
import secrets
import socket
import subprocess
import tarfile
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from sandbox.conftest import SMALL

from probe.errors import SandboxError
from probe.sandbox import Mount


def python(box, code, timeout_s=60):
    return box.run(["python3", "-c", code], timeout_s)


@pytest.fixture
def bystander():
    """A process of the host under a name that nothing else has, with a secret variable."""
    name = f"bystander-{secrets.token_hex(8)}"
    process = subprocess.Popen(
        ["bash", "-c", "read -r", name],
        stdin=subprocess.PIPE,
        env={**os.environ, "BYSTANDER_KEY": name},
    )
    yield name, process
    assert process.poll() is None, "a process of the host was killed"
    process.kill()
    process.wait()
    process.stdin.close()


def on_host(marker: str) -> list[str]:
    """Command lines of the host's processes that hold a marker."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_bytes()
        except OSError:
            continue
        if marker.encode() in text:
            found.append(f"{path}: {text!r}")
    return found


# network


@pytest.fixture
def listeners():
    """Servers of the host, and what reached them."""
    reached: list[str] = []
    name = secrets.token_hex(8)
    servers = {"abstract": (socket.AF_UNIX, f"\0probe-{name}")}
    servers["ipv4"] = (socket.AF_INET, ("0.0.0.0", 0))
    servers["ipv6"] = (socket.AF_INET6, ("::", 0))
    opened = {}
    for kind, (family, address) in servers.items():
        server = socket.socket(family, socket.SOCK_STREAM)
        if kind == "ipv6":
            server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        server.bind(address)
        server.listen()
        server.setblocking(False)
        opened[kind] = server
    yield opened
    for kind, server in opened.items():
        with server:
            try:
                server.accept()[0].close()
                reached.append(kind)
            except BlockingIOError:
                pass
    assert reached == []


def test_no_way_to_the_hosts_servers(box, listeners):
    addresses = {"127.0.0.1", "172.17.0.1", "10.0.2.2", socket.gethostname()}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            addresses.add(probe.getsockname()[0])
        except OSError:
            pass
    port, port6 = (listeners[kind].getsockname()[1] for kind in ("ipv4", "ipv6"))
    abstract = listeners["abstract"].getsockname()
    code = f"""
import socket
def attempt(family, address):
    try:
        with socket.socket(family) as s:
            s.settimeout(2)
            s.connect(address)
        print("REACHED", address)
    except OSError:
        print("kept out")
for host in {sorted(addresses)!r}:
    attempt(socket.AF_INET, (host, {port}))
attempt(socket.AF_INET6, ("::1", {port6}))
attempt(socket.AF_UNIX, {abstract!r})
"""
    output = python(box, code)
    assert output.stdout == "kept out\n" * (len(addresses) + 2), output


def test_no_way_to_the_world(box):
    code = """
import socket
for family, address in [
    (socket.AF_INET, ("1.1.1.1", 53)), (socket.AF_INET, ("8.8.8.8", 443)),
    (socket.AF_INET, ("169.254.169.254", 80)), (socket.AF_INET6, ("2606:4700:4700::1111", 53)),
    (socket.AF_INET6, ("fe80::1%lo", 53)),
]:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            s = socket.socket(family, kind)
            s.settimeout(2)
            s.connect(address)
            s.send(b"x")
            print("SENT", address, kind)
        except OSError:
            print("kept out")
for name in ("localhost.example.com", "pypi.org", "github.com"):
    try:
        print("RESOLVED", socket.getaddrinfo(name, 443))
    except OSError:
        print("kept out")
"""
    assert python(box, code).stdout == "kept out\n" * 13
    assert "lo:" in box.run("cat /proc/net/dev").stdout
    assert len(box.run("cat /proc/net/dev").stdout.splitlines()) == 3


def test_no_sockets_outside_the_network_namespace(box):
    code = """
import socket
for family, kind in [(40, 1), (17, 3), (38, 5), (2, 3), (21, 5), (44, 3)]:
    try:
        socket.socket(family, kind)
        print("MADE", family, kind)
    except OSError:
        print("kept out")
"""
    assert python(box, code).stdout == "kept out\n" * 6


def test_no_sockets_of_the_host_in_the_file_tree(box):
    assert box.run("find / -xdev -type s 2>/dev/null; find /run /var/run /tmp -type s").stdout == ""
    assert box.run("ls /run/docker.sock /var/run/docker.sock").exit != 0


# host files, environment, processes


def test_host_files_are_not_there(box, open_folder):
    secret = f"secret-{secrets.token_hex(8)}"
    (open_folder / secret).write_text(secret)
    (open_folder / secret).chmod(0o644)
    checkout = Path(__file__).resolve().parents[2]
    code = f"""
import os
for path in ["/etc/shadow", "/root/.bashrc", "/root/.ssh", {str(checkout)!r},
             {str(checkout / "README.md")!r}, {str(open_folder / secret)!r},
             "/proc/1/root" + {str(open_folder / secret)!r},
             "/proc/1/cwd/etc/shadow", "/proc/kcore", "/dev/mem", "/dev/vda", "/dev/sda"]:
    try:
        if os.path.isdir(path):
            print("LISTED", path, os.listdir(path))
        elif open(path, "rb").read(1):
            print("READ", path)
    except OSError:
        pass
for pid in filter(str.isdigit, os.listdir("/proc")):
    for inner in ("root", "cwd"):
        if os.path.exists(f"/proc/{{pid}}/{{inner}}" + {str(open_folder)!r}):
            print("THROUGH", pid, inner)
for parent, folders, files in os.walk("/"):
    if {secret!r} in files:
        print("FOUND", parent)
    folders[:] = [name for name in folders if os.path.join(parent, name) not in ("/proc", "/sys")]
print("end")
"""
    output = python(box, code)
    assert output.stdout == "end\n", output


def test_host_processes_and_variables_are_not_seen(box, bystander):
    name, _ = bystander
    code = f"""
import os
for pid in filter(str.isdigit, os.listdir("/proc")):
    for file in ("cmdline", "environ", "maps"):
        try:
            with open(f"/proc/{{pid}}/{{file}}", "rb") as f:
                if {name[:-1]!r}.encode() + b"{name[-1]}" in f.read() and int(pid) != os.getpid():
                    print("SEEN", pid, file)
        except OSError:
            pass
print(len([1 for pid in os.listdir("/proc") if pid.isdigit()]) < 6)
"""
    assert python(box, code).stdout == "True\n"
    assert box.run("hostname").stdout == "sandbox\n"


def test_signals_do_not_leave_the_sandbox(make, bystander):
    box = make()
    _, process = bystander
    box.run(f"kill -9 {process.pid}; kill -9 {os.getpid()}; kill -9 {os.getppid()}; kill -9 -1", 20)
    assert box.run("kill -STOP -1; kill -9 1; kill -TERM 1; kill -INT 1; echo on", 3).exit in (
        0,
        None,
    )
    assert box.run("echo still here").stdout == "still here\n"


# limits


def test_fork_bomb(make):
    box = make()
    output = box.run("bomb() { bomb | bomb & }; bomb; sleep 3", timeout_s=2)
    assert output.timed_out or output.exit is not None
    assert box.run("echo still here").stdout == "still here\n"


def test_processes_are_counted_together(make):
    box = make()
    output = box.run(
        "for i in $(seq 200); do sleep 5 & done 2>/dev/null; ls /proc | grep -c '^[0-9]'", 30
    )
    assert output.exit is not None
    numbers = [int(word) for word in output.stdout.split() if word.isdigit()]
    assert all(number <= SMALL.processes + 2 for number in numbers)
    threads = """
import threading, time
made = 0
try:
    for _ in range(200):
        threading.Thread(target=time.sleep, args=(5,), daemon=True).start()
        made += 1
except RuntimeError:
    pass
print(made, flush=True)
import os; os._exit(0)
"""
    assert int(python(box, threads).stdout) <= SMALL.processes


def test_a_memory_hog(make):
    box = make()
    output = python(box, "x = bytearray(10**9); print('HELD')")
    assert output.exit not in (0, None)
    assert "HELD" not in output.stdout
    assert box.alive()


def test_memory_is_counted_together(make):
    box = make()
    code = """
import os, time
children = []
for _ in range(12):
    pid = os.fork()
    if not pid:
        held = bytearray(os.urandom(1000) * 50_000)
        time.sleep(2)
        os._exit(0)
    children.append(pid)
survived = sum(os.waitpid(pid, 0)[1] == 0 for pid in children)
print(survived)
"""
    output = python(box, code)
    together = SMALL.memory_mb + SMALL.disk_mb
    assert output.exit == 137 or int(output.stdout) * 50 <= together, output
    assert box.run("echo still here").stdout == "still here\n"


@pytest.mark.parametrize(
    "place", ["/work", "/tmp", "/dev/shm", "/dev", "/", "/var/tmp", "/run", "/etc"]
)
def test_disk_filler(make, place):
    box = make()
    code = f"""
import os
written = 0
try:
    with open(os.path.join({place!r}, "fill"), "wb") as f:
        while written < 200_000_000:
            written += f.write(bytes(1_000_000))
except OSError:
    pass
print(written)
"""
    output = python(box, code)
    assert output.exit == 137 or int(output.stdout or 0) <= SMALL.disk_mb * 1_000_000 + 70_000_000
    assert int(output.stdout or 0) <= SMALL.disk_mb * 1_000_000, output
    assert box.alive()


def test_many_small_files(make):
    box = make(limits=replace(SMALL, disk_mb=10))
    output = python(box, "for n in range(10**7): open(f'/work/{n}', 'w')", 60)
    assert output.exit not in (0, None)
    assert box.alive()


@pytest.mark.parametrize("target", ["", ">&2", "| tee /dev/stderr"])
def test_endless_output(make, target):
    box = make()
    output = box.run(f"yes {target}", timeout_s=2)
    assert output.timed_out
    assert output.truncated
    assert len(output.stdout) + len(output.stderr) <= SMALL.output_kb * 1_000


# leaving something behind

ESCAPES = {
    "background": "sleep {n} &",
    "nohup": "nohup sleep {n} >/dev/null 2>&1 &",
    "setsid": "setsid sleep {n} &",
    "setsid-fork": "setsid --fork sleep {n}",
    "double fork": "(bash -c 'setsid bash -c \"trap : TERM HUP INT; sleep {n}; sleep {n}\" &' &)",
    "closed files": "setsid sleep {n} <&- >&- 2>&- &",
    "stopped": "sleep {n} & kill -STOP $!",
    "chain": """cat >/tmp/chain <<'END'
import os, sys, time
while True:
    if os.fork():
        os._exit(0)
    os.setsid()
    time.sleep(0.001)
END
python3 /tmp/chain {n} &""",
}


@pytest.mark.parametrize("how", ESCAPES)
@pytest.mark.parametrize("end", ["ends", "times out"])
def test_nothing_outlives_the_command(box, how, end):
    number = str(10**8 + secrets.randbelow(10**8))
    wait = "sleep 0.2" if end == "ends" else "sleep 60"
    output = box.run(
        ESCAPES[how].format(n=number) + f"\n{wait}", timeout_s=20 if end == "ends" else 1
    )
    assert output.timed_out == (end == "times out")
    assert on_host(number) == []
    assert box.run("ps -e -o pid= | wc -l").exit == 0
    assert number not in box.run("ps -e -o args=").stdout


def test_nothing_survives_between_commands_to_fake_results(make):
    box = make()
    output = python(
        box,
        """
import ctypes, os
libc = ctypes.CDLL(None)
print(libc.ptrace(16, 1, 0, 0), libc.ptrace(16, os.getppid(), 0, 0))
for name in ("mem", "fd/0", "fd/1", "oom_score_adj"):
    try:
        open(f"/proc/1/{name}", "r+b").write(b"0")
    except OSError:
        pass
""",
    )
    assert output.stdout == "-1 -1\n"
    assert box.run("exit 5").exit == 5


# files in and out


def test_read_and_write_do_not_follow_links_out(make, open_folder):
    secret = open_folder / "secret"
    secret.write_text("host")
    box = make()
    box.run(
        f"ln -s {secret} a; ln -s /srv/x c2; ln -s / root; ln -s /etc b; ln -s /proc/1/root c; ln -s loop loop;"
        "ln -s /proc/self/environ e; ln -s ../../../../../etc/passwd up"
    )
    for path in ("a", f"root{secret}", "b/passwd", "c/etc/passwd", "loop", "e", "up"):
        with pytest.raises(FileNotFoundError):
            box.read(path)
    for path in ("b/new", "root/new", "c/new", "c2", "up", "root/usr/bin/new", "loop"):
        with pytest.raises(SandboxError):
            box.write(path, b"attack")
    box.write("a", b"lands in the sandbox's own /tmp")
    assert secret.read_text() == "host"
    assert box.alive()


def test_special_files_are_refused(make):
    box = make()
    box.run("mkfifo pipe; ln -s /dev/zero zero; mkdir folder; ln -s /dev/stdin in")
    box.run("python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('sock')\"")
    for path in ("pipe", "zero", "folder", "sock", "in"):
        with pytest.raises(FileNotFoundError):
            box.read(path)
        with pytest.raises(SandboxError):
            box.write(path, b"x")
    assert box.alive()


def test_hard_links_and_system_files(box):
    assert box.run("ln /etc/passwd hard && echo x >>hard").exit != 0
    assert box.run("echo x >>/etc/passwd").exit != 0
    assert box.run("cp /bin/true /usr/bin/ls || rm -f /usr/bin/ls || mv /usr /usr2").exit != 0
    assert box.run("rm -rf /usr/bin/env /etc/passwd; touch /new").exit != 0


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (tarfile.TarInfo(".git/HEAD"), "git's own data"),
        (tarfile.TarInfo("sub/module/.git"), "git's own data"),
        (tarfile.TarInfo("../outside"), "leads out"),
        (tarfile.TarInfo("/absolute"), "leads out"),
        (tarfile.TarInfo("a/../../b"), "leads out"),
        ("hard", "leads out"),
        ("device", "neither a file"),
        ("pipe", "neither a file"),
    ],
)
def test_archives_with_tricks_are_refused(make, tmp_path, entry, message):
    if isinstance(entry, str):
        kind = {"hard": tarfile.LNKTYPE, "device": tarfile.CHRTYPE, "pipe": tarfile.FIFOTYPE}[entry]
        entry = tarfile.TarInfo(entry)
        entry.type, entry.linkname = kind, "/etc/shadow" if kind == tarfile.LNKTYPE else ""
    path = tmp_path / "evil.tar"
    with tarfile.open(path, "w") as archive:
        archive.addfile(entry, io.BytesIO())
    with pytest.raises(SandboxError, match=message):
        make(files=path)


def test_an_archives_links_lead_inside_only(make, tmp_path, open_folder):
    (open_folder / "secret").write_text("host")
    path = tmp_path / "links.tar"
    with tarfile.open(path, "w") as archive:
        for name, target in {"out": str(open_folder), "shadow": "/etc/shadow"}.items():
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            archive.addfile(link)
    box = make(files=path)
    assert box.run("cat out/secret shadow").exit != 0
    box.write("out/new", b"lands in the sandbox's own /tmp")
    assert sorted(item.name for item in open_folder.iterdir()) == ["secret"]


# rights


def test_no_capabilities_and_no_way_to_gain_any(box):
    status = dict(
        line.split(":\t")
        for line in box.run("cat /proc/self/status").stdout.splitlines()
        if ":\t" in line
    )
    for kind in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        assert int(status[kind], 16) == 0
    assert int(status["CapBnd"], 16) in (0, 1 << 5)  # at most the right to kill, out of reach
    assert status["NoNewPrivs"] == "1"
    assert status["Seccomp"] == "2"


@pytest.mark.parametrize(
    "attempt",
    [
        "mount -t tmpfs none /tmp",
        "mount --bind /usr /work",
        "umount /work",
        "unshare --user --map-root-user true",
        "unshare --net true",
        "nsenter --target 1 --all true",
        "chroot / true",
        "mknod /work/device b 254 0",
        "mknod /work/device c 1 1",
        "su root -c true </dev/null",
        "hostname other",
        "echo 1 >/proc/sys/kernel/panic",
        "echo b >/proc/sysrq-trigger",
        "echo x >/sys/kernel/uevent_helper",
        "mkdir /sys/fs/cgroup/new",
        "echo $$ >/sys/fs/cgroup/cgroup.procs",
        "dmesg | grep -q .",
        "renice -n -5 $$",
        "chown 0 /work",
        "ulimit -n 100000",
        "ulimit -d unlimited",
        "cp /bin/bash b; chmod 4755 b; ./b -p -c 'test $(id -u) -ne 1000'",
        "python3 -c 'import os; os.setuid(0)'",
        "python3 -c 'import os; os.setgroups([0])'",
    ],
)
def test_attempts_at_more_rights(box, attempt):
    assert box.run(attempt, 20).exit not in (0, None)


def test_system_calls_that_reach_across_namespaces(box):
    if os.uname().machine != "x86_64":
        pytest.skip("the numbers below are those of x86-64")
    code = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
calls = {"add_key": 248, "keyctl": 250, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323,
         "io_uring_setup": 425, "unshare": 272, "setns": 308, "open_tree": 428, "fsopen": 430,
         "open_by_handle_at": 304, "clone3": 435, "sched_setaffinity": 203, "kexec_load": 246,
         "init_module": 175, "reboot": 169, "swapon": 167}
for name, number in calls.items():
    ctypes.set_errno(0)
    if libc.syscall(number, 0x10000000, 0, 0, 0, 0, 0) >= 0 or ctypes.get_errno() not in (1, 38):
        print("PASSED", name, ctypes.get_errno())
if libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0) != -1:
    print("CLONED")
print("end")
"""
    assert python(box, code).stdout == "end\n"


def test_another_machines_system_calls(box):
    """Calls of 32-bit programs would pass a filter that looks at numbers only."""
    if os.uname().machine != "x86_64":
        pytest.skip("x86-64 only")
    code = """
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes.fromhex("b814000000" "cd80" "c3"))  # mov eax, 20 (getpid); int 0x80; ret
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
print(ctypes.CFUNCTYPE(ctypes.c_int)(address)())
"""
    output = python(box, code)
    assert output.exit != 0 or int(output.stdout) < 0


def test_read_only_mounts_stay_so(make, open_folder):
    (open_folder / "file").write_text("host")
    (open_folder / "file").chmod(0o666)
    open_folder.chmod(0o777)
    box = make(mounts=[Mount(open_folder, "/data")])
    assert box.run("echo attack >/data/file").exit != 0
    assert box.run("touch /data/new; mount -o remount,rw /data").exit != 0
    assert (open_folder / "file").read_text() == "host"
    assert [item.name for item in open_folder.iterdir()] == ["file"]


def test_a_slow_trickle_does_not_stretch_the_time(make):
    box = make()
    started = time.monotonic()
    output = box.run("while :; do echo x; sleep 0.01; done", timeout_s=2)
    assert output.timed_out
    assert threading.active_count() < 50
    assert time.monotonic() - started < 30
