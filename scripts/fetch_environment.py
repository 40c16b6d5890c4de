"""Resolve and download what a snapshot needs as of T0."""

from pathlib import Path

from probe.config import load_config
from probe.environment.fetch import Place, fetch_environment, package_table
from probe.environment.override import read_override
from probe.job import job
from probe.records import SnapshotInfo, read_json, write_json
from probe.records.store import write_text

with job(snakemake.log[0]):
    settings = load_config(snakemake.config, Path(snakemake.scriptdir).parent).settings
    override = read_override(snakemake.input.get("override", []))
    recipe = fetch_environment(
        read_json(snakemake.input.commit, SnapshotInfo),
        Path(snakemake.input.archive),
        snakemake.params.languages,
        override,
        Place(
            # beside the declared outputs, which Snakemake removes before a job runs
            artifacts=Path(snakemake.output.recipe).parent / "artifacts",
            cache=Path(settings.calls.folder) / "artifacts",
            engine=settings.sandbox.engine,
            base_image=snakemake.params.base_image,
        ),
        build=snakemake.params.build,
    )
    write_text(snakemake.output.packages, package_table(recipe, override.late))
    write_json(snakemake.output.recipe, recipe)
