"""Merge the reports into the reference set, and list it for people."""

import logging

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
)
from probe.reference.assemble import merge_bugs
from probe.reference.listing import BUG_COLUMNS, bug_rows
from probe.report.tables import write_csv

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
    for names in merged.oversized:
        logging.warning("too many to merge blindly, look by hand: %s", " ".join(names))
    write_jsonl(snakemake.output.bugs, merged.bugs)
    write_jsonl(snakemake.output.taken_back, merged.left_out)
    write_csv(snakemake.output.table, BUG_COLUMNS, bug_rows(merged.bugs))
