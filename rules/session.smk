"""What sessions of agents are given: project context, environment, the proof of isolation, briefs.

Inputs: snapshot/{source.tar, commit.json, files.jsonl, callgraph.jsonl, passes.jsonl}, overrides in
envs/{repo}/, prompts/context.j2. Outputs: snapshot/{context.md, panel_context.md, context.json,
environment.json, leaks.json, briefs/{variant}.jsonl}, environment/. Paper: section 3, appendix F.1
and F.5.1. A leak of the future into the snapshot fails here, before any session is paid for.
"""


rule ask_context:
    input:
        archive=rules.build_snapshot.output.archive,
        files=rules.build_files.output.files,
        callgraph=rules.build_callgraph.output.edges,
        prompt=asked("context", prompt_file("context")),
    output:
        document="results/{repo}/snapshot/context.md",
        panel="results/{repo}/snapshot/panel_context.md",
        info="results/{repo}/snapshot/context.json",
    log:
        "logs/ask_context/{repo}.log",
    resources:
        llm_slots=stage_slots("context"),
    params:
        engine=benchmark.settings.context.engine,
        model=stage_model("context"),
        turns=asked("context", benchmark.settings.context.turns),
        working_s=asked("context", benchmark.settings.context.working_s),
        usd=asked("context", benchmark.settings.context.usd),
        command_s=asked("context", benchmark.settings.context.command_s),
        tokens=benchmark.settings.context.tokens,
    message:
        "Describe the project {wildcards.repo}"
    script:
        "../scripts/ask_context.py"


rule fetch_environment:
    input:
        archive=rules.build_snapshot.output.archive,
        commit=rules.build_snapshot.output.commit,
        override=environment_override,
    output:
        recipe="results/{repo}/environment/recipe.json",
        packages="results/{repo}/environment/packages.tsv",
    log:
        "logs/fetch_environment/{repo}.log",
    params:
        build=benchmark.settings.environment.build,
        # its interpreter decides which files are fetched
        base_image=benchmark.settings.environment.base_image,
        languages=lambda w: list(repository(w.repo).languages),
    message:
        "Fetch the dependencies of {wildcards.repo} as of its snapshot"
    script:
        "../scripts/fetch_environment.py"


rule build_environment:
    input:
        archive=rules.build_snapshot.output.archive,
        commit=rules.build_snapshot.output.commit,
        recipe=rules.fetch_environment.output.recipe,
        dockerfiles=dockerfiles,
    output:
        environment="results/{repo}/snapshot/environment.json",
        tests="results/{repo}/environment/tests.log",
    log:
        "logs/build_environment/{repo}.log",
    resources:
        mem_mb=benchmark.settings.environment.memory_mb,
    params:
        base_image=benchmark.settings.environment.base_image,
        test_s=benchmark.settings.environment.test_s,
        memory_mb=benchmark.settings.environment.memory_mb,
    message:
        "Build the environment of {wildcards.repo} and run its own tests in it"
    script:
        "../scripts/build_environment.py"


rule build_leaks:
    input:
        archive=rules.build_snapshot.output.archive,
        commit=rules.build_snapshot.output.commit,
        recipe=rules.fetch_environment.output.recipe,
        environment=rules.build_environment.output.environment,
        history=ancient("results/{repo}/history.json"),
        override=environment_override,
    output:
        leaks="results/{repo}/snapshot/leaks.json",
    log:
        "logs/build_leaks/{repo}.log",
    params:
        # the proof holds for the engine whose sandbox was searched
        engine=benchmark.settings.sandbox.engine,
    message:
        "Prove that the snapshot of {wildcards.repo} knows no future"
    script:
        "../scripts/build_leaks.py"


checkpoint build_briefs:
    input:
        files=rules.build_files.output.files,
        passes="results/{repo}/snapshot/passes.jsonl",
        environment=rules.build_environment.output.environment,
        leaks=rules.build_leaks.output.leaks,
        context=context_of_variant,
    output:
        briefs="results/{repo}/snapshot/briefs/{variant}.jsonl",
    log:
        "logs/build_briefs/{repo}/{variant}.log",
    message:
        "Brief the {wildcards.variant} sessions on {wildcards.repo}"
    script:
        "../scripts/build_briefs.py"
