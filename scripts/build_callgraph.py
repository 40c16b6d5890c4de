"""Find the calls between the units of the snapshot's sources."""

from pathlib import Path

from probe.job import job
from probe.records import SnapshotFile, iter_jsonl, write_jsonl
from probe.snapshot.calls import snapshot_callgraph

with job(snakemake.log[0]):
    graph = snapshot_callgraph(
        Path(snakemake.input.archive), iter_jsonl(snakemake.input.files, SnapshotFile)
    )
    write_jsonl(snakemake.output.parsing, graph.parsing)
    write_jsonl(snakemake.output.edges, graph.edges)
