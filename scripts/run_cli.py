"""Let a command-line agent audit one pass in a sandbox, through the gateway."""

from dataclasses import replace
from pathlib import Path

from probe.config import load_config
from probe.finders.cli import open_ledger
from probe.finders.cli_install import install_agents
from probe.finders.run import run_session
from probe.finders.session import session_of_files
from probe.job import job
from probe.records import write_json

with job(snakemake.log[0]):
    root = Path(snakemake.scriptdir).parent
    benchmark = load_config(snakemake.config, root)
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
    agents = install_agents(root / "envs/agents", Path(benchmark.settings.calls.folder))
    result = run_session(
        snakemake.wildcards.repo,
        snakemake.wildcards.run,
        snakemake.params.settings,
        snakemake.wildcards.part,
        files=Path(snakemake.input.files),
        passes=Path(snakemake.input.passes),
        session=replace(session, ledger=open_ledger(benchmark.settings), agents=agents),
    )
    write_json(snakemake.output.result, result)
