"""Shared by all files of rules, the validated configuration, what was asked for, and wildcards.

Contract: `benchmark` is the validated configuration; nothing reads the raw `config` after it.
"""

import shlex
import sys
import time
from pathlib import Path

from probe import paths, preflight, results
from probe.config import HEURISTIC, load_config
from probe.errors import ProbeError
from probe.finders.cli_check import pinned_version
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
    repo=paths.repository_pattern(benchmark),
    run=paths.alternatives(benchmark.runs),
    block=paths.BLOCK_PATTERN,
    part=paths.PART_PATTERN,
    variant=paths.alternatives(paths.VARIANTS),


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
