"""What all records share: frozen, closed to unknown keys, explicit about what made them."""

from datetime import datetime
from pathlib import PurePosixPath
from typing import Annotated, Self

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

from probe import __version__


def _utc(value: datetime) -> datetime:
    offset = value.utcoffset()
    if offset is None or offset.total_seconds() != 0:
        raise ValueError(f"time {value.isoformat()} is not in UTC")
    return value


def _inside(value: str) -> str:
    path = PurePosixPath(value)
    if not value or path.is_absolute() or ".." in path.parts or "\0" in value:
        raise ValueError(f"path {value!r} is not relative to the repository's root")
    return value


UtcTime = Annotated[AwareDatetime, AfterValidator(_utc)]
"""A time with the offset zero."""

RepoPath = Annotated[str, AfterValidator(_inside)]
"""A path inside a repository: relative, with forward slashes, without ``..``."""

Sha = Annotated[str, Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")]
"""A full object name in hexadecimal, SHA-1 or SHA-256."""

Line = Annotated[int, Field(ge=1)]
"""A line number, 1-based."""

Confidence = Annotated[float, Field(ge=0, le=1)]
"""0 is no support at all, 1 is certainty."""


class Record(BaseModel):
    """A row of a JSON Lines file: immutable, unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Provenance(Record):
    """What made a record; every judged record carries one."""

    engine: str
    """``heuristic``, the name of an analyser, or a model's key in ``models.yaml``."""
    engine_version: str
    """Version of the heuristic's rules or of the tool; for a model the name as served."""
    probe_version: str
    """PROBE's own version when the record was written."""
    prompt_sha256: str | None = None
    """Hash of the prompt template; None for engines without a prompt."""
    calls: tuple[str, ...] = ()
    """Cache keys of the model calls behind the record, in order; empty without a model."""

    @classmethod
    def of_heuristic(cls, version: str) -> Self:
        """Provenance of a heuristic engine whose rules have this version."""
        return cls(engine="heuristic", engine_version=version, probe_version=__version__)
