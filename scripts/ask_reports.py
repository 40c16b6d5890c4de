"""Write up the candidates of a block that the snapshot had."""

from probe.job import job
from probe.paths import mirror_beside
from probe.records import Candidate, History, Presence, iter_jsonl, read_json, write_jsonl
from probe.reference.reports import write_reports

with job(snakemake.log[0]):
    reports, unwritten = write_reports(
        mirror_beside(snakemake.input.history),
        read_json(snakemake.input.history, History).t0,
        iter_jsonl(snakemake.input.candidates, Candidate),
        iter_jsonl(snakemake.input.presence, Presence),
    )
    write_jsonl(snakemake.output.reports, reports)
    write_jsonl(snakemake.output.unwritten, unwritten)
