"""Count what stayed and what left on the way to the reference set."""

from probe.job import job
from probe.records import (
    Bug,
    Candidate,
    Classification,
    Commit,
    Dropped,
    Presence,
    iter_jsonl,
    read_all,
    read_jsonl,
)
from probe.reference.funnel import COLUMNS, funnel_rows
from probe.report.tables import write_csv

with job(snakemake.log[0]):
    rows = funnel_rows(
        iter_jsonl(snakemake.input.commits, Commit),
        read_all(snakemake.input.classifications, Classification),
        read_all(snakemake.input.candidates, Candidate),
        read_all(snakemake.input.left_out, Dropped),
        read_all(snakemake.input.presence, Presence),
        read_all(snakemake.input.unwritten, Dropped),
        read_jsonl(snakemake.input.taken_back, Dropped),
        read_jsonl(snakemake.input.bugs, Bug),
    )
    write_csv(snakemake.output.funnel, COLUMNS, rows)
