"""Tables over all configured cells, and how a build ends.

Inputs: {repo}/{run}.metrics.csv; for the estimate, what `prepare` builds. Outputs: metrics.csv,
estimate.csv.
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


rule table_estimate:
    input:
        prepared_files(),
        **estimated_prompts(),
    output:
        estimate="results/estimate.csv",
    log:
        "logs/table_estimate/estimate.log",
    params:
        cells=estimated_cells,
        # what has been bought since costs nothing any more
        bought=lambda w: paths.size_of(f"{benchmark.settings.calls.folder}/ledger.jsonl"),
    message:
        "Estimate what the models of all cells will cost"
    script:
        "../scripts/table_estimate.py"


onstart:
    results.mark(Path("results"))


onsuccess:
    print(summary.success_text(Path("."), request.cells, started))


onerror:
    print(summary.failure_text(Path("."), request.cells, started, sys.argv))
