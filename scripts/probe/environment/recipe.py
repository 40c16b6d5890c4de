"""Records of a recipe: all that an environment is built from, fixed before anything is installed.

The recipe is made with a network and without running foreign code; building it needs no network. So
what is inside an environment is decided, dated and hashed in one place, ``environment/recipe.json``.
"""

from typing import Literal

from pydantic import Field, model_validator

from probe.records import Provenance, Record
from probe.records.base import UtcTime
from probe.records.snapshot import Release
from probe.records.store import content_sha256

PREFIX = "/opt/probe-env"
"""Where an environment lies inside every sandbox, read-only in use."""
ARTIFACTS = "/artifacts"
"""Where the downloaded files lie inside while an environment is built, read-only."""
OVERLAY = f"{PREFIX}/overlay"
"""What an install script leaves here (files and links) is copied over the sources in ``/work`` each
time a sandbox is opened: version files, ``node_modules`` as a link, compiled modules."""

MISMATCH = "PROBE: the recipe is for"
"""Start of the line with which an install script refuses a base that the recipe was not made for."""

EcosystemName = Literal["python", "node"]
FORM = "1"
"""Version of what an identity covers; raise it when built environments must be built anew."""


class Artifact(Record):
    """A downloaded file, in ``environment/artifacts``."""

    file: str = Field(pattern=r"^[^/\x00]+$")
    """Its name there; unique within the repository."""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    """Hash of its bytes."""
    size: int = Field(ge=0)
    """Bytes."""


class TestPlan(Record):
    """How the project's own tests are run; commands are bash, in ``/work``."""

    __test__ = False

    full: str
    """The whole suite."""
    subset: str | None = None
    """A representative part, chosen the same way everywhere; None where it cannot be divided."""
    totals: str
    """Name of the parser that reads the totals, a key of :data:`probe.environment.totals.PARSERS`."""
    notes: tuple[str, ...] = ()
    """Suites that are left out on purpose, and why."""


class EcosystemRecipe(Record):
    """What one ecosystem brings into an environment."""

    ecosystem: EcosystemName
    """Whose packages."""
    runtimes: dict[str, str]
    """Exact version of each interpreter, by name."""
    lock: str
    """Every package with its exact version and hashes, as text; the same on every machine."""
    lock_source: str
    """Where the lock came from: the committed file's path, or ``resolved``."""
    releases: tuple[Release, ...]
    """Packages that are installed or build something, sorted, with the dates of their upload."""
    artifacts: tuple[Artifact, ...]
    """Files to install from, sorted by name; may differ between machines of different kinds."""
    install: str
    """Bash, run in ``/work`` (a writable copy of the sources) as an ordinary user without a network:
    installs from :data:`ARTIFACTS` into :data:`PREFIX`. Ecosystems run in order, in one sandbox."""
    groups: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Lists of artifacts that the script gets as bash arrays of paths, by name: what differs between
    machines of different kinds stays out of the script, and so out of the identity."""
    path: tuple[str, ...] = ()
    """Folders that commands find first, in order, such as ``/opt/probe-env/bin``."""
    variables: dict[str, str] = Field(default_factory=dict)
    """Variables of commands, at installation and in use; not PATH."""
    tests: TestPlan | None = None
    """The project's own tests; None where it has none."""
    notes: tuple[str, ...] = ()
    """What a reader of the recipe should know: what was left out or added, and why."""

    def identity(self) -> dict[str, object]:
        """What decides its content, whatever the machine."""
        return {
            "ecosystem": self.ecosystem,
            "runtimes": self.runtimes,
            "lock": self.lock,
            "install": self.install,
            "path": self.path,
            "variables": self.variables,
        }


class Recipe(Record):
    """All that an environment is built from (``environment/recipe.json``)."""

    repo: str
    """Key of the repository."""
    archive_sha256: str
    """Hash of the snapshot's ``source.tar``."""
    cutoff: UtcTime
    """T0's time: no package may be younger."""
    reason: str | None = None
    """Why no environment is built, in a line; None where one is."""
    ecosystems: tuple[EcosystemRecipe, ...] = ()
    """In the order in which they are installed; empty exactly where there is a reason."""
    provenance: Provenance
    """What made it."""

    @model_validator(mode="after")
    def _either(self) -> "Recipe":
        if bool(self.ecosystems) == (self.reason is not None):
            raise ValueError("a recipe has ecosystems or a reason, never both")
        return self

    @property
    def sha256(self) -> str:
        """Identity of the environment: the same locks give the same on every machine."""
        parts = [one.identity() for one in self.ecosystems]
        about = {"form": FORM, "archive": self.archive_sha256, "cutoff": self.cutoff.isoformat()}
        return content_sha256({**about, "ecosystems": parts, "reason": self.reason})

    @property
    def variables(self) -> dict[str, str]:
        """Variables of commands inside, PATH among them where a folder is to be found first."""
        merged: dict[str, str] = {}
        for one in self.ecosystems:
            merged.update(one.variables)
        folders = [folder for one in self.ecosystems for folder in one.path]
        if folders:
            merged["PATH"] = ":".join([*folders, *SYSTEM_PATH])
        return merged


SYSTEM_PATH = (
    "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin",
)  # fmt: skip
"""Where commands are found after an environment's own folders."""
