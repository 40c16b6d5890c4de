"""Read a SARIF report as the one pass of a run."""

from pathlib import Path

from probe.finders.run import run_whole
from probe.job import job
from probe.records import write_json

with job(snakemake.log[0]):
    result = run_whole(
        snakemake.wildcards.repo,
        snakemake.wildcards.run,
        {**snakemake.params.settings, "file": snakemake.input.sarif},
        archive=Path(snakemake.input.archive),
        files=Path(snakemake.input.files),
    )
    write_json(snakemake.output.result, result)
