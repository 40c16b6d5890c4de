"""Say of every candidate of a block whether the snapshot had its defect."""

from probe.job import job
from probe.paths import mirror_beside
from probe.records import Candidate, History, read_json, read_jsonl, write_jsonl
from probe.reference.presences import judge_presences

with job(snakemake.log[0]):
    history = read_json(snakemake.input.history, History)
    presences = judge_presences(
        mirror_beside(snakemake.input.history),
        history.t0,
        read_jsonl(snakemake.input.candidates, Candidate),
    )
    write_jsonl(snakemake.output.presence, presences)
