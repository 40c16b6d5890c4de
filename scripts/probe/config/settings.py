"""The settings of a build (``config.yaml``): every key, its type, default, unit and meaning."""

from typing import Annotated, ClassVar

from pydantic import Field, field_validator

from probe.config.base import Fraction, Section
from probe.config.names import RunName, SnapshotName, VariantName
from probe.config.windows import Window


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    for place, name in enumerate(names):
        if name in names[:place]:
            raise ValueError(f"{name!r} is listed twice")
    return names


HEURISTIC = "heuristic"
"""The engine that needs no model."""


ERRATA = "config/errata.tsv"
"""Where errata stand by default."""


class Stage(Section):
    """A stage that something decides."""

    has_model_engine: ClassVar[bool] = False

    engine: str = Field(default=HEURISTIC, min_length=1)
    """What decides: `heuristic`, or a model of `models.yaml` where the stage has a model engine."""


class ClassifySettings(Stage):
    """Whether some part of a commit corrects wrong behaviour; has a model engine."""

    has_model_engine: ClassVar[bool] = True
    diff_tokens: int = Field(default=12_000, ge=200)
    """Tokens (cl100k_base) of a commit's diff that a model sees: head and tail of a longer one."""


class ExtractSettings(Stage):
    """Which bugs a fix commit corrects, and where they are; has a model engine."""

    has_model_engine: ClassVar[bool] = True
    diff_tokens: int = Field(default=12_000, ge=200)
    """Tokens (cl100k_base) of a commit's diff that a model sees: head and tail of a longer one."""
    file_tokens: int = Field(default=16_000, ge=0)
    """Tokens of the files before the fix, around its changes, that a model sees in all."""


class PresenceSettings(Stage):
    """Whether the defect was in the snapshot; a model works as an agent in a sandbox."""

    has_model_engine: ClassVar[bool] = True
    turns: int = Field(default=40, ge=1)
    """Answers of the agent for one candidate, at most."""
    working_s: float = Field(default=1_800, gt=0)
    """Seconds of the model and its commands for one candidate, at most; waiting does not count."""
    usd: float | None = Field(default=None, gt=0)
    """US dollars for one candidate, at most; null for no limit but the budget's."""
    command_s: float = Field(default=120, gt=0)
    """Seconds of one command, also when a cited one is executed again."""
    parallel: int = Field(default=2, ge=1)
    """Candidates of one job that are checked at the same time, each in a sandbox of its own."""


class SynthesizeSettings(Stage):
    """The report of a present bug; has a model engine."""

    has_model_engine: ClassVar[bool] = True
    diff_tokens: int = Field(default=6_000, ge=200)
    """Tokens (cl100k_base) of the fix that a model sees."""
    file_tokens: int = Field(default=8_000, ge=200)
    """Tokens of the snapshot's code around the defect that a model sees."""


class Thresholds(Section):
    """Which pairs look alike: a pair is kept when any of its six signals reaches its threshold.

    `null` turns a signal off. The signals are those of the paper's appendix A.4.
    """

    line_distance: Annotated[int, Field(ge=0)] | None = 10
    """Lines between the nearest ranges in one file, at most; 0 where they overlap."""
    path: Fraction | None = None
    """Shared trailing parts of the two paths over the parts of the longer one, at least; off,
    because every pair in one file would pass."""
    snippet: Fraction | None = 0.4
    """Jaccard of the snippets' tokens, at least."""
    text: Fraction | None = 0.15
    """Cosine of the TF-IDF vectors of title and description, at least."""
    identifiers: Fraction | None = 0.25
    """Jaccard of the code identifiers named in the prose, at least."""
    title: Fraction | None = 0.3
    """Dice of the titles' character trigrams, at least."""


class SnapshotSettings(Section):
    """Which files of the snapshot finders are asked about."""

    max_bytes: int = Field(default=1_000_000, ge=1)
    """Bytes; a larger file is not audited (`too_large`)."""
    minified_mean_line: int = Field(default=300, ge=1)
    """Bytes; a file with longer lines on average is not audited (`minified`)."""


