"""Read all window commits in one pass, and cut the window into blocks."""

from probe.git.log import iter_window
from probe.job import job
from probe.paths import mirror_beside
from probe.records import History, read_json, write_jsonl, write_text
from probe.reference.blocks import blocks_table

with job(snakemake.log[0]):
    history = read_json(snakemake.input.history, History)
    mirror = mirror_beside(snakemake.input.history)
    commits = list(iter_window(mirror, history.t0, history.t1))
    write_jsonl(snakemake.output.commits, commits)
    write_text(snakemake.output.blocks, blocks_table(commits, snakemake.params.block_size))
