"""Compute the cell's row, and keep what it was configured with beside it."""

from pathlib import Path

from probe.git.ancestry import checkout_revision
from probe.job import job
from probe.records import (
    Bug,
    CellMetrics,
    Finding,
    Judgement,
    PassResult,
    ReferenceInfo,
    SessionLeak,
    SnapshotFile,
    iter_jsonl,
    read_json,
    read_jsonl,
    write_text,
)
from probe.reference.funnel import count_unjudged
from probe.report.tables import write_records_csv
from probe.statistics.cell import compute_cell
from probe.statistics.identity import identify_cell

with job(snakemake.log[0]):
    results = [read_json(path, PassResult) for path in snakemake.input.results]
    identity, config_text = identify_cell(
        snakemake.params.cell,
        results,
        read_json(snakemake.input.reference, ReferenceInfo),
        checkout_revision(Path(snakemake.scriptdir)),
    )
    leaks = snakemake.input.get("leaks")
    cell = compute_cell(
        identity,
        bugs=read_jsonl(snakemake.input.bugs, Bug),
        findings=read_jsonl(snakemake.input.findings, Finding),
        judgements=iter_jsonl(snakemake.input.judgements, Judgement),
        results=results,
        unjudged_reference=count_unjudged(snakemake.input.funnel),
        leaks=read_jsonl(leaks, SessionLeak) if leaks else None,
        files_audited=sum(f.audited for f in iter_jsonl(snakemake.input.files, SnapshotFile)),
    )
    write_text(snakemake.output.config, config_text)
    write_records_csv(snakemake.output.metrics, CellMetrics, [cell])
