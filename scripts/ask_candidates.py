"""Extract the bugs of a block's fix commits, and find their places in the snapshot."""

from probe.code.paths import SourceScope
from probe.job import job
from probe.paths import mirror_beside
from probe.records import Classification, Commit, History, iter_jsonl, read_json, write_jsonl
from probe.reference.blocks import select_fixes
from probe.reference.candidates import build_candidates

with job(snakemake.log[0]):
    history = read_json(snakemake.input.history, History)
    fixes = select_fixes(
        iter_jsonl(snakemake.input.commits, Commit),
        iter_jsonl(snakemake.input.classifications, Classification),
    )
    candidates, left_out = build_candidates(
        mirror_beside(snakemake.input.history),
        history.t0,
        history.t1,
        fixes,
        SourceScope(**snakemake.params.scope),
    )
    write_jsonl(snakemake.output.candidates, candidates)
    write_jsonl(snakemake.output.left_out, left_out)
