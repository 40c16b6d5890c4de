"""Write up the candidates of a block that the snapshot had."""

from pathlib import Path

from probe.config import HEURISTIC, load_config
from probe.job import job
from probe.models.client import Client, get_model
from probe.models.prompts import load_prompt
from probe.paths import mirror_beside
from probe.records import Candidate, History, Presence, iter_jsonl, read_json, write_jsonl
from probe.reference.reports import ask_reports, write_reports
from probe.reference.synthesize_model import Budgets

with job(snakemake.log[0]):
    items = (
        mirror_beside(snakemake.input.history),
        read_json(snakemake.input.history, History).t0,
        iter_jsonl(snakemake.input.candidates, Candidate),
        iter_jsonl(snakemake.input.presence, Presence),
    )
    if snakemake.params.engine == HEURISTIC:
        reports, unwritten = write_reports(*items)
    else:
        benchmark = load_config(snakemake.config, Path(snakemake.scriptdir).parent)
        with Client.from_settings(benchmark.settings, progress=True) as client:
            reports, unwritten = ask_reports(
                *items,
                load_prompt(Path(snakemake.input.prompt)),
                client,
                get_model(benchmark.models, snakemake.params.engine),
                Budgets(snakemake.params.diff_tokens, snakemake.params.file_tokens),
                purpose=f"synthesize {snakemake.wildcards.repo}/{snakemake.wildcards.block}",
            )
    write_jsonl(snakemake.output.reports, reports)
    write_jsonl(snakemake.output.unwritten, unwritten)
