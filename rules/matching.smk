"""Matching findings with reference bugs, many to many, and the cell's figures.

Inputs: {run}/findings.jsonl, reference/{merged.jsonl, bugs.jsonl}. Outputs: {run}/{pairs.jsonl,
judgements.jsonl, matches.csv, config.json}, {run}.metrics.csv. Paper: section 2.3 and appendix A.4.

Pairs are made of the bugs as merged, figures of the bugs after the errata: an erratum changes
figures and asks nothing anew.
"""


rule build_finding_pairs:
    input:
        findings=rules.build_findings.output.findings,
        bugs=rules.build_merged.output.merged,
    output:
        pairs="results/{repo}/{run}/pairs.jsonl",
    log:
        "logs/build_finding_pairs/{repo}/{run}.log",
    params:
        thresholds=benchmark.settings.matching.thresholds.model_dump(),
    message:
        "Pair the findings of {wildcards.run} with the bugs of {wildcards.repo}"
    script:
        "../scripts/build_finding_pairs.py"


rule ask_matches:
    input:
        pairs=rules.build_finding_pairs.output.pairs,
    output:
        judgements="results/{repo}/{run}/judgements.jsonl",
    log:
        "logs/ask_matches/{repo}/{run}.log",
    params:
        engine=benchmark.settings.matching.engine,
        decision=benchmark.settings.matching.decision.model_dump(),
    message:
        "Judge the pairs of {wildcards.run} on {wildcards.repo}"
    script:
        "../scripts/ask_matches.py"


rule table_matches:
    input:
        judgements=rules.ask_matches.output.judgements,
        pairs=rules.build_finding_pairs.output.pairs,
        findings=rules.build_findings.output.findings,
        bugs=rules.build_bugs.output.bugs,
    output:
        matches="results/{repo}/{run}/matches.csv",
    log:
        "logs/table_matches/{repo}/{run}.log",
    message:
        "List the matches of {wildcards.run} on {wildcards.repo}"
    script:
        "../scripts/table_matches.py"


rule compute_metrics:
    input:
        judgements=rules.ask_matches.output.judgements,
        matches=rules.table_matches.output.matches,
        results=pass_results,
        findings=rules.build_findings.output.findings,
        usage=rules.build_findings.output.usage,
        leaks=session_leaks,
        bugs=rules.build_bugs.output.bugs,
        reference=rules.build_bugs.output.info,
        funnel=rules.table_funnel.output.funnel,
        files=rules.build_files.output.files,
        history=ancient("results/{repo}/history.json"),
    output:
        metrics="results/{repo}/{run}.metrics.csv",
        config="results/{repo}/{run}/config.json",
    log:
        "logs/compute_metrics/{repo}/{run}.log",
    params:
        cell=cell_config,
    message:
        "Compute the cell {wildcards.repo} / {wildcards.run}"
    script:
        "../scripts/compute_metrics.py"
