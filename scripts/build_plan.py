"""Group the audited files into passes."""

from probe.config.settings import PlanSettings
from probe.job import job
from probe.records import CallEdge, SnapshotFile, iter_jsonl, write_jsonl
from probe.report.tables import write_csv
from probe.snapshot.plan import build_plan
from probe.snapshot.plan_table import PLAN_COLUMNS, plan_rows

with job(snakemake.log[0]):
    settings = PlanSettings(**dict(snakemake.params.items()))
    passes = build_plan(
        iter_jsonl(snakemake.input.files, SnapshotFile),
        iter_jsonl(snakemake.input.callgraph, CallEdge),
        settings,
    )
    write_jsonl(snakemake.output.passes, passes)
    write_csv(snakemake.output.table, PLAN_COLUMNS, plan_rows(passes, settings.token_budget))