class PlanSettings(Section):
    """How audited files are grouped into passes (paper: appendix B)."""

    token_budget: int = Field(default=60_000, ge=1)
    """Tokens (cl100k_base) of one batch, at most; a larger file is a pass of its own."""
    individual_share: Fraction = 0.15
    """Share of the files, at most, that get passes of their own for their score."""
    individual_score: int = Field(default=700, ge=0)
    """Score from which a file gets a pass of its own: its lines, and 60 for every other audited file
    that it surely calls or is called by. The default gives as many passes a file as the paper has."""
    individual_partners: int = Field(default=40, ge=0)
    """Callers, and callees, from other files that an individual pass shows at most."""
    batch_partners: int = Field(default=25, ge=0)
    """Callers, and callees, from other files that a batch shows at most."""


class DeduplicateSettings(Stage):
    """Which reports describe one defect; has a model engine."""

    has_model_engine: ClassVar[bool] = True
    thresholds: Thresholds = Thresholds()
    """Pairs of reports that are judged at all."""
    merge_limit: int = Field(default=20, ge=2)
    """Reports that one reference bug may unite; larger groups stay unmerged and are listed for a
    person in `oversized.tsv`."""


class ReferenceSettings(Section):
    """How the reference set is built (paper: section 2.1)."""

    block_size: int = Field(default=200, ge=1)
    """Commits of the window in one block, the unit that is judged and rerun; 1 is a file a commit."""
    habit_commits: int = Field(default=2_000, ge=0)
    """Commits before T0 from which a project's way of wording its commits is learnt."""
    version: str = Field(default="1", pattern=r"^[0-9A-Za-z][0-9A-Za-z.-]*$")
    """Version of the reference sets, which every cell carries; errata add to it (`1+2`)."""
    classify: ClassifySettings = ClassifySettings()
    """Whether some part of a commit corrects wrong behaviour; has a model engine."""
    extract: ExtractSettings = ExtractSettings()
    """Which bugs a fix commit corrects, and where they are; has a model engine."""
    presence: PresenceSettings = PresenceSettings()
    """Whether the defect was in the snapshot; has a model engine, an agent."""
    synthesize: SynthesizeSettings = SynthesizeSettings()
    """The report of a present bug; has a model engine."""
    deduplicate: DeduplicateSettings = DeduplicateSettings()
    """Which reports describe one defect; has a model engine."""


class DecisionSettings(Section):
    """When the heuristic accepts a pair of a finding and a reference bug as a match.

    Wording is the largest of the cosine of the texts, half the Dice of the titles and half the
    Jaccard of the identifiers.
    """

    max_distance: int = Field(default=10, ge=0)
    """Lines between the ranges in one file, at most."""
    min_wording: Fraction = 0.15
    """Wording that a pair in the same place must reach."""
    min_snippet: Fraction = 0.6
    """Jaccard of the snippets' tokens from which overlapping ranges need half of the wording."""
    min_overlap: Fraction = 0.3
    """Jaccard of the lines that both name from which a pair matches whatever its words."""


class MatchingSettings(Stage):
    """How findings are matched with reference bugs, many to many (paper: section 2.3)."""

    thresholds: Thresholds = Thresholds()
    """Pairs that are judged at all."""
    decision: DecisionSettings = DecisionSettings()
    """When the heuristic accepts a pair."""


class ContextSettings(Stage):
    """The document on the project that full passes and the panel get; a model works as an agent."""

    has_model_engine: ClassVar[bool] = True
    turns: int = Field(default=80, ge=1)
    """Answers of the agent, at most."""
    working_s: float = Field(default=3_600, gt=0)
    """Seconds of the model and its commands, at most; waiting does not count."""
    usd: float | None = Field(default=None, gt=0)
    """US dollars, at most; null for no limit but the budget's."""
    command_s: float = Field(default=120, gt=0)
    """Seconds of one command."""
    tokens: int = Field(default=8_000, ge=500)
    """Tokens (cl100k_base) of the document, at most."""


