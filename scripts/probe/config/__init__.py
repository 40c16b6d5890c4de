"""What a build is configured with: types, defaults, units and meanings live here and only here."""

from probe.config.benchmark import Benchmark, Cell, Named
from probe.config.document import config_markdown, generate, schemas_by_name
from probe.config.errata import Erratum, read_errata
from probe.config.inventory import SERIES_PREFIX, Repository, read_inventory
from probe.config.loader import load_config, load_files, read_models, read_runs
from probe.config.models import Effort, ModelEntry, Price, Supports
from probe.config.names import MAX_NAME_LENGTH, NAME_PATTERN, VARIANT_MARK
from probe.config.runs import AnalyzerRun, AnalyzerTool, LanguageKey, ModelRun, Run, SarifRun
from probe.config.settings import (
    ERRATA,
    HEURISTIC,
    BudgetSettings,
    CallSettings,
    ClassifySettings,
    DecisionSettings,
    DeduplicateSettings,
    MatchingSettings,
    PlanSettings,
    ReferenceSettings,
    Settings,
    SnapshotSettings,
    Stage,
    Thresholds,
)
from probe.config.windows import Inventory, Window

__all__ = [
    "ERRATA",
    "HEURISTIC",
    "MAX_NAME_LENGTH",
    "NAME_PATTERN",
    "SERIES_PREFIX",
    "VARIANT_MARK",
    "AnalyzerRun",
    "AnalyzerTool",
    "Benchmark",
    "BudgetSettings",
    "CallSettings",
    "Cell",
    "ClassifySettings",
    "DecisionSettings",
    "DeduplicateSettings",
    "Effort",
    "Erratum",
    "Inventory",
    "LanguageKey",
    "MatchingSettings",
    "ModelEntry",
    "ModelRun",
    "Named",
    "PlanSettings",
    "Price",
    "ReferenceSettings",
    "Repository",
    "Run",
    "SarifRun",
    "Settings",
    "SnapshotSettings",
    "Stage",
    "Supports",
    "Thresholds",
    "Window",
    "config_markdown",
    "generate",
    "load_config",
    "load_files",
    "read_errata",
    "read_inventory",
    "read_models",
    "read_runs",
    "schemas_by_name",
]
