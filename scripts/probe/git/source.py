"""Where a mirror comes from: a URL or a local path, looked at without writing anything."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from probe.errors import GitError
from probe.git.process import run_git

_REMOTE = re.compile(r"[a-z][a-z0-9+.-]*://|[^/\\:]+:", re.IGNORECASE)
_USERINFO = re.compile(r"(?<=://)[^/@]+@")
_HEADS = "refs/heads/"


@dataclass(frozen=True, slots=True)
class Source:
    """A repository to mirror.

    ``git_dir`` is its git directory when it lies on this machine, else None. ``shown`` is what
    messages and records say: the URL without credentials, or an absolute path.
    """

    repo: str
    location: str
    shown: str
    git_dir: Path | None

    def problem(self, found: str, remedy: str) -> GitError:
        """An error in one line: which repository, what was found, what to do."""
        return GitError(f"{self.repo}: {self.shown}: {found}; {remedy}")


def show_url(url: str) -> str:
    """What records and messages say for ``url``: no credentials, local paths absolute."""
    return _USERINFO.sub("", url) if _is_remote(url) else str(_local_path(url))


def open_source(url: str, repo: str) -> Source:
    """Find the repository behind ``url``; remote ones are not asked yet.

    Args:
        url: anything that ``git fetch`` takes; ``~`` and paths relative to the working folder too.
        repo: the repository's key in the inventory, for messages.

    Raises:
        GitError: a local path does not exist, is no git repository, or is a shallow clone.
    """
    if _is_remote(url):
        return Source(repo, url, show_url(url), None)
    folder = _local_path(url)
    source = Source(repo, str(folder), str(folder), _git_dir(folder))
    if not folder.exists():
        raise source.problem("no such folder", "correct url in config/repositories.tsv")
    if source.git_dir is None and not folder.is_file():  # a file may be a bundle
        raise source.problem("not a git repository", "give its top folder or a bare repository")
    if source.git_dir is not None and _is_shallow(source.git_dir):
        raise shallow_problem(source)
    return source


def shallow_problem(source: Source) -> GitError:
    """The history was cut off when the source was cloned."""
    return source.problem(
        "a shallow clone, its history is cut off", "run `git fetch --unshallow` in it first"
    )


def default_branch(source: Source, branch: str | None) -> tuple[str, str]:
    """The branch to mirror and its newest commit, as the source has it now.

    Args:
        source: the repository.
        branch: its name; None for the one that the source's HEAD names.

    Raises:
        GitError: the source cannot be reached, is empty, has no such branch, or has a HEAD that
            names no branch while ``branch`` is None.
    """
    heads, target = _list_heads(source)
    if not heads:
        raise source.problem("an empty repository", "it needs at least one commit on a branch")
    if branch is None and (target is None or target not in heads):
        state = "is detached" if target is None else f"names the missing branch {target!r}"
        raise source.problem(f"HEAD {state}", f"set branch, one of: {_some(heads)}")
    name = branch if branch is not None else target
    if name is None or name not in heads:
        raise source.problem(f"no branch {name!r}", f"set branch to one of: {_some(heads)}")
    return name, heads[name]


def _is_remote(url: str) -> bool:
    local = url.startswith("file://") or Path(url).exists()
    return not local and _REMOTE.match(url) is not None


def _local_path(url: str) -> Path:
    return Path(os.path.abspath(Path(url.removeprefix("file://")).expanduser()))  # noqa: PTH100


def _list_heads(source: Source) -> tuple[dict[str, str], str | None]:
    try:
        printed = run_git(
            None, "ls-remote", "--symref", source.location, "HEAD", f"{_HEADS}*", user_config=True
        )
    except GitError as error:
        cause = str(error).replace(source.location, source.shown)
        raise source.problem(
            f"cannot be reached ({cause})", "check the URL, your network and your access rights"
        ) from error
    heads: dict[str, str] = {}
    target: str | None = None
    for line in printed.decode("utf-8", errors="replace").splitlines():
        value, _, name = line.partition("\t")
        if name.startswith(_HEADS):
            heads[name.removeprefix(_HEADS)] = value
        elif name == "HEAD" and value.startswith(f"ref: {_HEADS}"):
            target = value.removeprefix(f"ref: {_HEADS}")
    return heads, target


def _git_dir(folder: Path) -> Path | None:
    for candidate in (folder / ".git", folder):
        if candidate.is_file() and candidate.name == ".git":  # a worktree or submodule
            found = candidate.read_text("utf-8", errors="replace").removeprefix("gitdir: ").strip()
            return (folder / found).resolve()
        if all((candidate / name).exists() for name in ("HEAD", "objects", "refs")):
            return candidate
    return None


def _is_shallow(git_dir: Path) -> bool:
    common = git_dir / "commondir"
    root = git_dir / common.read_text("utf-8").strip() if common.is_file() else git_dir
    return (root / "shallow").is_file() and (root / "shallow").stat().st_size > 0


def _some(heads: dict[str, str]) -> str:
    names = sorted(heads)
    return ", ".join(names[:5]) + (f" … ({len(names)} in all)" if len(names) > 5 else "")
