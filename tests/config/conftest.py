"""A small workflow folder with valid configuration files, for tests to spoil."""

from pathlib import Path

import pytest
import yaml

from probe.config import load_config

HEADER = "name\turl\tbranch\tlanguages\tt0\tt1\tsource\ttests\texclude\tlicence\ttruth\tnotes"
INVENTORY = f"""\
{HEADER}
alpha\thttps://example.org/alpha\tmain\tpython\t2025-01-01\t2026-07-01\tsrc/**\ttests/**\t\tMIT
beta\t../beta\t\ttypescript, javascript\t2025-01-01\t2026-07-01
"""
RUNS = """\
ruff: {kind: analyzer, tool: ruff, languages: [python], rules: [F]}
oxlint: {kind: analyzer, tool: oxlint, languages: [javascript, typescript], rules: [a]}
imported: {kind: sarif, path: "imports/{repo}.sarif"}
"""
SETTINGS = """\
repositories: [alpha, beta]
runs: [ruff, oxlint]
reference:
  block_size: 50
"""


class Workflow:
    """A workflow's folder whose files a test may replace before it loads them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("config/config.yaml", SETTINGS)
        self.write("config/repositories.tsv", INVENTORY)
        self.write("config/runs.yaml", RUNS)
        self.write("config/models.yaml", "")

    def write(self, path: str, text: str | bytes) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
        return target

    def load(self, settings: str | None = None, **command_line):
        """Load as Snakemake would: one configuration file, then ``--config``."""
        path = self.root / "config/config.yaml"
        if settings is not None:
            self.write("config/config.yaml", settings)
        merged = {**(yaml.safe_load(path.read_bytes()) or {}), **command_line}
        return load_config(merged, self.root, [path])


@pytest.fixture
def workflow(tmp_path):
    return Workflow(tmp_path)
