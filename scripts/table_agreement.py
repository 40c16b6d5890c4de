"""Score a reference set against its labelled truth."""

from probe.job import job
from probe.records import (
    Agreement,
    Bug,
    Candidate,
    Classification,
    Presence,
    read_all,
    read_jsonl,
)
from probe.reference.agreement import agree, read_true_bugs, read_true_fixes
from probe.report.tables import write_records_csv

with job(snakemake.log[0]):
    rows = agree(
        snakemake.wildcards.repo,
        read_true_fixes(snakemake.input.commits),
        read_true_bugs(snakemake.input.bugs),
        read_all(snakemake.input.classifications, Classification),
        read_all(snakemake.input.candidates, Candidate),
        read_all(snakemake.input.presence, Presence),
        read_jsonl(snakemake.input.reference, Bug),
    )
    write_records_csv(snakemake.output.agreement, Agreement, rows)
