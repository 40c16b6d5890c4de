"""Say of every commit of a block whether some part of it corrects wrong behaviour."""

from pathlib import Path

from probe.code.paths import SourceScope
from probe.config import HEURISTIC, load_config
from probe.git.log import iter_diffs
from probe.job import job
from probe.models.client import Client, get_model
from probe.models.prompts import load_prompt
from probe.paths import mirror_beside
from probe.records import Commit, iter_jsonl, read_json, write_jsonl
from probe.reference.blocks import commits_of_block
from probe.reference.classify import classify_window
from probe.reference.classify_model import classify_with_model
from probe.reference.habits import Habits

with job(snakemake.log[0]):
    block = commits_of_block(
        iter_jsonl(snakemake.input.commits, Commit),
        snakemake.wildcards.block,
        snakemake.params.block_size,
    )
    mirror = mirror_beside(snakemake.input.history)
    diffs = iter_diffs(mirror, [commit.sha for commit in block])
    if snakemake.params.engine == HEURISTIC:
        habits = read_json(snakemake.input.habits, Habits)
        scope = SourceScope(**snakemake.params.scope)
        classifications = classify_window(block, diffs, scope, habits)
    else:
        benchmark = load_config(snakemake.config, Path(snakemake.scriptdir).parent)
        with Client.from_settings(benchmark.settings, progress=True) as client:
            classifications = classify_with_model(
                block,
                diffs,
                load_prompt(Path(snakemake.input.prompt)),
                client,
                get_model(benchmark.models, snakemake.params.engine),
                diff_tokens=snakemake.params.diff_tokens,
                purpose=f"classify {snakemake.wildcards.repo}/{snakemake.wildcards.block}",
            )
    write_jsonl(snakemake.output.classifications, classifications)
