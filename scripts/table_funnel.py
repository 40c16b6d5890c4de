"""Count what stayed and what left on the way to the reference set."""

from probe.job import job
from probe.records import (
    Bug,
    Candidate,
    Classification,
    Commit,
    Dropped,
    Judgement,
    Presence,
    iter_jsonl,
    read_all,
    read_jsonl,
)
from probe.reference.funnel import COLUMNS, Recorded, funnel_rows
from probe.report.tables import write_csv

with job(snakemake.log[0]):
    recorded = Recorded(
        commits=iter_jsonl(snakemake.input.commits, Commit),
        classifications=read_all(snakemake.input.classifications, Classification),
        candidates=read_all(snakemake.input.candidates, Candidate),
        left_out=read_all(snakemake.input.left_out, Dropped),
        presences=read_all(snakemake.input.presence, Presence),
        unwritten=read_all(snakemake.input.unwritten, Dropped),
        taken_back=read_jsonl(snakemake.input.taken_back, Dropped),
        duplicates=read_jsonl(snakemake.input.duplicates, Judgement),
        merged=read_jsonl(snakemake.input.merged, Bug),
        bugs=read_jsonl(snakemake.input.bugs, Bug),
    )
    write_csv(snakemake.output.funnel, COLUMNS, funnel_rows(recorded))
