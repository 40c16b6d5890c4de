"""Finders on the snapshot: one file a pass, then the run's findings.

Inputs: snapshot/{source.tar, files.jsonl, passes.jsonl}, for sessions what session.smk makes, prompts.
Outputs: {run}/passes/{part}.json, {run}/findings.jsonl, {run}/usage.csv, {run}/leaks.jsonl. Paper:
section 3. A finder is a module of probe.finders; adding one touches no rule.
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


rule run_agent:
    input:
        archive=ancient(rules.build_snapshot.output.archive),
        files=ancient(rules.build_files.output.files),
        passes=ancient("results/{repo}/snapshot/passes.jsonl"),
        environment=ancient(rules.build_environment.output.environment),
        context=context_of_run,
        briefs=briefs_of_run,
        prompt=session_prompt,
    output:
        result="results/{repo}/{run}/passes/{part}.json",
    log:
        "logs/run_agent/{repo}/{run}/{part}.log",
    wildcard_constraints:
        run=runs_of_kind("agent"),
    resources:
        llm_slots=1,
        mem_mb=session_memory,
    params:
        content_sha256=brief_sha256,
        settings=run_settings,
        model=run_model_settings,
    message:
        "Let {wildcards.run} audit {wildcards.repo}, pass {wildcards.part}"
    script:
        "../scripts/run_agent.py"


rule run_cli:
    input:
        archive=ancient(rules.build_snapshot.output.archive),
        files=ancient(rules.build_files.output.files),
        passes=ancient("results/{repo}/snapshot/passes.jsonl"),
        environment=ancient(rules.build_environment.output.environment),
        context=context_of_run,
        briefs=briefs_of_run,
        prompt=session_prompt,
    output:
        result="results/{repo}/{run}/passes/{part}.json",
    log:
        "logs/run_cli/{repo}/{run}/{part}.log",
    wildcard_constraints:
        run=runs_of_kind("cli"),
    resources:
        llm_slots=1,
        mem_mb=session_memory,
    params:
        content_sha256=brief_sha256,
        settings=run_settings,
        model=run_model_settings,
        version=agent_version,
    message:
        "Let {wildcards.run} audit {wildcards.repo}, pass {wildcards.part}"
    script:
        "../scripts/run_cli.py"


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


rule build_session_leaks:
    input:
        results=pass_results,
        archive=ancient(rules.build_snapshot.output.archive),
        commits=window_of_repo,
        candidates=candidates_of_blocks,
        history=ancient("results/{repo}/history.json"),
    output:
        leaks="results/{repo}/{run}/leaks.jsonl",
    log:
        "logs/build_session_leaks/{repo}/{run}.log",
    message:
        "Look for the future in the sessions of {wildcards.run} on {wildcards.repo}"
    script:
        "../scripts/build_session_leaks.py"