class EnvironmentSettings(Section):
    """Where the snapshot's code runs: its dependencies as of T0."""

    build: bool = True
    """Whether environments are built; without, finders get the sources and a bare interpreter."""
    base_image: str | None = None
    """Image on which environments are built (Docker, Podman), best by digest; null for one made of the
    host's own programs."""
    test_s: float = Field(default=600, gt=0)
    """Seconds of the project's own tests, at most; a longer suite runs its representative subset."""
    memory_mb: int = Field(default=8_000, ge=256)
    """Memory of the sandbox that installs and tests, in MB of 10^6 bytes."""


class SandboxSettings(Section):
    """Where foreign code runs."""

    engine: str = Field(default="auto", pattern=r"^(auto|docker|bubblewrap|podman|apptainer)$")
    """`docker`, `bubblewrap`, `podman` or `apptainer`; `auto` takes the first that works."""


class BudgetSettings(Section):
    """How much money may be spent."""

    usd: float = Field(default=0.0, ge=0)
    """US dollars that all calls recorded in the cache folder's ledger may cost together, past
    builds included; 0 allows free models only."""


class CallSettings(Section):
    """How models are called."""

    folder: str = Field(default="cache", min_length=1)
    """Folder of bought answers and of the ledger, relative to where Snakemake runs. Keep it: what
    is in it is never bought again."""
    replay: bool = False
    """Answer from the folder only: a call that is not in it fails, and nothing is sent."""
    repair_turns: int = Field(default=2, ge=0, le=2)
    """How often a model is asked again for an answer that does not fit its schema."""


class Settings(Section):
    """One build: which repositories and runs, and how each stage works."""

    repositories: Annotated[tuple[SnapshotName, ...], Field(strict=False, min_length=1)]
    """Repositories that are built by default: keys of the inventory, or variants of them,
    `sqlglot@2025-07`: the same row with a window of its own, and with results of its own."""
    runs: Annotated[tuple[RunName, ...], Field(strict=False, min_length=1)]
    """Runs that are scored by default, on every repository that has a language of theirs."""
    inventory: str = Field(default="config/repositories.tsv", min_length=1)
    """The inventory of repositories; a path relative to the workflow's root."""
    runs_file: str = Field(default="config/runs.yaml", min_length=1)
    """The definitions of the runs; a path relative to the workflow's root."""
    windows: dict[VariantName, Window] = Field(default={})
    """Windows of variants, `sqlglot@2025-07: {t0: 2025-07-01, t1: 2026-01-01}`. Only what a label
    does not say must stand here: a month or a day as a label is T0 itself, and T1 is that of the
    inventory's row."""
    errata: str = Field(default=ERRATA, min_length=1)
    """Withdrawn and corrected reference bugs; a path relative to the workflow's root. The default
    file may be missing."""
    models_file: str = Field(default="config/models.yaml", min_length=1)
    """The definitions of the models; a path relative to the workflow's root."""
    snapshot: SnapshotSettings = SnapshotSettings()
    """Which files of the snapshot finders are asked about."""
    plan: PlanSettings = PlanSettings()
    """How audited files are grouped into passes."""
    context: ContextSettings = ContextSettings()
    """The document on the project; has a model engine, an agent."""
    environment: EnvironmentSettings = EnvironmentSettings()
    """Where the snapshot's code runs."""
    reference: ReferenceSettings = ReferenceSettings()
    """How the reference set is built."""
    matching: MatchingSettings = MatchingSettings()
    """How findings are matched with reference bugs."""
    sandbox: SandboxSettings = SandboxSettings()
    """Where foreign code runs."""
    budget: BudgetSettings = BudgetSettings()
    """How much money may be spent."""
    calls: CallSettings = CallSettings()
    """How models are called."""

    def stages(self) -> dict[tuple[str, ...], Stage]:
        """The stages by their path in the file."""
        reference: dict[tuple[str, ...], Stage] = {
            ("reference", name): value
            for name in ReferenceSettings.model_fields
            if isinstance(value := getattr(self.reference, name), Stage)
        }
        return {**reference, ("context",): self.context, ("matching",): self.matching}

    def stage(self, name: str) -> Stage:
        """The stage of a name: the last part of its path in the file.

        Raises:
            KeyError: there is none.
        """
        return {path[-1]: stage for path, stage in self.stages().items()}[name]

    _distinct_names = field_validator("repositories", "runs")(_distinct)
