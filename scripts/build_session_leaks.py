"""Look for the time after T0 in the transcripts of a run."""

import logging
from pathlib import Path

from probe.isolation.scan import scan_run
from probe.isolation.unknown import learn
from probe.job import job
from probe.paths import mirror_beside
from probe.records import Candidate, History, PassResult, read_all, read_json, write_jsonl

with job(snakemake.log[0]):
    unknown = learn(
        mirror_beside(snakemake.input.history),
        read_json(snakemake.input.history, History),
        read_all(snakemake.input.candidates, Candidate),
        Path(snakemake.input.archive),
    )
    files = [Path(file) for file in snakemake.input.results]
    scan = scan_run([(file, read_json(file, PassResult)) for file in files], unknown)
    for leak in scan.leaks:
        logging.info("%s %s %s: %s", leak.weight, leak.kind, leak.where, leak.detail)
    logging.info("%d transcripts, %d hits", scan.transcripts, len(scan.leaks))
    write_jsonl(snakemake.output.leaks, scan.leaks)
