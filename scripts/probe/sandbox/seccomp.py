"""The filter of system calls that bubblewrap loads, as the kernel's own small program.

Namespaces hide most of the host; this closes what they leave open: the kernel's key rings and
virtual-machine sockets, which belong to no namespace, new namespaces, interfaces with a history of
holes that programs can do without, and the calls by which a program could slip out of the limits on
processors and memory.
"""

import errno
import json
import platform
import struct
from typing import NamedTuple

from probe.errors import SandboxError

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16
_X32 = 0x40000000
"""Calls of x86-64's 32-bit pointer interface carry this bit."""
_NEW_NAMESPACES = 0x7E020000
"""CLONE_NEW* of clone: mount, cgroup, host name, IPC, user, process, network."""
_FAMILIES = (1, 2, 10, 16)
"""Sockets that are local to the network namespace: unix, IPv4, IPv6, netlink."""


class Calls(NamedTuple):
    """Numbers of one machine's system calls."""

    machine: int
    """AUDIT_ARCH_*: what a process of 64 bits on this machine is."""
    clone: int
    socket: int
    absent: tuple[int, ...]
    """Answered as if the kernel had none: clone3 (its flags can't be seen), memfd_create,
    memfd_secret, shmget (memory that belongs to no process and no file system of the sandbox)."""
    forbidden: tuple[int, ...]
    """add_key, request_key, keyctl; bpf, perf_event_open, userfaultfd; unshare, setns, mount,
    umount2, pivot_root; sched_setaffinity; open_by_handle_at; ptrace, process_vm_readv,
    process_vm_writev, kcmp; then the common ones."""


_COMMON = (425, 426, 427, *range(428, 434), 438, 442)
"""Same number everywhere: io_uring, the new mount calls, pidfd_getfd, mount_setattr."""
_CALLS = {
    "x86_64": Calls(
        machine=0xC000003E,
        clone=56,
        socket=41,
        absent=(435, 319, 447, 29),
        forbidden=(
            248,
            249,
            250,
            321,
            298,
            323,
            272,
            308,
            165,
            166,
            155,
            203,
            304,
            101,
            310,
            311,
            312,
            *_COMMON,
        ),
    ),
    "aarch64": Calls(
        machine=0xC00000B7,
        clone=220,
        socket=198,
        absent=(435, 279, 447, 194),
        forbidden=(
            217,
            218,
            219,
            280,
            241,
            282,
            97,
            268,
            40,
            39,
            41,
            122,
            265,
            117,
            270,
            271,
            272,
            *_COMMON,
        ),
    ),
}


def filter_program(machine: str = "") -> bytes:
    """The program, as an array of the kernel's ``struct sock_filter``.

    Args:
        machine: As ``platform.machine()`` says; this one's where empty.

    Raises:
        SandboxError: the machine is none whose system calls are known here.
    """
    machine = machine or platform.machine()
    calls = _CALLS.get(machine)
    if calls is None:
        known = ", ".join(_CALLS)
        raise SandboxError(f"bubblewrap: no filter of system calls for {machine}, only for {known}")
    absent, forbidden = _ERRNO | errno.ENOSYS, _ERRNO | errno.EPERM
    program = [
        _step(_LOAD, _MACHINE),
        _step(_EQUAL, calls.machine, 1, 0),
        _step(_RETURN, absent),
        _step(_LOAD, _NUMBER),
        _step(_AT_LEAST, _X32, 0, 1),
        _step(_RETURN, absent),
    ]
    for number in calls.absent:
        program += [_step(_EQUAL, number, 0, 1), _step(_RETURN, absent)]
    for number in calls.forbidden:
        program += [_step(_EQUAL, number, 0, 1), _step(_RETURN, forbidden)]
    clone = [
        _step(_LOAD, _FIRST_ARGUMENT),
        _step(_ANY_BIT, _NEW_NAMESPACES, 0, 1),
        _step(_RETURN, forbidden),
        _step(_RETURN, _ALLOW),
    ]
    socket = [_step(_LOAD, _FIRST_ARGUMENT)]
    for family in _FAMILIES:
        socket += [_step(_EQUAL, family, 0, 1), _step(_RETURN, _ALLOW)]
    socket.append(_step(_RETURN, _ERRNO | errno.EAFNOSUPPORT))
    for number, body in ((calls.clone, clone), (calls.socket, socket)):
        program += [_step(_EQUAL, number, 0, len(body)), *body]
    return b"".join([*program, _step(_RETURN, _ALLOW)])


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """One instruction; the jumps count instructions to skip."""
    return struct.pack("=HBBI", code, if_true, if_false, value)


_FORBIDDEN_NAMES = (
    "acct add_key bpf clock_adjtime clock_settime create_module delete_module fanotify_init "
    "finit_module fsconfig fsmount fsopen fspick get_kernel_syms init_module io_uring_enter "
    "io_uring_register io_uring_setup ioperm iopl kcmp kexec_file_load kexec_load keyctl "
    "lookup_dcookie mount mount_setattr move_mount name_to_handle_at nfsservctl open_by_handle_at "
    "open_tree perf_event_open pidfd_getfd pivot_root process_vm_readv process_vm_writev ptrace "
    "query_module quotactl quotactl_fd reboot request_key sched_setaffinity setdomainname setns "
    "settimeofday stime swapoff swapon sysfs syslog umount umount2 unshare uselib userfaultfd ustat "
    "vm86 vm86old vhangup"
)
_DOCKER_MACHINES = {"amd64": "SCMP_ARCH_X86_64", "arm64": "SCMP_ARCH_AARCH64"}


def docker_profile(machine: str) -> str:
    """The same for Docker before version 23, whose own filter lets virtual-machine sockets pass.

    Args:
        machine: As Docker says: ``amd64``.

    Returns:
        A profile as JSON text.
    """
    namespaces = [1 << bit for bit in range(32) if _NEW_NAMESPACES >> bit & 1]
    too_high = {"index": 0, "value": max(_FAMILIES), "op": "SCMP_CMP_GT"}
    rules: list[dict[str, object]] = [
        _rule(_FORBIDDEN_NAMES.split(), errno.EPERM),
        _rule(["clone3"], errno.ENOSYS),
        _rule(["socket"], errno.EAFNOSUPPORT, too_high),
    ]
    for flag in namespaces:
        test = {"index": 0, "value": flag, "valueTwo": flag, "op": "SCMP_CMP_MASKED_EQ"}
        rules.append(_rule(["clone"], errno.EPERM, test))
    profile: dict[str, object] = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": rules}
    if machine in _DOCKER_MACHINES:
        profile["architectures"] = [_DOCKER_MACHINES[machine]]
    return json.dumps(profile)


def _rule(names: list[str], answer: int, *tests: dict[str, object]) -> dict[str, object]:
    return {"names": names, "action": "SCMP_ACT_ERRNO", "errnoRet": answer, "args": list(tests)}
