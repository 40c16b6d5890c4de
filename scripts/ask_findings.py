"""Ask a model for the bugs of one pass."""

from pathlib import Path

from probe.config import load_config
from probe.finders.run import run_pass
from probe.job import job
from probe.models.client import Client, get_model
from probe.models.prompts import load_prompt
from probe.records import write_json

with job(snakemake.log[0]):
    benchmark = load_config(snakemake.config, Path(snakemake.scriptdir).parent)
    with Client.from_settings(benchmark.settings) as client:
        result = run_pass(
            snakemake.wildcards.repo,
            snakemake.wildcards.run,
            snakemake.params.settings,
            snakemake.wildcards.part,
            archive=Path(snakemake.input.archive),
            files=Path(snakemake.input.files),
            passes=Path(snakemake.input.passes),
            prompt=load_prompt(Path(snakemake.input.prompt)),
            asker=client,
            model=get_model(benchmark.models, snakemake.params.settings["model"]),
        )
    write_json(snakemake.output.result, result)
