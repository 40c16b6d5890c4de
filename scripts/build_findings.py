"""Gather the findings and the usage of all passes of a run."""

from probe.finders.gather import USAGE_COLUMNS, gather_findings, usage_rows
from probe.job import job
from probe.records import PassResult, read_json, write_jsonl
from probe.report.tables import write_csv

with job(snakemake.log[0]):
    results = [read_json(path, PassResult) for path in snakemake.input.results]
    write_jsonl(snakemake.output.findings, gather_findings(results))
    write_csv(snakemake.output.usage, USAGE_COLUMNS, usage_rows(results))
