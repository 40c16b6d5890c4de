"""Sources that lack blobs (partial clones): copy what there is, and count what is not.

`git fetch` refuses such a source as corrupt. Objects are therefore listed with their absence
tolerated and packed by name; the source's folder is only read.
"""

from pathlib import Path

from probe.git.objects import list_tree
from probe.git.process import pipe_git, run_git


def copy_partial(source: Path, mirror: Path, tip: str) -> bool:
    """Copy all objects behind ``tip`` that the local repository ``source`` has.

    Returns:
        Whether objects are missing there; when none is, nothing was copied.

    Raises:
        GitError: a commit is unknown or git failed.
    """
    listed = _list_objects(source, tip)
    present = [line for line in listed if not line.startswith(b"?")]
    if len(present) == len(listed):
        return False
    names = b"".join(line.split(b" ", 1)[0] + b"\n" for line in present)
    told = run_git(mirror, "cat-file", "--batch-check", stdin=names).split(b"\n")[:-1]
    wanted = [
        line for line, answer in zip(present, told, strict=True) if answer.endswith(b" missing")
    ]
    pipe_git(
        (source, "pack-objects", "--quiet", "--stdout"),
        (mirror, "index-pack", "--stdin"),
        stdin=b"".join(line + b"\n" for line in wanted),
    )
    return True


def count_missing(mirror: Path, t0: str, t1: str) -> int:
    """How many blobs of the window or of the snapshot the mirror lacks."""
    listed = _list_objects(mirror, t1, f"^{t0}")
    lost = {line[1:].decode() for line in listed if line.startswith(b"?")}
    lost |= {e.sha for e in list_tree(mirror, t0) if e.type == "blob" and e.size is None}
    return len(lost)


def _list_objects(git_dir: Path, *revisions: str) -> list[bytes]:
    printed = run_git(
        git_dir, "rev-list", "--objects", "--missing=print", *revisions, "--", user_config=True
    )
    return printed.split(b"\n")[:-1]
