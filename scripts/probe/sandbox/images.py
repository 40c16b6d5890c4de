"""A small image made of the host's own programs, for engines that need one where no hub is reached.

It holds bash, the usual text and file tools, tar, git and Python with the libraries that they need:
no package manager, no secrets, nothing of /etc but the loader's tables.
"""

import functools
import hashlib
import io
import os
import platform
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from probe.errors import SandboxError

LABEL = "probe"
"""Label of everything that we create in an engine."""
NAME = "probe-host"

_RECIPE = "3"
"""Raise it when the contents change, so that old images are not taken."""
_FINDABLE = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
_NEEDED = (
    "bash sh cat chmod cp cut date df dirname du env expr false find grep head id kill ln ls mkdir "
    "mktemp mv nproc printf pwd readlink realpath rm rmdir sed sleep sort stat tail tar tee timeout "
    "touch tr true uniq wc xargs"
)
_WELCOME = (
    "[ awk base64 basename chgrp chown cksum cmp comm csplit dd diff diff3 dircolors egrep expand "
    "factor fgrep file fmt fold free getconf git gunzip gzip hostname install join less link locale "
    "logname md5sum mkfifo mknod more nl nohup od paste patch pathchk perl pgrep pkill pr printenv "
    "ps python3 sdiff seq setsid sha1sum sha256sum shuf split stdbuf strings stty sum sync tac test "
    "time top tsort tty uname unexpand unlink users vdir watch which whoami yes zcat"
)
_SKIPPED = {
    "__pycache__",
    "test",
    "tests",
    "idlelib",
    "ensurepip",
    "site-packages",
    "dist-packages",
}
_EXTRA = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/usr/lib/locale/C.utf8",
    "/usr/share/git-core/templates",
)
_PROMISED = (
    "libatomic.so.1 libcrypt.so.1 libdl.so.2 libexpat.so.1 libgcc_s.so.1 libm.so.6 libnsl.so.1 "
    "libpthread.so.0 libresolv.so.2 librt.so.1 libstdc++.so.6 libutil.so.1 libz.so.1"
)
"""Libraries that foreign programs take for granted: wheels (PEP 600's list) and Node's releases."""
_ETC = {
    "etc/passwd": "root:x:0:0:root:/:/bin/bash\nprobe:x:1000:1000::/tmp/home:/bin/bash\n"
    "nobody:x:65534:65534:nobody:/:/bin/false\n",
    "etc/group": "root:x:0:\nprobe:x:1000:\nnogroup:x:65534:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}


@functools.cache
def host_image_tag() -> str:
    """Its name and tag; the tag follows the programs' paths, sizes and times of change.

    Raises:
        SandboxError: the host is no Linux, or lacks a program without which nothing works.
    """
    if sys.platform != "linux":
        raise SandboxError(
            "no image can be made of this system; name one, such as python:3.12-slim"
        )
    digest = hashlib.sha256(_RECIPE.encode())
    for path in _programs():
        status = path.stat()
        digest.update(f"{path} {status.st_size} {status.st_mtime_ns}\n".encode())
    return f"{NAME}:{digest.hexdigest()[:12]}"


def host_image() -> bytes:
    """The image's files as a tar archive, some 60 MB.

    Raises:
        SandboxError: as :func:`host_image_tag`.
    """
    tree = _Tree()
    programs = _programs()
    for path in programs:
        tree.add(path)
    python = [path for path in programs if path.name == "python3"]
    modules = [file for path in python for file in _python_files(path)]
    for file in [*modules, *(Path(name) for name in _EXTRA)]:
        tree.add_all(file)
    binary = [path for path in [*programs, *modules] if path.suffix in {"", ".so"}]
    for library in [*_libraries(binary), *_promised()]:
        tree.add(library)
    return tree.archive()


def platform_name() -> str:
    """Operating system and machine, as engines write it: ``linux/amd64``."""
    machine = platform.machine()
    return f"linux/{ {'x86_64': 'amd64', 'aarch64': 'arm64'}.get(machine, machine) }"


def check_config(name: str, config: Mapping[str, object]) -> None:
    """Refuse an image whose configuration would undo a limit.

    Raises:
        SandboxError: it has volumes, which lie outside the file systems of fixed size.
    """
    if config.get("Volumes"):
        raise SandboxError(
            f"{name}: an image with VOLUME escapes the limit on disk; build it without"
        )


def _programs() -> list[Path]:
    found = []
    for name in f"{_NEEDED} {_WELCOME}".split():
        place = shutil.which(name, path=_FINDABLE)
        if place is not None:
            found.append(Path(place))
        elif name in _NEEDED.split():
            raise SandboxError(
                f"no image can be made of this host: {name} is missing; name an image"
            )
    return found


def _python_files(interpreter: Path) -> Iterable[Path]:
    """Its standard library."""
    code = "import sysconfig as s; print(s.get_path('stdlib')); print(s.get_path('platstdlib'))"
    said = subprocess.run(
        [interpreter, "-I", "-c", code], capture_output=True, text=True, check=False
    )
    for folder in sorted(set(said.stdout.split())):
        for parent, folders, files in os.walk(folder):
            folders[:] = sorted(name for name in folders if name not in _SKIPPED)
            yield from (Path(parent, name) for name in sorted(files) if not name.endswith(".a"))


def _libraries(programs: Iterable[Path]) -> list[Path]:
    """Shared libraries, and the loader, that the programs name."""
    command = ["ldd", *(str(path) for path in programs)]
    said = subprocess.run(
        command, capture_output=True, text=True, check=False, env={"LC_ALL": "C", "PATH": _FINDABLE}
    )
    words = {
        word for line in said.stdout.splitlines() if line.startswith("\t") for word in line.split()
    }
    return sorted(Path(word) for word in words if word.startswith("/"))


def _promised() -> list[Path]:
    """Those of :data:`_PROMISED` that the host has, beside the C library that its programs use."""
    folders = {path.parent for path in _libraries([Path("/bin/bash").resolve()])}
    return [
        folder / name
        for name in _PROMISED.split()
        for folder in sorted(folders)
        if (folder / name).exists()
    ]


class _Tree:
    """Files at their real places, with the links that lead there."""

    def __init__(self) -> None:
        self._paths: dict[str, Path] = {}
        for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
            top = Path("/") / name
            if top.is_symlink():
                self._paths[name] = top

    def add(self, path: Path) -> None:
        """A file; where it is a link, the link and its end."""
        for _ in range(20):
            path = path.parent.resolve() / path.name
            self._paths[str(path).lstrip("/")] = path
            if not path.is_symlink():
                return
            path = path.parent / path.readlink()

    def add_all(self, path: Path) -> None:
        """A file, or a folder with all that is in it, where it exists."""
        if path.is_dir():
            for child in sorted(path.iterdir()):
                self.add_all(child)
        elif path.exists():
            self.add(path)

    def archive(self) -> bytes:
        """The same bytes for the same files."""
        content = io.BytesIO()
        with tarfile.open(fileobj=content, mode="w") as archive:
            for name in ("work", "tmp", "etc", "proc", "sys", "dev"):
                _put(
                    archive,
                    _member(name, tarfile.DIRTYPE, 0o1777 if name in {"tmp", "work"} else 0o755),
                )
            for name, text in sorted(_ETC.items()):
                _put(archive, _member(name, tarfile.REGTYPE, 0o644), text.encode())
            for name, path in sorted(self._paths.items()):
                if path.is_symlink():
                    link = _member(name, tarfile.SYMTYPE, 0o777)
                    link.linkname = str(path.readlink())
                    _put(archive, link)
                else:
                    mode = 0o755 if path.stat().st_mode & 0o111 else 0o644
                    _put(archive, _member(name, tarfile.REGTYPE, mode), path.read_bytes())
        return content.getvalue()


def _member(name: str, kind: bytes, mode: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.mode = kind, mode
    return member


def _put(archive: tarfile.TarFile, member: tarfile.TarInfo, content: bytes = b"") -> None:
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))
