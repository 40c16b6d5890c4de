"""The reference set: every bug fixed in the window that the snapshot already had.

Inputs: history.json, snapshot/source.tar. Outputs: reference/{commits.jsonl, blocks.tsv, habits.json,
blocks/*, pairs.jsonl, duplicates.jsonl, merged.jsonl, oversized.tsv, bugs.jsonl, bugs.csv, reference.json,
funnel.csv, agreement.csv}. Paper: section 2.1.

Each judged stage has the engine of its setting: the heuristic, or a model with a prompt.

A block is a run of the window, and the unit that is judged and paid for. Its jobs take the window as
ancient() and carry the hash of their own commits as a parameter: a later T1 reruns the last block only.
"""


checkpoint build_window:
    input:
        history="results/{repo}/history.json",
    output:
        commits="results/{repo}/reference/commits.jsonl",
        blocks="results/{repo}/reference/blocks.tsv",
    log:
        "logs/build_window/{repo}.log",
    benchmark:
        "results/benchmarks/build_window/{repo}.tsv"
    params:
        block_size=benchmark.settings.reference.block_size,
    message:
        "Read all window commits of {wildcards.repo}"
    script:
        "../scripts/build_window.py"


rule build_habits:
    input:
        history=ancient("results/{repo}/history.json"),
    output:
        habits="results/{repo}/reference/habits.json",
    log:
        "logs/build_habits/{repo}.log",
    params:
        # learnt before T0, so that a later T1 changes no earlier verdict
        url=lambda w: source_url(w.repo),
        t0=lambda w: repository(w.repo).t0,
        scope=scope_globs,
        commits=benchmark.settings.reference.habit_commits,
    message:
        "Learn how {wildcards.repo} words its commits before the snapshot"
    script:
        "../scripts/build_habits.py"


rule ask_classifications:
    input:
        commits=window_of_block,
        habits=rules.build_habits.output.habits,
        history=ancient("results/{repo}/history.json"),
        prompt=stage_prompt("classify"),
    output:
        classifications="results/{repo}/reference/blocks/{block}/classifications.jsonl",
    log:
        "logs/ask_classifications/{repo}/{block}.log",
    resources:
        llm_slots=stage_slots("classify"),
    params:
        content_sha256=block_sha256,
        block_size=benchmark.settings.reference.block_size,
        engine=stage_engine("classify"),
        model=stage_model("classify"),
        diff_tokens=asked("classify", benchmark.settings.reference.classify.diff_tokens),
        scope=scope_globs,
    message:
        "Classify block {wildcards.block} of {wildcards.repo}"
    script:
        "../scripts/ask_classifications.py"


rule ask_candidates:
    input:
        classifications=rules.ask_classifications.output.classifications,
        commits=window_of_block,
        history=ancient("results/{repo}/history.json"),
        prompt=stage_prompt("extract"),
    output:
        candidates="results/{repo}/reference/blocks/{block}/candidates.jsonl",
        left_out="results/{repo}/reference/blocks/{block}/left_out.jsonl",
    log:
        "logs/ask_candidates/{repo}/{block}.log",
    resources:
        llm_slots=stage_slots("extract"),
    params:
        engine=stage_engine("extract"),
        model=stage_model("extract"),
        diff_tokens=asked("extract", benchmark.settings.reference.extract.diff_tokens),
        file_tokens=asked("extract", benchmark.settings.reference.extract.file_tokens),
        scope=scope_globs,
    message:
        "Extract and anchor the bugs of block {wildcards.block} of {wildcards.repo}"
    script:
        "../scripts/ask_candidates.py"


rule ask_presence:
    input:
        candidates=rules.ask_candidates.output.candidates,
        history=ancient("results/{repo}/history.json"),
        archive=asked("presence", rules.build_snapshot.output.archive),
        prompt=stage_prompt("presence"),
    output:
        presence="results/{repo}/reference/blocks/{block}/presence.jsonl",
    log:
        "logs/ask_presence/{repo}/{block}.log",
    resources:
        llm_slots=stage_slots("presence"),
    params:
        engine=stage_engine("presence"),
        model=stage_model("presence"),
        turns=asked("presence", benchmark.settings.reference.presence.turns),
        working_s=asked("presence", benchmark.settings.reference.presence.working_s),
        usd=asked("presence", benchmark.settings.reference.presence.usd),
        command_s=asked("presence", benchmark.settings.reference.presence.command_s),
    message:
        "Check presence in the snapshot for block {wildcards.block} of {wildcards.repo}"
    script:
        "../scripts/ask_presence.py"


