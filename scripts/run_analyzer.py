"""Run a static analyser once over the whole snapshot."""

from pathlib import Path

from probe.finders.run import run_whole
from probe.job import job
from probe.records import write_json

with job(snakemake.log[0]):
    result = run_whole(
        snakemake.wildcards.repo,
        snakemake.wildcards.run,
        snakemake.params.settings,
        archive=Path(snakemake.input.archive),
        files=Path(snakemake.input.files),
    )
    write_json(snakemake.output.result, result)
