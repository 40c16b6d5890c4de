"""What an image is, so that the right files can be chosen before anything is installed in it.

The image is asked, not this host: with Docker the base image decides which Python there is and which
C library, and both may differ from the host's.
"""

from contextlib import closing

from packaging import tags

from probe.environment.base import Machine
from probe.errors import SandboxError
from probe.sandbox import Limits, SandboxSpec, open_sandbox

PROGRAMS = ("cc", "c++", "make", "cargo", "pkg-config", "perl", "git")
"""Programs that are asked for."""

_ASK = f"""
uname -sm
python3 -I -c 'import sys; print("python", *sys.version_info[:3])' 2>/dev/null || echo python
for name in {" ".join(PROGRAMS)}; do command -v "$name" >/dev/null && echo "has $name"; done
said=$(getconf GNU_LIBC_VERSION 2>/dev/null) && echo "$said" || echo "musl $(ls /lib/ld-musl-* 2>/dev/null)"
true
"""
_ASK_S = 60
_FIRST_GLIBC = 5
"""Wheels start at glibc 2.5 (manylinux1)."""
_OLD_NAMES = {(2, 17): "manylinux2014", (2, 12): "manylinux2010", (2, 5): "manylinux1"}


def describe_machine(engine: str, image: str | None) -> Machine:
    """Ask an image; no foreign code runs.

    Args:
        engine: as in ``sandbox.engine``.
        image: the base image; None for the engine's default.

    Raises:
        SandboxError: no sandbox can be opened on it, or it does not answer.
    """
    spec = SandboxSpec(image=image, limits=Limits(disk_mb=64))
    with closing(open_sandbox(spec, engine)) as box:
        said = box.run(_ASK, _ASK_S)
        if said.exit != 0:
            raise SandboxError(f"{image or 'the default image'}: does not answer: {said.stderr}")
    return read_machine(said.stdout)


def read_machine(said: str) -> Machine:
    """The answer of an image.

    Raises:
        SandboxError: it makes no sense.
    """
    lines = [line.split() for line in said.splitlines() if line.strip()]
    try:
        system, processor = lines[0]
        python = next(line[1:] for line in lines if line[0] == "python")
        libc, *version = next(line for line in lines if line[0] in {"glibc", "musl"})
    except (IndexError, ValueError, StopIteration):
        raise SandboxError(f"an image describes itself as {said!r}; is it a Linux?") from None
    numbers = [int(part) for part in version[0].split(".")] if libc == "glibc" else [1, 2]
    return Machine(
        system.lower(),
        processor,
        libc,
        (numbers[0], numbers[1]),
        (int(python[0]), int(python[1]), int(python[2])) if python else None,
        frozenset(line[1] for line in lines if line[0] == "has"),
    )


def wheel_tags(machine: Machine) -> list[tags.Tag]:
    """Tags of the wheels that run there, the most specific first (as PEP 425 and PEP 600 order them)."""
    if machine.python is None:
        return []
    python = machine.python[:2]
    platforms = list(_platforms(machine))
    interpreter = f"cp{python[0]}{python[1]}"
    specific = tags.cpython_tags(python, [interpreter], platforms)
    return [*specific, *tags.compatible_tags(python, interpreter, platforms)]


def _platforms(machine: Machine) -> list[str]:
    major, minor = machine.libc_version
    names = []
    if machine.libc == "musl":
        names = [f"musllinux_{major}_{one}_{machine.processor}" for one in range(minor, -1, -1)]
    else:
        for one in range(minor, _FIRST_GLIBC - 1, -1):
            names.append(f"manylinux_{major}_{one}_{machine.processor}")
            if (major, one) in _OLD_NAMES:
                names.append(f"{_OLD_NAMES[major, one]}_{machine.processor}")
    return [*names, f"linux_{machine.processor}"]
