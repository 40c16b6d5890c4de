"""Names of fixes that the snapshot does not have: who writes one has seen the future.

All files of the snapshot count, tests and documents too: a word that a reader of the snapshot can
find is none of the fix's own. The words of all fixes of a block are looked for in one reading.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from probe.git.objects import ObjectReader, list_tree
from probe.git.process import run_git
from probe.records import Candidate
from probe.reference.leaks import names_in
from probe.reference.mirror import split_lines

_LINK = "120000"


def unseen_names(
    mirror: Path, t0: str, reader: ObjectReader, candidates: Iterable[Candidate]
) -> dict[str, frozenset[str]]:
    """By candidate the names in its fix that occur in no file of the snapshot, casefolded.

    A fix is its diff as the candidate keeps it, paths included. File names of the snapshot count as
    occurrences. A file that the mirror lacks, or that is binary, has no words.

    Raises:
        GitError: the snapshot cannot be read.
    """
    named = {item.id: names_in(item.suggested_fix) for item in candidates}
    missing = _missing(frozenset().union(*named.values()), mirror, t0, reader)
    return {name: names & missing for name, names in named.items()}


def commits_up_to(mirror: Path, t0: str, fixes: Sequence[str]) -> frozenset[str]:
    """Full hashes of all commits after the snapshot that lead to some fixes, themselves included.

    Raises:
        GitError: one of them is unknown.
    """
    if not fixes:
        return frozenset()
    wanted = "\n".join([*fixes, f"^{t0}"]) + "\n"
    return frozenset(run_git(mirror, "rev-list", "--stdin", stdin=wanted.encode()).decode().split())


def _missing(wanted: frozenset[str], mirror: Path, t0: str, reader: ObjectReader) -> frozenset[str]:
    left = set(wanted)
    entries = [entry for entry in list_tree(mirror, t0) if entry.type == "blob"]
    left.difference_update(*(names_in(entry.path) for entry in entries))
    for sha in dict.fromkeys(entry.sha for entry in entries if entry.mode != _LINK):
        if not left:
            break
        for line in split_lines(reader.blob(sha) or b""):
            left -= names_in(line)
    return frozenset(left)
