"""Let an agent audit one pass in a sandbox."""

from dataclasses import replace
from pathlib import Path

from probe.config import load_config
from probe.finders.run import run_session
from probe.finders.session import session_of_files
from probe.job import job
from probe.models.client import Client
from probe.records import write_json

with job(snakemake.log[0]):
    benchmark = load_config(snakemake.config, Path(snakemake.scriptdir).parent)
    session = session_of_files(
        benchmark,
        snakemake.params.settings["model"],
        archive=Path(snakemake.input.archive),
        environment=Path(snakemake.input.environment),
        context=snakemake.input.get("context"),
        prompt=Path(snakemake.input.prompt),
        result=Path(snakemake.output.result),
        content_sha256=snakemake.params.content_sha256,
    )
    with Client.from_settings(benchmark.settings) as client:
        result = run_session(
            snakemake.wildcards.repo,
            snakemake.wildcards.run,
            snakemake.params.settings,
            snakemake.wildcards.part,
            files=Path(snakemake.input.files),
            passes=Path(snakemake.input.passes),
            session=replace(session, caller=client),
        )
    write_json(snakemake.output.result, result)