rule ask_reports:
    input:
        candidates=rules.ask_candidates.output.candidates,
        presence=rules.ask_presence.output.presence,
        history=ancient("results/{repo}/history.json"),
        prompt=stage_prompt("synthesize"),
    output:
        reports="results/{repo}/reference/blocks/{block}/reports.jsonl",
        unwritten="results/{repo}/reference/blocks/{block}/unwritten.jsonl",
    log:
        "logs/ask_reports/{repo}/{block}.log",
    resources:
        llm_slots=stage_slots("synthesize"),
    params:
        engine=stage_engine("synthesize"),
        model=stage_model("synthesize"),
        diff_tokens=asked("synthesize", benchmark.settings.reference.synthesize.diff_tokens),
        file_tokens=asked("synthesize", benchmark.settings.reference.synthesize.file_tokens),
    message:
        "Write up the bugs of block {wildcards.block} of {wildcards.repo}"
    script:
        "../scripts/ask_reports.py"


rule build_report_pairs:
    input:
        reports=reports_of_blocks,
        candidates=candidates_of_blocks,
    output:
        pairs="results/{repo}/reference/pairs.jsonl",
    log:
        "logs/build_report_pairs/{repo}.log",
    params:
        thresholds=benchmark.settings.reference.deduplicate.thresholds.model_dump(),
    message:
        "Pair the reports of {wildcards.repo} that look alike"
    script:
        "../scripts/build_report_pairs.py"


rule ask_duplicates:
    input:
        pairs=rules.build_report_pairs.output.pairs,
        reports=reports_of_blocks,
        candidates=candidates_of_blocks,
        prompt=stage_prompt("deduplicate"),
    output:
        duplicates="results/{repo}/reference/duplicates.jsonl",
    log:
        "logs/ask_duplicates/{repo}.log",
    resources:
        llm_slots=stage_slots("deduplicate"),
    params:
        engine=stage_engine("deduplicate"),
        model=stage_model("deduplicate"),
    message:
        "Judge which reports of {wildcards.repo} are one defect"
    script:
        "../scripts/ask_duplicates.py"


rule build_merged:
    input:
        commits=window_of_repo,
        duplicates=rules.ask_duplicates.output.duplicates,
        classifications=classifications_of_blocks,
        candidates=candidates_of_blocks,
        reports=reports_of_blocks,
        history=ancient("results/{repo}/history.json"),
    output:
        merged="results/{repo}/reference/merged.jsonl",
        taken_back="results/{repo}/reference/taken_back.jsonl",
        oversized="results/{repo}/reference/oversized.tsv",
    log:
        "logs/build_merged/{repo}.log",
    params:
        merge_limit=benchmark.settings.reference.deduplicate.merge_limit,
    message:
        "Merge the reports of {wildcards.repo} that are one defect"
    script:
        "../scripts/build_merged.py"


rule build_bugs:
    input:
        merged=rules.build_merged.output.merged,
        history=ancient("results/{repo}/history.json"),
    output:
        bugs="results/{repo}/reference/bugs.jsonl",
        table="results/{repo}/reference/bugs.csv",
        info="results/{repo}/reference/reference.json",
    log:
        "logs/build_bugs/{repo}.log",
    params:
        # the rows of this repository only: those of another rerun nothing here
        errata=errata_of_repo,
        version=benchmark.settings.reference.version,
    message:
        "Apply the errata of {wildcards.repo} and seal its reference set"
    script:
        "../scripts/build_bugs.py"


rule table_funnel:
    input:
        commits=window_of_repo,
        classifications=classifications_of_blocks,
        candidates=candidates_of_blocks,
        left_out=left_out_of_blocks,
        presence=presence_of_blocks,
        unwritten=unwritten_of_blocks,
        taken_back=rules.build_merged.output.taken_back,
        duplicates=rules.ask_duplicates.output.duplicates,
        merged=rules.build_merged.output.merged,
        bugs=rules.build_bugs.output.bugs,
    output:
        funnel="results/{repo}/reference/funnel.csv",
    log:
        "logs/table_funnel/{repo}.log",
    message:
        "Count what stayed and what left on the way to the reference set of {wildcards.repo}"
    script:
        "../scripts/table_funnel.py"


rule table_agreement:
    input:
        commits=truth_commits,
        bugs=truth_bugs,
        classifications=classifications_of_blocks,
        presence=presence_of_blocks,
        candidates=candidates_of_blocks,
        reference=rules.build_bugs.output.bugs,
    output:
        agreement="results/{repo}/reference/agreement.csv",
    log:
        "logs/table_agreement/{repo}.log",
    message:
        "Score the reference set of {wildcards.repo} against its labelled truth"
    script:
        "../scripts/table_agreement.py"
