"""PROBE: how well finders discover the bugs that maintainers go on to fix.

snakemake                                     every configured cell, results/metrics.csv
snakemake results/sqlglot/ruff.metrics.csv    one cell
snakemake prepare                             mirrors, snapshots, windows, plans, environments
snakemake reference                           the reference sets only
snakemake --configfile config/demo.yaml       the bundled repository (`make demo`)
"""

from snakemake.utils import min_version

min_version("9.0")


if not workflow.config_settings.configfiles:

    configfile: f"{workflow.basedir}/config/config.yaml"


include: "rules/common.smk"
include: "rules/inputs.smk"
include: "rules/snapshot.smk"
include: "rules/reference.smk"
include: "rules/session.smk"
include: "rules/finding.smk"
include: "rules/matching.smk"
include: "rules/report.smk"


rule all:
    default_target: True
    input:
        "results/metrics.csv",
        agreement_tables(),


rule prepare:
    input:
        expand("results/{repo}/snapshot/passes.jsonl", repo=benchmark.settings.repositories),
        expand("results/{repo}/reference/commits.jsonl", repo=benchmark.settings.repositories),
        prepared_sessions(),


rule reference:
    input:
        expand("results/{repo}/reference/bugs.jsonl", repo=benchmark.settings.repositories),
        expand("results/{repo}/reference/funnel.csv", repo=benchmark.settings.repositories),
