"""What an ecosystem must know, so that another can be added as one plugin.

An ecosystem turns a snapshot into an :class:`~probe.environment.recipe.EcosystemRecipe`. It may use
the network, and must not run a line of the snapshot's or of a package's code: what has to run is
left to the recipe's install script, which runs in a sandbox without a network.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from probe.environment.override import Override
from probe.environment.recipe import EcosystemName, EcosystemRecipe
from probe.environment.tree import Tree
from probe.errors import ProbeError


class UnbuildableError(ProbeError):
    """There is no environment for this snapshot, and there would be none tomorrow.

    The message becomes the reason of a ``sources_only`` environment: an interpreter that the project
    excludes, requirements that nothing before T0 fulfils. A fault that may pass (no network, a full
    disk) or that a person has to decide on (an artifact with another hash, a release after T0, a lock
    without hashes) is any other :class:`ProbeError`, and stops the build.
    """


@dataclass(frozen=True)
class Machine:
    """Where an environment will run."""

    system: str
    """``linux``."""
    processor: str
    """As ``uname -m`` says: ``x86_64``, ``aarch64``."""
    libc: str
    """``glibc`` or ``musl``."""
    libc_version: tuple[int, int]
    """Its version: (2, 36)."""
    python: tuple[int, int, int] | None
    """Version of the image's ``python3``; None where it has none."""
    programs: frozenset[str] = frozenset()
    """Programs that the image has, of those that are asked for: ``cc``, ``make``, ``cargo``…"""


@dataclass(frozen=True)
class FetchJob:
    """What an ecosystem gets to make its recipe."""

    repo: str
    """Key of the repository."""
    tree: Tree
    """The snapshot's files."""
    cutoff: datetime
    """T0's time, in UTC: no package may be younger."""
    artifacts: Path
    """Where downloaded files go; what is there and has the right hash stays."""
    cache: Path
    """Shared folder of downloaded files, by their SHA-256; see :mod:`probe.environment.downloads`."""
    override: Override
    """What a person wrote for this repository."""
    machine: Machine
    """Where it will run."""
    version: str
    """Version of the project at T0, for build tools that would ask git; ``0.0.0`` where unknown."""


class Ecosystem(Protocol):
    """A way to make the recipe of one language's packages."""

    @property
    def name(self) -> EcosystemName:
        """Its name."""
        ...

    @property
    def languages(self) -> Sequence[str]:
        """Keys of the languages whose projects it can serve."""
        ...

    def detect(self, tree: Tree) -> bool:
        """Whether the snapshot is a project of this ecosystem."""
        ...

    def fetch(self, job: FetchJob) -> EcosystemRecipe:
        """Resolve and download everything as of the cut-off.

        Raises:
            UnbuildableError: there is no such environment; the message is the reason.
            ProbeError: it cannot be made now, or a person has to decide.
        """
        ...
