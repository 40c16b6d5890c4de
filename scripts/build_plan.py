"""Group the audited files into passes."""

from probe.job import job
from probe.records import SnapshotFile, iter_jsonl, write_jsonl
from probe.snapshot.plan import build_plan

with job(snakemake.log[0]):
    files = iter_jsonl(snakemake.input.files, SnapshotFile)
    write_jsonl(snakemake.output.passes, build_plan(files, snakemake.params.token_budget))
