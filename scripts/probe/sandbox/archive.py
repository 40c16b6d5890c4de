"""What may be unpacked into a sandbox: plain trees, without history and without tricks."""

import tarfile
from pathlib import Path, PurePosixPath

from probe.errors import SandboxError


def check_archive(path: Path) -> None:
    """Read the archive's listing and refuse what must never get into a sandbox.

    Refused are git's folders (history holds the future), devices and other special files, and names
    that leave the work folder. A symbolic link may point anywhere: inside the sandbox it is
    followed inside only.

    Raises:
        SandboxError: it is missing, no uncompressed tar, or has such an entry; the entry is named.
    """
    try:
        with tarfile.open(path, "r:") as archive:
            for member in archive:
                problem = _problem(member)
                if problem:
                    raise SandboxError(f"{path}: {member.name}: {problem}")
    except (OSError, tarfile.TarError) as error:
        raise SandboxError(f"{path}: not a readable tar archive, uncompressed: {error}") from error


def _problem(member: tarfile.TarInfo) -> str:
    if not (member.isreg() or member.isdir() or member.issym() or member.islnk()):
        return "neither a file, a folder nor a link; remove it from the archive"
    names = [member.name, member.linkname] if member.islnk() else [member.name]
    for name in map(PurePosixPath, names):
        if name.is_absolute() or ".." in name.parts:
            return "leads out of the work folder"
        if ".git" in name.parts:
            return "git's own data, which tells the future; make the archive with git archive"
    return ""
