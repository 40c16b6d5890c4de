"""The files that ship with the project: our own configuration, and documents that name things."""

import re
import tomllib
from dataclasses import asdict
from pathlib import Path
from typing import get_args

import pytest
import yaml

from probe.config import AnalyzerTool, Settings, load_config, read_inventory
from probe.finders.base import tools_of
from probe.matching.decide import MatchSettings
from probe.similarity.filter import Thresholds
from probe.snapshot.files import FileLimits

ROOT = Path(__file__).resolve().parents[2]


def shipped(name: str):
    path = ROOT / "config" / name
    return load_config(yaml.safe_load(path.read_bytes()), ROOT, [path])


class TestConfiguration:
    @pytest.mark.parametrize("name", ["config.yaml", "demo.yaml"])
    def test_valid_on_its_own(self, name):
        assert shipped(name).cells()

    def test_the_benchmark_has_the_twenty_repositories(self):
        benchmark = shipped("config.yaml")
        named = set(benchmark.settings.repositories)
        assert len(named) == 20
        assert named == set(benchmark.repositories) - {"demo"}

    def test_every_analyser_is_built_and_no_model_unasked(self):
        benchmark = shipped("config.yaml")
        analysers = {name for name, run in benchmark.runs.items() if run.kind == "analyzer"}
        assert analysers == set(benchmark.settings.runs)
        assert benchmark.models_of(benchmark.cells()) == []
        assert benchmark.settings.budget.usd == 0

    def test_the_demo_has_a_cell_of_every_analyser(self):
        cells = shipped("demo.yaml").cells()
        assert {run for _, run in cells} == {"ruff", "pylint", "pyrefly", "oxlint"}

    def test_windows_of_the_benchmark_are_pinned_by_commit(self):
        inventory = read_inventory(ROOT / "config/repositories.tsv", "repositories.tsv")
        for name, row in inventory.items():
            assert name == "demo" or (len(row.t0) == 40 and len(row.t1) == 40), name
            assert name == "demo" or row.licence, name

    def test_defaults_agree_with_the_library(self):
        settings = Settings(repositories=("a",), runs=("b",))
        assert settings.matching.thresholds.model_dump() == asdict(Thresholds())
        assert settings.reference.deduplicate.thresholds.model_dump() == asdict(Thresholds())
        assert settings.matching.decision.model_dump() == asdict(MatchSettings())
        assert settings.snapshot.model_dump() == asdict(FileLimits())


def test_the_analysers_are_those_that_have_a_finder():
    assert sorted(get_args(AnalyzerTool)) == tools_of("analyzer")


class TestDependencies:
    def declared(self) -> dict[str, list[str]]:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        groups = {"Needed to run": project["dependencies"]}
        groups["Analysers that are scored (`analyzers`)"] = project["optional-dependencies"][
            "analyzers"
        ]
        groups["Development (`dev`)"] = project["optional-dependencies"]["dev"]
        return {
            title: sorted(re.split(r"[ !<>=\[;]", entry)[0] for entry in entries)
            for title, entries in groups.items()
        }

    def documented(self) -> dict[str, list[str]]:
        sections = (ROOT / "docs/dependencies.md").read_text().split("\n## ")[1:]
        rows = re.compile(r"^\| ([a-z0-9-]+) \| (\S.*) \|$", re.MULTILINE)
        return {
            section.partition("\n")[0]: [name for name, _ in rows.findall(section)]
            for section in sections
        }

    def test_every_direct_dependency_has_its_reason(self):
        assert self.documented() == self.declared()

    def test_every_direct_dependency_is_locked_with_hashes(self):
        lock = (ROOT / "envs/requirements.lock").read_text()
        for names in self.declared().values():
            for name in names:
                assert re.search(rf"^{name}(\[.*\])?==\S+ .*\\\n +--hash=sha256:", lock, re.M), name


class TestDocuments:
    def test_citation_names_the_paper(self):
        citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
        paper = citation["references"][0]
        assert paper["title"] == (
            "PROBE: Frontier Coding Agents Find Different Bugs Than Maintainers Fix"
        )
        assert [author["family-names"] for author in paper["authors"]] == [
            "Paina", "Müller", "Mündler-Sasahara", "Vechev",
        ]  # fmt: skip
        assert paper["identifiers"][0]["value"] == "arXiv:2610.35987"

    def test_licence_is_the_one_declared(self):
        assert "Apache License" in (ROOT / "LICENSE").read_text()[:200]
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        assert project["license"] == "Apache-2.0"

    def test_profile_never_reruns_for_an_edited_script(self):
        profile = yaml.safe_load((ROOT / "profiles/default/config.yaml").read_text())
        assert profile["rerun-triggers"] == ["mtime", "params", "input"]

    def test_hooks_call_only_tools_of_the_environment(self):
        hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
        assert [repo["repo"] for repo in hooks] == ["local"]
        for hook in hooks[0]["hooks"]:
            assert hook["language"] == "pygrep" or hook["entry"].startswith(".venv/bin/")
