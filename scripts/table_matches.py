"""List the matches of a run for people: which finding, which bug, how near, how alike."""

from probe.job import job
from probe.matching.matches import list_matches
from probe.matching.table import COLUMNS, match_rows
from probe.records import Bug, Finding, Judgement, Pair, iter_jsonl, read_jsonl
from probe.report.tables import write_csv

with job(snakemake.log[0]):
    matches = list_matches(
        iter_jsonl(snakemake.input.pairs, Pair), iter_jsonl(snakemake.input.judgements, Judgement)
    )
    rows = match_rows(
        matches,
        read_jsonl(snakemake.input.findings, Finding),
        read_jsonl(snakemake.input.bugs, Bug),
    )
    write_csv(snakemake.output.matches, COLUMNS, rows)
