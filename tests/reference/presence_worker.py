"""A block of its own process, for a test that kills it: ``presence_worker.py FOLDER SERVER``."""

import sys
from pathlib import Path

from investigations import Case, about, investigate


class Found(Case):
    """The case that the test has made in the folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "again")
        self.folder = folder


if __name__ == "__main__":
    case = Found(Path(sys.argv[1]))
    (presence,) = investigate(case, about(case, sys.argv[2], "bubblewrap"), "total")
    sys.stdout.write(f"{presence.verdict}\n")
