"""Small git histories for tests: fixed authors and dates, so that every hash is the same anywhere.

::

    history = HistoryBuilder(tmp_path / "repo")
    first = history.commit({"a.py": "x = 1\n"}, "feat: begin")
    history.branch("topic")
    history.commit({"a.py": "x = 2\n"}, "fix: correct x")
    history.switch("main")
    history.merge("topic")

The repository is bare. Dates go up by an hour a commit unless given.
"""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

START = datetime(2024, 1, 1, tzinfo=UTC)
AUTHOR = "Ada Example <ada@example.org>"


@dataclass(frozen=True)
class Entry:
    """A path's mode and content; a submodule's content is the hash that it points to."""

    content: bytes
    mode: str = "100644"


Content = str | bytes | Entry | None
"""Text, bytes, an entry with a mode of its own, or None to delete the path."""


def executable(text: str) -> Entry:
    return Entry(text.encode(), "100755")


def link(target: str) -> Entry:
    return Entry(os.fsencode(target), "120000")


def submodule(sha: str) -> Entry:
    return Entry(sha.encode(), "160000")


class HistoryBuilder:
    """Makes commits without a work tree; each call returns the full hash."""

    def __init__(self, path: Path, branch: str = "main") -> None:
        self.path = path
        self.head = branch
        self._tips: dict[str, str] = {}
        self._trees: dict[str, dict[bytes, Entry]] = {}
        self._count = 0
        subprocess.run(
            ["git", "init", "--quiet", "--bare", f"--initial-branch={branch}", str(path)],
            check=True,
            env=_environment(),
        )

    def commit(
        self,
        files: Mapping[str | bytes, Content] | None = None,
        message: str | bytes = "Change",
        *,
        date: str | None = None,
        committer_date: str | None = None,
        author: str = AUTHOR,
        other_parents: tuple[str, ...] = (),
    ) -> str:
        """Commit to the current branch: its files with ``files`` put over them."""
        tip = self._tips.get(self.head)
        tree = dict(self._trees[tip]) if tip else {}
        for name, content in (files or {}).items():
            path = name if isinstance(name, bytes) else name.encode()
            if content is None:
                del tree[path]
            else:
                tree[path] = content if isinstance(content, Entry) else Entry(_bytes(content))
        when = self._seconds(date)
        committed = self._seconds(committer_date) if committer_date else when
        lines = [
            f"commit refs/heads/{self.head}".encode(),
            f"author {author} {when} +0000".encode(),
            f"committer {author} {committed} +0000".encode(),
            _data(_bytes(message)),
            *([f"from {tip}".encode()] if tip else []),
            *(f"merge {parent}".encode() for parent in other_parents),
            b"deleteall",
            *(_file(path, entry) for path, entry in sorted(tree.items())),
        ]
        self.git("fast-import", "--quiet", "--force", stdin=b"\n".join(lines) + b"\n")
        sha = self.git("rev-parse", f"refs/heads/{self.head}").decode().strip()
        self._tips[self.head] = sha
        self._trees[sha] = tree
        return sha

    def branch(self, name: str, at: str | None = None) -> None:
        """Make a branch at a commit of this builder (the current tip by default); switch to it."""
        sha = at or self._tips[self.head]
        self.git("update-ref", f"refs/heads/{name}", sha)
        self._tips[name] = sha
        self.head = name

    def orphan(self, name: str) -> None:
        """Switch to a new branch whose first commit will have no parent."""
        self.head = name

    def switch(self, name: str) -> None:
        """Commit to another existing branch from now on."""
        assert name in self._tips, name
        self.head = name

    def merge(
        self,
        *others: str,
        message: str | None = None,
        files: Mapping[str | bytes, Content] | None = None,
        date: str | None = None,
    ) -> str:
        """Merge branches: their changes since the merge base over ours, then ``files``."""
        ours = self._trees[self._tips[self.head]]
        changes: dict[str | bytes, Content] = {}
        for name in others:
            base = self._base(name)
            theirs = self._trees[self._tips[name]]
            changes.update({p: e for p, e in theirs.items() if base.get(p) != e})
            changes.update({p: None for p in base if p not in theirs and p in ours})
        changes.update(files or {})
        said = message or f"Merge branch {' and '.join(others)}"
        parents = tuple(self._tips[name] for name in others)
        return self.commit(changes, said, date=date, other_parents=parents)

    def rename(self, old: str, new: str, content: Content = None, message: str = "Move") -> str:
        """Move a file in a commit of its own, with new content where given."""
        moved = self._trees[self._tips[self.head]][old.encode()]
        return self.commit({old: None, new: moved if content is None else content}, message)

    def tip(self, branch: str | None = None) -> str:
        """The newest commit of a branch, the current one by default."""
        return self._tips[branch or self.head]

    def lose_blob(self, rev: str, path: str) -> str:
        """Delete a blob from the repository, as a partial clone lacks it; return its hash."""
        sha = self.git("rev-parse", f"{rev}:{path}").decode().strip()
        (self.path / "objects" / sha[:2] / sha[2:]).unlink()
        return sha

    def git(self, *args: str, stdin: bytes = b"") -> bytes:
        """Run git in the repository."""
        done = subprocess.run(
            ["git", f"--git-dir={self.path}", *args],
            input=stdin,
            capture_output=True,
            check=False,
            env=_environment(),
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        return done.stdout

    def _base(self, name: str) -> dict[bytes, Entry]:
        tips = [self._tips[self.head], self._tips[name]]
        common = self._common_ancestor(*tips)
        return self._trees[common] if common else {}

    def _common_ancestor(self, left: str, right: str) -> str | None:
        seen = self.git("rev-list", "--topo-order", left).decode().split()
        theirs = set(self.git("rev-list", right).decode().split())
        return next((sha for sha in seen if sha in theirs), None)

    def _seconds(self, date: str | None) -> int:
        self._count += 1
        when = datetime.fromisoformat(date) if date else START + timedelta(hours=self._count)
        return int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp())


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def _data(content: bytes) -> bytes:
    return b"data %d\n%s" % (len(content), content)


def _file(path: bytes, entry: Entry) -> bytes:
    quoted = b'"' + b"".join(b"\\%03o" % byte for byte in path) + b'"'
    if entry.mode == "160000":
        return b"M 160000 " + entry.content + b" " + quoted
    return b"M %s inline %s\n%s" % (entry.mode.encode(), quoted, _data(entry.content))
