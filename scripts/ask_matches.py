"""Judge the pairs of a run: resolving either one's root cause resolves the other."""

from probe.job import job
from probe.matching.decide import MatchSettings, judge_pairs
from probe.records import Pair, iter_jsonl, write_jsonl

with job(snakemake.log[0]):
    pairs = iter_jsonl(snakemake.input.pairs, Pair)
    settings = MatchSettings(**snakemake.params.decision)
    write_jsonl(snakemake.output.judgements, judge_pairs(pairs, settings))
