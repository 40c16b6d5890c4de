"""The runs that can be scored (``runs.yaml``): one finder configuration each.

A new kind of finder is one more class here, a member of :data:`Run`, and its module in
``probe.finders``.
"""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, field_validator

from probe.config.base import Section, Texts
from probe.config.names import SnapshotName

LanguageKey = Literal["python", "javascript", "typescript"]
"""Languages that PROBE audits; ``.tsx`` files belong to TypeScript."""

Languages = Annotated[tuple[LanguageKey, ...], Field(strict=False)]

AnalyzerTool = Literal["ruff", "pylint", "pyrefly", "oxlint"]
"""Analysers that PROBE runs; each is a module of ``probe.finders``."""


class _BaseRun(Section):
    """What every kind of run has."""

    repositories: Annotated[tuple[SnapshotName, ...], Field(strict=False, exclude=True)] = ()
    """Repositories, or variants of them, that the run is for; empty for all that have one of its
    languages. A repository does not stand for its variants: a report on one snapshot is none on
    another."""


class AnalyzerRun(_BaseRun):
    """A static analyser, run once over the unpacked snapshot without importing or executing it."""

    kind: Literal["analyzer"]
    """Says that this is an analyser."""
    tool: AnalyzerTool
    """Which one; its version is pinned in `envs/requirements.lock`."""
    languages: Annotated[tuple[LanguageKey, ...], Field(strict=False, min_length=1)]
    """Languages that the tool reads; repositories without any of them have no such cell."""
    rules: Annotated[tuple[str, ...], Field(strict=False, min_length=1)]
    """What is reported, in the tool's own names; only rules that claim a bug."""
    ignore: Texts = ()
    """What is left out although `rules` covers it."""
    timeout_s: int = Field(default=600, ge=1)
    """Seconds for one call of the tool; the pass ends after four times as many."""


class SarifRun(_BaseRun):
    """The report of any other tool: a SARIF 2.1.0 file that somebody made of the snapshot."""

    kind: Literal["sarif"]
    """Says that this is an imported file."""
    path: str
    """The file; `{repo}` stands for the repository's name, and a relative path starts at the
    workflow's root."""
    languages: Languages = ()
    """Languages that the tool reads; empty for all."""

    max_mb: float = Field(default=512, gt=0)
    """Size in MB of 10^6 bytes; a larger file is refused."""
    root: str = ""
    """Folder of the checkout on the machine that made the report, for its absolute paths."""

    @field_validator("path")
    @classmethod
    def _only_repo_varies(cls, path: str) -> str:
        rest = path.replace("{repo}", "")
        if not rest or "{" in rest or "}" in rest or "\0" in rest:
            raise ValueError(
                f"found {path!r}, expected a file name in which only {{repo}} is replaced"
            )
        return path


class ModelRun(_BaseRun):
    """A model without tools: one structured call a pass, with the files in the prompt."""

    kind: Literal["model"]
    """Says that a model is asked directly."""
    model: str = Field(min_length=1)
    """Which one: a key of `models.yaml`."""
    repeat: int = Field(default=1, ge=1)
    """Number of the repeat: runs that differ in it alone ask the same questions anew."""
    languages: Languages = ()
    """Languages of the repositories that it is run on; empty for all."""


Run = Annotated[AnalyzerRun | ModelRun | SarifRun, Field(discriminator="kind")]
"""A run of any kind; ``kind`` says which."""

RUN_KINDS: dict[str, type[Section]] = {
    "analyzer": AnalyzerRun,
    "model": ModelRun,
    "sarif": SarifRun,
}
"""The kinds by their key ``kind``, in the order in which the documentation lists them."""

RUN_ADAPTER: TypeAdapter[AnalyzerRun | ModelRun | SarifRun] = TypeAdapter(Run)
"""Validates one entry of ``runs.yaml``."""
