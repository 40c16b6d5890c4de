"""Real code: the released wheels of a real package as a history, through snapshot, plan, analysers.

The wheels (attrs, MIT) come from the package index, pinned by hash, and live in a temporary folder.
"""

import subprocess
import sys
import zipfile
from collections import Counter

import pytest
from builders import HistoryBuilder

from probe.code.paths import SourceScope
from probe.config.settings import PlanSettings
from probe.finders.run import run_whole
from probe.git.archive import build_archive
from probe.records import write_jsonl
from probe.snapshot.files import FileLimits, list_files
from probe.snapshot.plan import build_plan

pytestmark = pytest.mark.registry

RELEASES = {
    "22.2.0": (
        "2022-12-21",
        "29e95c7f6778868dbd49170f98f8818f78f3dc5e0e37c0b1f474e3561b240836",
    ),
    "23.1.0": (
        "2023-04-16",
        "1f28b4522cdc2fb4256ac1a020c78acf9cba2c6b461ccd2c126f3aa8e8335d04",
    ),
    "24.2.0": (
        "2024-08-06",
        "81921eb96de3191c8258c199618104dd27ac608d9366f5e35d011eae1867ede2",
    ),
}
HEAD = "d64a309a76ae680ff72b8543ef32eb941d3b1488"

RULES = {
    "ruff": ["F811", "F821", "PLE", "B"],
    "pylint": ["E"],
    "pyrefly": ["missing-attribute", "unknown-name", "bad-return", "unbound-name"],
}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheels")
    for version, (_, digest) in RELEASES.items():
        pinned = folder / f"{version}.txt"
        pinned.write_text(f"attrs=={version} --hash=sha256:{digest}\n")
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--require-hashes", "--no-deps",
             "--only-binary=:all:", "--disable-pip-version-check", "-d", str(folder), "-r",
             str(pinned)],
            check=True,
        )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def history(wheels, tmp_path_factory):
    """One commit a release; T0 is the first."""
    builder = HistoryBuilder(tmp_path_factory.mktemp("history") / "attrs.git")
    shas, known = [], set()
    for version, (date, _) in RELEASES.items():
        with zipfile.ZipFile(wheels / f"attrs-{version}-py3-none-any.whl") as wheel:
            files = {
                name: wheel.read(name)
                for name in wheel.namelist()
                if name.startswith(("attr/", "attrs/"))
            }
        gone = dict.fromkeys(known - files.keys())
        shas.append(builder.commit(files | gone, f"Release {version}", date=date))
        known = set(files)
    return builder, shas


@pytest.fixture(scope="module")
def snapshot(history, tmp_path_factory):
    builder, shas = history
    folder = tmp_path_factory.mktemp("snapshot")
    archive, listing = folder / "source.tar", folder / "files.jsonl"
    info = build_archive(builder.path, shas[0], archive, repo="attrs")
    scope = SourceScope(source=["attr/", "attrs/"])
    files = list_files(archive, info, scope, frozenset({"python"}), FileLimits())
    write_jsonl(listing, files)
    return archive, listing, files


def test_the_same_wheels_give_the_same_commits(history):
    _, shas = history
    assert shas[-1] == HEAD


def test_every_module_of_the_release_is_audited_and_planned_once(snapshot):
    files = snapshot[2]
    audited = {file.path for file in files if file.audited}
    assert {"attr/_make.py", "attr/validators.py", "attr/__init__.pyi"} <= audited
    plan = build_plan(files, settings=PlanSettings(token_budget=20_000))
    assert Counter(path for one in plan for path in one.files) == Counter(audited)
    assert len(plan) > 2


@pytest.mark.parametrize("tool", sorted(RULES))
def test_an_analyser_reads_all_of_it(snapshot, tool):
    archive, listing, files = snapshot
    settings = {"kind": "analyzer", "tool": tool, "rules": RULES[tool], "timeout_s": 120}
    result = run_whole("attrs", tool, settings, archive=archive, files=listing)
    assert (result.status, result.error) == ("ok", None)
    endings = (".py",) if tool == "pylint" else (".py", ".pyi")
    expected = [file.path for file in files if file.audited and file.path.endswith(endings)]
    assert result.files_read == len(expected) > 10
    assert (result.files_skipped, result.files_timed_out, result.rejected) == ((), (), ())
    lines = {file.path: file.lines for file in files}
    assert result.findings
    for finding in result.findings:
        assert finding.path in expected
        assert 1 <= finding.first <= finding.last <= lines[finding.path]
