"""Keep the pairs of a finding and a reference bug that look alike."""

from probe.job import job
from probe.matching.pairs import build_pairs
from probe.records import Bug, Finding, read_jsonl, write_jsonl
from probe.similarity.filter import Thresholds

with job(snakemake.log[0]):
    pairs = build_pairs(
        read_jsonl(snakemake.input.findings, Finding),
        read_jsonl(snakemake.input.bugs, Bug),
        Thresholds(**snakemake.params.thresholds),
    )
    write_jsonl(snakemake.output.pairs, pairs)
