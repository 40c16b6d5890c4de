"""Mirror a repository and pin T0 and T1 by commit."""

from probe.git.mirror import fetch_mirror, forget_mirror
from probe.job import job
from probe.paths import mirror_beside, neighbour_mirrors
from probe.records import write_json

with job(snakemake.log[0]):
    mirror = mirror_beside(snakemake.output.history)
    if snakemake.input:
        forget_mirror(mirror)  # the bundled series was rebuilt
    history = fetch_mirror(
        snakemake.params.url,
        mirror,
        t0=snakemake.params.t0,
        t1=snakemake.params.t1,
        branch=snakemake.params.branch,
        repo=snakemake.wildcards.repo,
        neighbours=neighbour_mirrors(snakemake.output.history),
    )
    write_json(snakemake.output.history, history)
