"""Finders on the snapshot: one file a pass, then the run's findings.

Inputs: snapshot/{source.tar, files.jsonl, passes.jsonl}, prompts/find.j2. Outputs:
{run}/passes/{part}.json, {run}/findings.jsonl, {run}/usage.csv. Paper: section 3. A finder is a
module of probe.finders; adding one touches no rule.
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


rule ask_findings:
    input:
        archive=ancient(rules.build_snapshot.output.archive),
        files=ancient(rules.build_files.output.files),
        passes=plan_of_repo,
        prompt=prompt_file("find"),
    output:
        result="results/{repo}/{run}/passes/{part}.json",
    log:
        "logs/ask_findings/{repo}/{run}/{part}.log",
    wildcard_constraints:
        run=runs_of_kind("model"),
    resources:
        llm_slots=1,
    params:
        content_sha256=pass_sha256,
        settings=run_settings,
        model=run_model_settings,
    message:
        "Ask {wildcards.run} for the bugs of {wildcards.repo}, pass {wildcards.part}"
    script:
        "../scripts/ask_findings.py"


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
