"""Let a command-line agent audit one pass in a sandbox, through the gateway."""

from pathlib import Path

from probe.config import load_config
from probe.finders.cli import open_ledger
from probe.finders.cli_install import install_agents
from probe.finders.run import run_session
from probe.finders.session import Session
from probe.job import job
from probe.models.client import get_model
from probe.models.prompts import load_prompt
from probe.records import Environment, read_json, write_json

with job(snakemake.log[0]):
    root = Path(snakemake.scriptdir).parent
    benchmark = load_config(snakemake.config, root)
    settings = snakemake.params.settings
    environment = Path(snakemake.input.environment)
    context = snakemake.input.get("context")
    session = Session(
        archive=Path(snakemake.input.archive),
        environment=read_json(environment, Environment),
        folder=environment.parent.parent,
        project=Path(context).read_text(encoding="utf-8") if context else "",
        content_sha256=snakemake.params.content_sha256,
        engine=benchmark.settings.sandbox.engine,
        model=get_model(benchmark.models, settings["model"]),
        prompt=load_prompt(Path(snakemake.input.prompt)),
        # beside the declared outputs, which Snakemake removes before a job runs
        transcripts=Path(snakemake.output.result).parent.parent / "transcripts",
        ledger=open_ledger(benchmark.settings),
        agents=install_agents(root / "envs/agents", Path(benchmark.settings.calls.folder)),
    )
    result = run_session(
        snakemake.wildcards.repo,
        snakemake.wildcards.run,
        settings,
        snakemake.wildcards.part,
        files=Path(snakemake.input.files),
        passes=Path(snakemake.input.passes),
        session=session,
    )
    write_json(snakemake.output.result, result)
