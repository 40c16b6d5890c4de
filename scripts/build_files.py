"""Describe every file of the snapshot and choose the audited ones."""

from pathlib import Path

from probe.code.paths import SourceScope
from probe.job import job
from probe.records import SnapshotInfo, read_json, write_jsonl
from probe.snapshot.files import FileLimits, list_files

with job(snakemake.log[0]):
    files = list_files(
        Path(snakemake.input.archive),
        read_json(snakemake.input.commit, SnapshotInfo),
        SourceScope(**snakemake.params.scope),
        frozenset(snakemake.params.languages),
        FileLimits(snakemake.params.max_bytes, snakemake.params.minified_mean_line),
    )
    write_jsonl(snakemake.output.files, files)
