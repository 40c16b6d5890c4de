"""Archive the tree at T0."""

from pathlib import Path

from probe.git.archive import build_archive
from probe.job import job
from probe.paths import mirror_beside
from probe.records import History, read_json, write_json

with job(snakemake.log[0]):
    history = read_json(snakemake.input.history, History)
    mirror = mirror_beside(snakemake.input.history)
    info = build_archive(mirror, history.t0, Path(snakemake.output.archive), repo=history.repo)
    write_json(snakemake.output.commit, info)
