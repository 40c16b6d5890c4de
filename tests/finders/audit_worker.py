"""A pass of its own process, for a test that kills it: ``audit_worker.py FOLDER SERVER``."""

import sys
from pathlib import Path

from audits import Project

if __name__ == "__main__":
    project = Project(Path(sys.argv[1]))
    project.run(project.session(sys.argv[2]), "b")
