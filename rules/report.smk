"""Tables over all configured cells, and how a build ends.

Inputs: {repo}/{run}.metrics.csv. Outputs: metrics.csv.
"""


rule table_metrics:
    input:
        cells=cell_files(),
    output:
        metrics=report(
            "results/metrics.csv",
            category="Metrics",
            caption="../docs/captions/metrics.rst",
        ),
    log:
        "logs/table_metrics/metrics.log",
    message:
        "Gather the metrics of all cells"
    script:
        "../scripts/table_metrics.py"


onstart:
    results.mark(Path("results"))


onsuccess:
    print(summary.success_text(Path("."), request.cells, started))


onerror:
    print(summary.failure_text(Path("."), request.cells, started, sys.argv))
