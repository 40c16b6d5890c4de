"""Judge which reports describe one defect: the same root cause, strictly."""

from pathlib import Path

from probe.config import HEURISTIC, load_config
from probe.job import job
from probe.models.client import Client, get_model
from probe.models.prompts import load_prompt
from probe.records import Candidate, Pair, Report, iter_jsonl, read_all, write_jsonl
from probe.reference.deduplicate import judge_duplicates
from probe.reference.deduplicate_model import judge_with_model

with job(snakemake.log[0]):
    pairs = iter_jsonl(snakemake.input.pairs, Pair)
    candidates = read_all(snakemake.input.candidates, Candidate)
    if snakemake.params.engine == HEURISTIC:
        judgements = judge_duplicates(pairs, candidates)
    else:
        benchmark = load_config(snakemake.config, Path(snakemake.scriptdir).parent)
        with Client.from_settings(benchmark.settings, progress=True) as client:
            judgements = judge_with_model(
                pairs,
                read_all(snakemake.input.reports, Report),
                candidates,
                load_prompt(Path(snakemake.input.prompt)),
                client,
                get_model(benchmark.models, snakemake.params.engine),
                purpose=f"deduplicate {snakemake.wildcards.repo}",
            )
    write_jsonl(snakemake.output.duplicates, judgements)
