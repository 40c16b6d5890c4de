"""Extract the bugs of a block's fix commits, and find their places in the snapshot."""

from pathlib import Path

from probe.code.paths import SourceScope
from probe.config import HEURISTIC, load_config
from probe.job import job
from probe.models.client import Client, get_model
from probe.models.prompts import load_prompt
from probe.paths import mirror_beside
from probe.records import Classification, Commit, History, iter_jsonl, read_json, write_jsonl
from probe.reference.blocks import select_fixes
from probe.reference.candidates import build_candidates, heuristic_extractor, model_extractor
from probe.reference.extract_model import Budgets

with job(snakemake.log[0]):
    history = read_json(snakemake.input.history, History)
    fixes = select_fixes(
        iter_jsonl(snakemake.input.commits, Commit),
        iter_jsonl(snakemake.input.classifications, Classification),
    )
    window = (mirror_beside(snakemake.input.history), history.t0, history.t1, fixes)
    scope = SourceScope(**snakemake.params.scope)
    if snakemake.params.engine == HEURISTIC:
        extractor = heuristic_extractor(scope)
    else:
        benchmark = load_config(snakemake.config, Path(snakemake.scriptdir).parent)
        with Client.from_settings(benchmark.settings, progress=True) as client:
            extractor = model_extractor(
                *window,
                scope,
                load_prompt(Path(snakemake.input.prompt)),
                client,
                get_model(benchmark.models, snakemake.params.engine),
                Budgets(snakemake.params.diff_tokens, snakemake.params.file_tokens),
                purpose=f"extract {snakemake.wildcards.repo}/{snakemake.wildcards.block}",
            )
    candidates, left_out = build_candidates(*window, scope, extractor)
    write_jsonl(snakemake.output.candidates, candidates)
    write_jsonl(snakemake.output.left_out, left_out)
