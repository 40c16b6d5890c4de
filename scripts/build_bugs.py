"""Apply the errata and seal the reference set: its records, its table, its version and hash."""

from probe.job import job
from probe.records import Bug, History, read_json, read_jsonl, write_json, write_jsonl
from probe.reference.listing import BUG_COLUMNS, bug_rows
from probe.reference.sealed import seal
from probe.report.tables import write_csv

with job(snakemake.log[0]):
    sealed = seal(
        read_json(snakemake.input.history, History),
        read_jsonl(snakemake.input.merged, Bug),
        snakemake.params.errata,
        snakemake.params.version,
    )
    write_jsonl(snakemake.output.bugs, sealed.bugs)
    write_csv(snakemake.output.table, BUG_COLUMNS, bug_rows(sealed.bugs))
    write_json(snakemake.output.info, sealed.info)
