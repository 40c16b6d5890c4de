"""Prove that a snapshot, as finders will see it, knows nothing of the time after T0."""

import logging
from pathlib import Path

from probe.config import load_config
from probe.environment.override import read_override
from probe.isolation.audit import Snapshot, audit_snapshot
from probe.job import job
from probe.paths import mirror_beside
from probe.records import Environment, SnapshotInfo, read_json, write_json

with job(snakemake.log[0]):
    benchmark = load_config(snakemake.config, Path(snakemake.scriptdir).parent)
    folder = Path(snakemake.input.commit).parent.parent
    about = Snapshot(
        archive=Path(snakemake.input.archive),
        info=read_json(snakemake.input.commit, SnapshotInfo),
        mirror=mirror_beside(folder / "history.json"),
        environment=read_json(snakemake.input.environment, Environment),
        folder=folder,
    )
    override = read_override(snakemake.input.get("override") or ())
    report = audit_snapshot(about, override, engine=benchmark.settings.sandbox.engine)
    for leak in report.accepted:
        logging.warning("%s %s: %s", leak.kind, leak.where, leak.detail)
    write_json(snakemake.output.leaks, report)
