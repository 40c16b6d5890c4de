"""Merge the reports that are one defect."""

from probe.job import job
from probe.paths import mirror_beside
from probe.records import (
    Candidate,
    Classification,
    Commit,
    Judgement,
    Report,
    iter_jsonl,
    read_all,
    read_jsonl,
    write_jsonl,
    write_text,
)
from probe.reference.bugs import merge_bugs
from probe.reference.merge import oversized_text

with job(snakemake.log[0]):
    verdicts = read_all(snakemake.input.classifications, Classification)
    merged = merge_bugs(
        mirror_beside(snakemake.input.history),
        snakemake.wildcards.repo,
        read_jsonl(snakemake.input.commits, Commit),
        [verdict.commit for verdict in verdicts if verdict.is_fix],
        read_all(snakemake.input.candidates, Candidate),
        read_all(snakemake.input.reports, Report),
        iter_jsonl(snakemake.input.duplicates, Judgement),
        snakemake.params.merge_limit,
    )
    write_jsonl(snakemake.output.merged, merged.bugs)
    write_jsonl(snakemake.output.taken_back, merged.left_out)
    write_text(snakemake.output.oversized, oversized_text(merged.oversized))
