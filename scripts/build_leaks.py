"""Prove that a snapshot, as finders will see it, knows nothing of the time after T0."""

import logging
from pathlib import Path

from probe.environment.override import read_override
from probe.isolation.audit import Snapshot, audit_snapshot
from probe.job import job
from probe.paths import mirror_beside
from probe.records import Environment, SnapshotInfo, read_json, write_json

with job(snakemake.log[0]):
    history = Path(snakemake.input.history)
    about = Snapshot(
        archive=Path(snakemake.input.archive),
        info=read_json(snakemake.input.commit, SnapshotInfo),
        mirror=mirror_beside(history),
        environment=read_json(snakemake.input.environment, Environment),
        folder=history.parent,
    )
    override = read_override(snakemake.input.get("override") or ())
    report = audit_snapshot(about, override, engine=snakemake.params.engine)
    for leak in report.accepted:
        logging.warning("%s %s: %s", leak.kind, leak.where, leak.detail)
    write_json(snakemake.output.leaks, report)
