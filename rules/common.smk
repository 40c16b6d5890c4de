"""Shared by all files of rules, the validated configuration, wildcards, and input functions.

Contract: `benchmark` is the validated configuration; nothing reads the raw `config` after it.
"""

import shlex
import sys
import time
from pathlib import Path

from probe import paths, preflight, results
from probe.config import load_config
from probe.errors import ProbeError
from probe.report import summary

ROOT = Path(workflow.basedir)
started = time.time()


def stop(error):
    """A user's mistake is one line, not a traceback of this file."""
    raise SystemExit(f"probe: {error}")


def config_files():
    """The files behind `config`, so that a message can name file and line."""
    return workflow.config_settings.configfiles or [ROOT / "config" / "config.yaml"]


try:
    benchmark = load_config(config, ROOT, config_files())
    # Snakemake hands targets over only after the rules are read; a wrong one must be named before.
    request = paths.read_request(sys.argv[1:], benchmark)
    if workflow.exec_mode.name == "DEFAULT":
        preflight.check(benchmark, request, ROOT, Path("results"))
except ProbeError as error:
    stop(error)

if shlex.quote(sys.executable) != sys.executable:
    # Snakemake 9.27 puts the interpreter into its shell commands as it is, spaces and all
    sys.executable = shlex.quote(sys.executable)


wildcard_constraints:
    repo=paths.alternatives(benchmark.repositories),
    run=paths.alternatives(benchmark.runs),
    block=paths.BLOCK_PATTERN,


def repository(repo):
    return benchmark.repositories[repo]


def scope_globs(wildcards):
    """Globs of source, tests and exclusions, which decide what counts as production code."""
    row = repository(wildcards.repo)
    return {"source": list(row.source), "tests": list(row.tests), "exclude": list(row.exclude)}


def series_folder(repo):
    return paths.series_folder(repository(repo), ROOT)


def series_patches(repo):
    return sorted(map(str, (series_folder(repo) / "patches").iterdir()))


def series_head(wildcards):
    """A bundled history must be rebuilt before it is mirrored; others have no input."""
    return f"results/{wildcards.repo}/series.head" if series_folder(wildcards.repo) else []


def source_url(repo):
    return (
        f"results/{repo}/series.git"
        if series_folder(repo)
        else paths.source_url(repository(repo), ROOT)
    )


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
unplaced_of_blocks = in_blocks("unplaced")
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


def sarif_file(wildcards):
    return str(paths.sarif_file(benchmark.runs[wildcards.run], wildcards.repo, ROOT))


def pass_results(wildcards):
    """The pass files of a run: finders that read a whole snapshot have one."""
    return [f"results/{wildcards.repo}/{wildcards.run}/passes/all.json"]


def cell_files():
    return [paths.cell_file(cell) for cell in benchmark.cells()]


def cell_config(wildcards):
    return benchmark.cell_config(wildcards.repo, wildcards.run)
