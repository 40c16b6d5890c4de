"""Input and parameter functions: which files a job needs, once checkpoints have told.

Contract: `benchmark`, `paths` and `ROOT` from common.smk.
"""


def window_of_repo(wildcards):
    return checkpoints.build_window.get(repo=wildcards.repo).output.commits


def window_of_block(wildcards):
    """The window behind ancient(): the block's own hash says whether it changed."""
    return ancient(window_of_repo(wildcards))


def blocks_of(repo):
    return paths.read_blocks(checkpoints.build_window.get(repo=repo).output.blocks)


def block_sha256(wildcards):
    return paths.block_sha256(blocks_of(wildcards.repo), wildcards.repo, wildcards.block)


def in_blocks(name):
    """Input function: the file of that name of every block, in window order."""

    def files(wildcards):
        folder = f"results/{wildcards.repo}/reference/blocks"
        return [f"{folder}/{block}/{name}.jsonl" for block in blocks_of(wildcards.repo)]

    return files


classifications_of_blocks = in_blocks("classifications")
candidates_of_blocks = in_blocks("candidates")
left_out_of_blocks = in_blocks("left_out")
presence_of_blocks = in_blocks("presence")
unwritten_of_blocks = in_blocks("unwritten")
reports_of_blocks = in_blocks("reports")


def truth_commits(wildcards):
    return str(ROOT / repository(wildcards.repo).truth / "truth.tsv")


def truth_bugs(wildcards):
    return str(ROOT / repository(wildcards.repo).truth / "truth_bugs.tsv")


def agreement_tables():
    return paths.agreement_tables(benchmark)


def runs_of_kind(kind):
    return paths.alternatives(
        run for run, settings in benchmark.runs.items() if settings.kind == kind
    )


def run_settings(wildcards):
    return benchmark.runs[wildcards.run].model_dump(mode="json")


def run_model_settings(wildcards):
    """What of the run's model can change its answers: not its price, pace or address."""
    return benchmark.engine_settings(benchmark.runs[wildcards.run].model)


def prompt_file(name):
    return str(paths.prompt_file(ROOT, name))


def stage_engine(stage):
    return benchmark.settings.stage(stage).engine


def stage_model(stage):
    """What of the stage's model can change its answers; None for the heuristic."""
    return benchmark.engine_settings(stage_engine(stage))


def asked(stage, value):
    """An input or setting that only the stage's model engine reads: a change of it does not rerun
    the heuristic."""
    return value if stage_engine(stage) != HEURISTIC else []


def stage_prompt(stage):
    return asked(stage, prompt_file(stage))


def stage_slots(stage):
    """How many of the profile's llm_slots a job of the stage takes."""
    return 0 if stage_engine(stage) == HEURISTIC else 1


def plan_of_repo(wildcards):
    """The plan behind ancient(): the pass's own hash says whether it changed."""
    return ancient(checkpoints.build_plan.get(repo=wildcards.repo).output.passes)


def passes_of(repo):
    return paths.read_passes(checkpoints.build_plan.get(repo=repo).output.passes)


def pass_sha256(wildcards):
    return paths.pass_sha256(passes_of(wildcards.repo), wildcards.repo, wildcards.part)


def environment_override(wildcards):
    """What a person wrote about the environment of a repository, where somebody did."""
    return paths.environment_overrides(ROOT, wildcards.repo)


def dockerfiles(wildcards):
    return paths.dockerfiles(ROOT)


def context_of_variant(wildcards):
    document = f"results/{wildcards.repo}/snapshot/context.md"
    return document if wildcards.variant == "full" else []


def context_of_run(wildcards):
    """The project context of full sessions behind ancient(): the brief's hash says if it changed."""
    document = f"results/{wildcards.repo}/snapshot/context.md"
    return ancient(document) if benchmark.variant(wildcards.run) == "full" else []


def briefs_file(repo, run):
    variant = benchmark.variant(run)
    return checkpoints.build_briefs.get(repo=repo, variant=variant).output.briefs


def briefs_of_run(wildcards):
    return ancient(briefs_file(wildcards.repo, wildcards.run))


def brief_sha256(wildcards):
    briefs = paths.read_briefs(briefs_file(wildcards.repo, wildcards.run))
    return paths.pass_sha256(briefs, wildcards.repo, wildcards.part)


def session_leaks(wildcards):
    """What the scan of a run's transcripts found; nothing for runs without sessions."""
    leaks = f"results/{wildcards.repo}/{wildcards.run}/leaks.jsonl"
    return leaks if benchmark.variant(wildcards.run) else []


def session_prompt(wildcards):
    return prompt_file(paths.audit_prompt(benchmark.variant(wildcards.run)))


def agent_version(wildcards):
    return pinned_version(benchmark.runs[wildcards.run].tool, ROOT / "envs/agents")


def session_memory(wildcards):
    return benchmark.runs[wildcards.run].memory_mb


def prepared_sessions():
    return paths.prepared_sessions(benchmark)


def sarif_file(wildcards):
    return str(paths.sarif_file(benchmark.runs[wildcards.run], wildcards.repo, ROOT))


def pass_results(wildcards):
    """The pass files of a run: one where the finder reads a whole snapshot at once."""
    folder = f"results/{wildcards.repo}/{wildcards.run}/passes"
    if benchmark.variant(wildcards.run):
        names = paths.read_briefs(briefs_file(wildcards.repo, wildcards.run))
    else:
        names = passes_of(wildcards.repo) if benchmark.by_pass(wildcards.run) else [paths.WHOLE]
    return [f"{folder}/{name}.json" for name in names]


def cell_files():
    return [paths.cell_file(cell) for cell in benchmark.cells()]


def prepared_files():
    """What an estimate reads of every configured repository."""
    return [file for repo in benchmark.settings.repositories for file in paths.prepared_files(repo)]


def estimated_prompts():
    return {name: prompt_file(name) for name in paths.ESTIMATED_PROMPTS}


def estimated_cells(wildcards):
    """Everything that can change what the cells cost, prices included."""
    models = {name: benchmark.models[name] for name in benchmark.models_of(benchmark.cells())}
    prices = {name: model.model_dump(mode="json")["price"] for name, model in models.items()}
    configs = [benchmark.cell_config(*cell) for cell in benchmark.cells()]
    return {"prices": prices, "cells": configs}


def cell_config(wildcards):
    return benchmark.cell_config(wildcards.repo, wildcards.run)


def errata_of_repo(wildcards):
    """The rows of errata.tsv that name bugs of the repository or variant."""
    return benchmark.errata_of(wildcards.repo)
