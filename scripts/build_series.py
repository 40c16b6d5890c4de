"""Rebuild a bundled patch series into a bare repository."""

from pathlib import Path

from probe.git.series import build_series
from probe.job import job
from probe.records import write_text

with job(snakemake.log[0]):
    head = build_series(Path(snakemake.input.manifest).parent, Path(snakemake.output.git))
    write_text(snakemake.output.head, head + "\n")
