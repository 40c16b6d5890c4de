"""List the matches of a run for people: which finding, which bug, how near, how alike."""

from probe.job import job
from probe.matching.matches import list_matches, of_bugs
from probe.matching.table import COLUMNS, match_rows
from probe.records import Bug, Finding, Judgement, Pair, iter_jsonl, read_jsonl
from probe.report.tables import write_csv

with job(snakemake.log[0]):
    bugs = read_jsonl(snakemake.input.bugs, Bug)
    matches = list_matches(
        iter_jsonl(snakemake.input.pairs, Pair),
        of_bugs(iter_jsonl(snakemake.input.judgements, Judgement), bugs),
    )
    rows = match_rows(matches, read_jsonl(snakemake.input.findings, Finding), bugs)
    write_csv(snakemake.output.matches, COLUMNS, rows)
