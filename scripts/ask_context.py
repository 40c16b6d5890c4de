"""Describe the project of a snapshot, for finders and for the panel."""

from pathlib import Path

from probe.agent import AgentLimits
from probe.config import HEURISTIC, load_config
from probe.context.listing import listing
from probe.context.make import agent_context, heuristic_context
from probe.context.sources import Sources
from probe.context.writer import Writing
from probe.job import job
from probe.models.client import Client, get_model
from probe.models.prompts import load_prompt
from probe.records import CallEdge, SnapshotFile, iter_jsonl, read_jsonl, write_json, write_text

TRANSCRIPT = "transcripts/context.jsonl"

with job(snakemake.log[0]):
    sources = Sources(
        Path(snakemake.input.archive), iter_jsonl(snakemake.input.files, SnapshotFile)
    )
    edges = read_jsonl(snakemake.input.callgraph, CallEdge)
    if snakemake.params.engine == HEURISTIC:
        context = heuristic_context(sources, edges, snakemake.params.tokens)
    else:
        benchmark = load_config(snakemake.config, Path(snakemake.scriptdir).parent)
        about = Writing(
            sources=sources,
            listing=listing(sources, edges),
            prompt=load_prompt(Path(snakemake.input.prompt)),
            model=get_model(benchmark.models, snakemake.params.engine),
            engine=benchmark.settings.sandbox.engine,
            limits=AgentLimits(
                turns=snakemake.params.turns,
                working_s=snakemake.params.working_s,
                usd=snakemake.params.usd,
                command_s=snakemake.params.command_s,
            ),
            tokens=snakemake.params.tokens,
            # beside the declared outputs, which Snakemake removes before a job runs
            transcript=Path(snakemake.output.info).parent / TRANSCRIPT,
            purpose=f"context {snakemake.wildcards.repo}",
        )
        with Client.from_settings(benchmark.settings) as client:
            context = agent_context(about, TRANSCRIPT, client)
    write_text(snakemake.output.document, context.document)
    write_text(snakemake.output.panel, context.panel)
    write_json(snakemake.output.info, context.info)
