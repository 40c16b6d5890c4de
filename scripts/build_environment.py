"""Build a snapshot's environment and run the project's own tests in it."""

from pathlib import Path

from probe.config import load_config
from probe.environment.build import build_environment
from probe.environment.recipe import Recipe
from probe.job import job
from probe.records import read_json, write_json
from probe.records.store import write_text

with job(snakemake.log[0]):
    settings = load_config(snakemake.config, Path(snakemake.scriptdir).parent).settings
    environment, printed = build_environment(
        read_json(snakemake.input.recipe, Recipe),
        Path(snakemake.input.recipe).parent.parent,
        archive=Path(snakemake.input.archive),
        dockerfiles=[Path(file) for file in snakemake.input.dockerfiles],
        engine=settings.sandbox.engine,
        base_image=snakemake.params.base_image,
        test_s=snakemake.params.test_s,
        memory_mb=snakemake.params.memory_mb,
        cache=Path(settings.calls.folder) / "artifacts",
    )
    write_text(snakemake.output.tests, printed)
    write_json(snakemake.output.environment, environment)
