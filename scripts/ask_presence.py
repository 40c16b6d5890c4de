"""Say of every candidate of a block whether the snapshot had its defect."""

from pathlib import Path

from probe.agent import AgentLimits
from probe.config import HEURISTIC, load_config
from probe.job import job
from probe.models.client import Client, get_model
from probe.models.prompts import load_prompt
from probe.paths import mirror_beside
from probe.records import Candidate, History, read_json, read_jsonl, write_jsonl
from probe.reference.presence_model import Investigation, investigate_presences
from probe.reference.presences import judge_presences

with job(snakemake.log[0]):
    t0 = read_json(snakemake.input.history, History).t0
    mirror = mirror_beside(snakemake.input.history)
    candidates = read_jsonl(snakemake.input.candidates, Candidate)
    if snakemake.params.engine == HEURISTIC:
        presences = judge_presences(mirror, t0, candidates)
    else:
        benchmark = load_config(snakemake.config, Path(snakemake.scriptdir).parent)
        about = Investigation(
            mirror=mirror,
            archive=Path(snakemake.input.archive),
            t0=t0,
            prompt=load_prompt(Path(snakemake.input.prompt)),
            model=get_model(benchmark.models, snakemake.params.engine),
            engine=benchmark.settings.sandbox.engine,
            limits=AgentLimits(
                turns=snakemake.params.turns,
                working_s=snakemake.params.working_s,
                usd=snakemake.params.usd,
                command_s=snakemake.params.command_s,
            ),
            # beside the declared output, which Snakemake removes before a job runs
            transcripts=Path(snakemake.output.presence).parent / "transcripts/presence",
            purpose=f"presence {snakemake.wildcards.repo}/{snakemake.wildcards.block}",
            parallel=benchmark.settings.reference.presence.parallel,
        )
        with Client.from_settings(benchmark.settings) as client:
            presences = investigate_presences(candidates, about, client)
    write_jsonl(snakemake.output.presence, presences)
