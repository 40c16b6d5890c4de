"""Objects for a new mirror from one that is here already: variants have the same upstream.

Git copies them, so that either mirror can be deleted. Alternates or links to the other's files
would save the disk space too, but a mirror that is deleted or repacked could take a neighbour's
history with it.
"""

import logging
from collections.abc import Iterable
from pathlib import Path

from probe.errors import GitError
from probe.git.process import run_git

_log = logging.getLogger(__name__)
_BORROWED = "refs/probe/borrowed"


def borrow(mirror: Path, branch: str, lenders: Iterable[Path]) -> Path | None:
    """Copy a branch from the first mirror that has it; what is missing then comes from upstream.

    Args:
        mirror: a new, empty mirror.
        branch: the branch that will be fetched.
        lenders: mirrors of the same upstream; one that cannot lend is passed over.

    Returns:
        The lender; None where there was none.
    """
    for lender in lenders:
        try:
            run_git(
                mirror,
                "fetch",
                "--quiet",
                "--no-tags",
                "--no-write-fetch-head",
                "--no-auto-maintenance",
                str(lender.resolve()),
                f"+refs/heads/{branch}:{_BORROWED}",
            )
        except GitError as error:
            _log.info("nothing borrowed from %s: %s", lender, error)
        else:
            return lender
    return None


def give_back(mirror: Path) -> None:
    """Forget what was borrowed; the objects stay, as far as the upstream's branch has them."""
    run_git(mirror, "update-ref", "-d", _BORROWED)
