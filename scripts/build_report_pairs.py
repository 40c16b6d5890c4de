"""Keep the pairs of reports that look alike, or whose fixes share lines."""

from probe.job import job
from probe.records import Candidate, Report, read_all, write_jsonl
from probe.reference.deduplicate import pair_reports
from probe.similarity.filter import Thresholds

with job(snakemake.log[0]):
    pairs = pair_reports(
        read_all(snakemake.input.reports, Report),
        read_all(snakemake.input.candidates, Candidate),
        Thresholds(**snakemake.params.thresholds),
    )
    write_jsonl(snakemake.output.pairs, pairs)
