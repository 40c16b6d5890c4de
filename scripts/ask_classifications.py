"""Say of every commit of a block whether some part of it corrects wrong behaviour."""

from probe.code.paths import SourceScope
from probe.git.log import iter_diffs
from probe.job import job
from probe.paths import mirror_beside
from probe.records import Commit, iter_jsonl, read_json, write_jsonl
from probe.reference.blocks import commits_of_block
from probe.reference.classify import classify_window
from probe.reference.habits import Habits

with job(snakemake.log[0]):
    mirror = mirror_beside(snakemake.input.history)
    block = commits_of_block(
        iter_jsonl(snakemake.input.commits, Commit),
        snakemake.wildcards.block,
        snakemake.params.block_size,
    )
    classifications = classify_window(
        block,
        iter_diffs(mirror, [commit.sha for commit in block]),
        SourceScope(**snakemake.params.scope),
        read_json(snakemake.input.habits, Habits),
    )
    write_jsonl(snakemake.output.classifications, classifications)
