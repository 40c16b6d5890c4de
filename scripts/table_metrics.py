"""Gather the rows of all cells into one table."""

from probe.job import job
from probe.report.tables import concatenate_csv

with job(snakemake.log[0]):
    concatenate_csv(snakemake.output.metrics, snakemake.input.cells)
