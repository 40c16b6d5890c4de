"""Apply the errata and seal the reference set: its records, its table, its version and hash."""

from probe.config import ERRATA, Erratum
from probe.job import job
from probe.paths import mirror_beside
from probe.records import (
    Bug,
    History,
    file_sha256,
    read_json,
    read_jsonl,
    write_json,
    write_jsonl,
)
from probe.reference.listing import BUG_COLUMNS, bug_rows
from probe.reference.sealed import apply_errata, reference_info
from probe.report.tables import write_csv

with job(snakemake.log[0]):
    history = read_json(snakemake.input.history, History)
    sealed = apply_errata(
        mirror_beside(snakemake.input.history),
        history.t0,
        read_jsonl(snakemake.input.merged, Bug),
        [Erratum.model_validate(row) for row in snakemake.params.errata],
        shown=snakemake.config.get("errata", ERRATA),
    )
    write_jsonl(snakemake.output.bugs, sealed.bugs)
    write_csv(snakemake.output.table, BUG_COLUMNS, bug_rows(sealed.bugs))
    info = reference_info(
        history, sealed, snakemake.params.version, file_sha256(snakemake.output.bugs)
    )
    write_json(snakemake.output.info, info)
