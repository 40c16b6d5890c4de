"""Judge which reports describe one defect: the same root cause, strictly."""

from probe.job import job
from probe.records import Candidate, Pair, iter_jsonl, read_all, write_jsonl
from probe.reference.deduplicate import judge_duplicates

with job(snakemake.log[0]):
    judgements = judge_duplicates(
        iter_jsonl(snakemake.input.pairs, Pair),
        read_all(snakemake.input.candidates, Candidate),
    )
    write_jsonl(snakemake.output.duplicates, judgements)
