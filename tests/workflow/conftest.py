"""Runs the real workflow in a copy of the project, so that tests may edit scripts and configs."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from histories import ROOT

FOLDERS = ("rules", "scripts", "config", "profiles", "prompts", "resources", "docs", "envs")
COPIED = ("Snakefile", *FOLDERS)
_JOB = re.compile(r"^Finished jobid: \d+ \(Rule: (\w+)\)$", re.MULTILINE)


class Workflow:
    """A copy of the project and what running it printed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(source, folder / name, ignore=ignored)
            else:
                shutil.copy2(source, folder / name)

    def configure(
        self,
        rows: list[dict[str, str]],
        runs: dict[str, dict],
        models: dict[str, dict] | None = None,
        **settings,
    ) -> None:
        """Write a configuration of its own: an inventory, runs, and settings over the defaults."""
        columns = ["name", "url", "branch", "languages", "t0", "t1", "source", "tests", "truth"]
        lines = ["\t".join(columns)]
        lines += ["\t".join(row.get(column, "") for column in columns) for row in rows]
        config = self.folder / "config"
        (config / "test-repositories.tsv").write_text("\n".join(lines) + "\n")
        (config / "test-runs.yaml").write_text(yaml.safe_dump(runs))
        if models is not None:
            (config / "test-models.yaml").write_text(yaml.safe_dump(models))
            settings = {"models_file": "config/test-models.yaml", **settings}
        values = {
            "repositories": [row["name"] for row in rows],
            "runs": list(runs),
            "inventory": "config/test-repositories.tsv",
            "runs_file": "config/test-runs.yaml",
            **settings,
        }
        (config / "test.yaml").write_text(yaml.safe_dump(values))

    def command(self, *arguments: str, config: str = "config/test.yaml") -> list[str]:
        # the configuration file comes last but one: --configfile takes several values
        program = [sys.executable, "-m", "snakemake"]
        return [*program, *arguments, "--cores", "2", "--configfile", config, "--nocolor"]

    def run(
        self,
        *arguments: str,
        config: str = "config/test.yaml",
        check: bool = True,
        env: dict[str, str] | None = None,
    ):
        """Run Snakemake to its end; with ``check`` a failure fails the test and shows the output."""
        done = subprocess.run(
            self.command(*arguments, config=config),
            cwd=self.folder,
            env=None if env is None else {**os.environ, **env},
            capture_output=True,
            text=True,
            check=False,
        )
        if check and done.returncode != 0:
            pytest.fail(f"snakemake ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
        return done

    def jobs(self, *arguments: str, config: str = "config/test.yaml") -> list[str]:
        """Names of the rules that ran, sorted, a name a job."""
        done = self.run(*arguments, config=config)
        return sorted(_JOB.findall(done.stdout + done.stderr))

    def read(self, path: str) -> str:
        return (self.folder / path).read_text(encoding="utf-8")


@pytest.fixture
def workflow(tmp_path):
    """A fresh copy of the project."""
    return Workflow(tmp_path / "project with space")


@pytest.fixture(scope="session")
def demo_build(tmp_path_factory):
    """The bundled repository, built once for all tests that only look at it."""
    built = Workflow(tmp_path_factory.mktemp("demo") / "project")
    built.output = built.run(config="config/demo.yaml")
    return built
