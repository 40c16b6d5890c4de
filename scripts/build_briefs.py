"""Say what the sessions of a variant are about, pass by pass, and what they rerun for."""

from pathlib import Path

from probe.job import job
from probe.records import Environment, Pass, SnapshotFile, read_json, read_jsonl, write_jsonl
from probe.snapshot.briefs import build_briefs

with job(snakemake.log[0]):
    context = snakemake.input.get("context")
    briefs = build_briefs(
        snakemake.wildcards.variant,
        read_jsonl(snakemake.input.passes, Pass),
        read_jsonl(snakemake.input.files, SnapshotFile),
        read_json(snakemake.input.environment, Environment),
        Path(context).read_text(encoding="utf-8") if context else "",
    )
    write_jsonl(snakemake.output.briefs, briefs)
