"""From an inventory line to the snapshot and its plan.

Inputs: the inventory. Outputs: history.json (pins), snapshot/{commit.json, source.tar, files.jsonl,
callgraph.jsonl, parsing.jsonl, passes.jsonl, plan.csv}. Paper: section 2.1 (snapshot), section 3 and
appendix B (plan).

The mirror results/{repo}/history.git is no output: Snakemake would delete it before every fetch.
What depends on it depends on the small history.json, which pins T0 and T1 by commit.
"""


rule build_series:
    input:
        manifest=lambda w: f"{series_folder(w.repo)}/series.tsv",
        patches=lambda w: series_patches(w.repo),
    output:
        git=directory("results/{repo}/series.git"),
        head="results/{repo}/series.head",
    log:
        "logs/build_series/{repo}.log",
    message:
        "Rebuild the bundled history of {wildcards.repo}"
    script:
        "../scripts/build_series.py"


rule fetch_history:
    input:
        series_head,
    output:
        history="results/{repo}/history.json",
    log:
        "logs/fetch_history/{repo}.log",
    params:
        url=lambda w: source_url(w.repo),
        branch=lambda w: repository(w.repo).branch,
        t0=lambda w: repository(w.repo).t0,
        t1=lambda w: repository(w.repo).t1,
    message:
        "Mirror {wildcards.repo} and pin its snapshot and window"
    script:
        "../scripts/fetch_history.py"


rule build_snapshot:
    input:
        history=ancient("results/{repo}/history.json"),
    output:
        archive="results/{repo}/snapshot/source.tar",
        commit="results/{repo}/snapshot/commit.json",
    log:
        "logs/build_snapshot/{repo}.log",
    params:
        # a later T1 rewrites history.json but leaves the snapshot as it is
        url=lambda w: source_url(w.repo),
        t0=lambda w: repository(w.repo).t0,
    message:
        "Archive the snapshot of {wildcards.repo}"
    script:
        "../scripts/build_snapshot.py"


rule build_files:
    input:
        archive=rules.build_snapshot.output.archive,
        commit=rules.build_snapshot.output.commit,
    output:
        files="results/{repo}/snapshot/files.jsonl",
    log:
        "logs/build_files/{repo}.log",
    params:
        scope=scope_globs,
        languages=lambda w: list(repository(w.repo).languages),
        max_bytes=benchmark.settings.snapshot.max_bytes,
        minified_mean_line=benchmark.settings.snapshot.minified_mean_line,
    message:
        "Choose the audited files of {wildcards.repo}"
    script:
        "../scripts/build_files.py"


rule build_callgraph:
    input:
        archive=rules.build_snapshot.output.archive,
        files=rules.build_files.output.files,
    output:
        edges="results/{repo}/snapshot/callgraph.jsonl",
        parsing="results/{repo}/snapshot/parsing.jsonl",
    log:
        "logs/build_callgraph/{repo}.log",
    message:
        "Find out who calls whom in {wildcards.repo}"
    script:
        "../scripts/build_callgraph.py"


checkpoint build_plan:
    input:
        files=rules.build_files.output.files,
        callgraph=rules.build_callgraph.output.edges,
    output:
        passes="results/{repo}/snapshot/passes.jsonl",
        table="results/{repo}/snapshot/plan.csv",
    log:
        "logs/build_plan/{repo}.log",
    params:
        token_budget=benchmark.settings.plan.token_budget,
        individual_share=benchmark.settings.plan.individual_share,
        individual_score=benchmark.settings.plan.individual_score,
        individual_partners=benchmark.settings.plan.individual_partners,
        batch_partners=benchmark.settings.plan.batch_partners,
    message:
        "Plan the passes of {wildcards.repo}"
    script:
        "../scripts/build_plan.py"
