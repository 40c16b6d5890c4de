"""Revisions that a project tells blame to look through: runs of formatters, mass renames.

`git blame` reads such a list only where it is told to, and refuses the whole of it for one unknown
or shortened hash. Here each line is taken for itself.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from probe.git.objects import ObjectReader
from probe.git.process import run_git

IGNORE_FILES = (
    ".git-blame-ignore-revs",
    ".git-blame-ignore",
    ".git-blame-ignore-revs.txt",
    ".git-ignore-revs",
    ".gitblameignore",
    ".blame-ignore-revs",
)
"""Names under which projects keep the list, in their top folder."""
_HASH = re.compile(r"[0-9a-f]{4,64}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Ignored:
    """What the lists of a revision say."""

    revs: frozenset[str] = frozenset()
    """Full object names of commits that the mirror has."""
    files: tuple[str, ...] = ()
    """The lists that were found."""
    shortened: int = 0
    """Entries that give a part of a hash, and mean one commit."""
    unknown: tuple[str, ...] = ()
    """Entries that name no commit of the mirror, or several."""


def read_ignored(mirror: Path, rev: str) -> Ignored:
    """Read the lists that a revision holds; none is no error.

    Args:
        mirror: a git directory.
        rev: whose tree to look in: the newest one knows of all formatter runs before it.

    Raises:
        GitError: the mirror cannot be read.
    """
    with ObjectReader(mirror) as reader:
        found = {name: reader.read(rev, name) for name in IGNORE_FILES}
    lists = {name: text.decode("utf-8", "replace") for name, text in found.items() if text}
    entries = dict.fromkeys(entry for text in lists.values() for entry in _entries(text))
    hashes = [entry for entry in entries if _HASH.fullmatch(entry)]
    fed = "".join(f"{entry}^{{commit}}\n" for entry in hashes).encode()
    told = run_git(mirror, "cat-file", "--batch-check", stdin=fed).decode().splitlines()
    known = {
        entry: answer.split()[0]
        for entry, answer in zip(hashes, told, strict=True)
        if answer.split()[1:2] == ["commit"]
    }
    return Ignored(
        frozenset(known.values()),
        tuple(lists),
        sum(len(entry) < len(sha) for entry, sha in known.items()),
        tuple(entry for entry in entries if entry not in known),
    )


def _entries(text: str) -> list[str]:
    """The first word of each line, without comments, which may follow a hash as well."""
    lines = (line.split("#", 1)[0].split() for line in text.lstrip("\ufeff").splitlines())
    return [words[0] for words in lines if words]
