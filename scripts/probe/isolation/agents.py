"""Whether the folder of command-line agents holds a later version of the audited project.

Agents are younger than any snapshot, and bring packages of their own: marked and yaml lie readable in
the folder that is mounted into every session. Nobody minds, until one of those is the project.
"""

from pathlib import Path

from packaging.utils import canonicalize_name

from probe.errors import IsolationError
from probe.isolation.installed import NODE_PACKAGE, PYTHON_PACKAGE
from probe.isolation.listing import list_archive
from probe.isolation.project import read_project


def check_agents(agents: Path, archive: Path) -> None:
    """Refuse agents that carry the audited project as a package of its own.

    Args:
        agents: the folder as it is mounted.
        archive: the snapshot's ``source.tar``.

    Raises:
        IsolationError: they do; the package is named.
    """
    names = read_project(list_archive(archive)).names
    for path in sorted(agents.rglob("*")):
        match = NODE_PACKAGE.fullmatch(str(path)) or PYTHON_PACKAGE.fullmatch(str(path))
        if match and canonicalize_name(match["name"]) in names:
            raise IsolationError(
                f"{path.parent}: the agents carry the audited project itself, in a version of today; run "
                "this repository with an agent that does not, or mount that agent's packages alone"
            )
