"""Say what the build would cost before anything is spent."""

from pathlib import Path

from probe.config import load_config
from probe.job import job
from probe.models.cache import CallStore
from probe.models.estimate import EstimateRow
from probe.models.prompts import load_prompt
from probe.paths import ESTIMATED_PROMPTS
from probe.report.estimate import estimate_build
from probe.report.tables import write_records_csv

with job(snakemake.log[0]):
    benchmark = load_config(snakemake.config, Path(snakemake.scriptdir).parent)
    rows = estimate_build(
        benchmark,
        benchmark.cells(),
        CallStore(Path(benchmark.settings.calls.folder)),
        {name: load_prompt(Path(snakemake.input[name])) for name in ESTIMATED_PROMPTS},
    )
    write_records_csv(snakemake.output.estimate, EstimateRow, rows)
