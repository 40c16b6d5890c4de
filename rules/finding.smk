"""Finders on the snapshot: one file a pass, then the run's findings.

Inputs: snapshot/{source.tar, files.jsonl}. Outputs: {run}/passes/{pass}.json, {run}/findings.jsonl,
{run}/usage.csv. Paper: section 3. A finder is a module of probe.finders; adding one touches no rule.
"""


rule run_analyzer:
    input:
        archive=rules.build_snapshot.output.archive,
        files=rules.build_files.output.files,
    output:
        result="results/{repo}/{run}/passes/all.json",
    log:
        "logs/run_analyzer/{repo}/{run}.log",
    wildcard_constraints:
        run=runs_of_kind("analyzer"),
    params:
        settings=run_settings,
    message:
        "Run {wildcards.run} on the snapshot of {wildcards.repo}"
    script:
        "../scripts/run_analyzer.py"


rule build_import:
    input:
        archive=rules.build_snapshot.output.archive,
        files=rules.build_files.output.files,
        sarif=sarif_file,
    output:
        result="results/{repo}/{run}/passes/all.json",
    log:
        "logs/build_import/{repo}/{run}.log",
    wildcard_constraints:
        run=runs_of_kind("sarif"),
    params:
        settings=run_settings,
    message:
        "Import the SARIF report of {wildcards.run} for {wildcards.repo}"
    script:
        "../scripts/build_import.py"


rule build_findings:
    input:
        results=pass_results,
    output:
        findings="results/{repo}/{run}/findings.jsonl",
        usage="results/{repo}/{run}/usage.csv",
    log:
        "logs/build_findings/{repo}/{run}.log",
    message:
        "Gather the findings of {wildcards.run} on {wildcards.repo}"
    script:
        "../scripts/build_findings.py"
