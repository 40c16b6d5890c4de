"""Which of the agents' packages a session sees: those of its tool, at their places, and no others."""

import io
import tarfile

import pytest
from cli_audits import installed

from probe.errors import FinderError, IsolationError
from probe.finders.cli_check import tool_of
from probe.finders.cli_packages import needed_packages, tool_folder
from probe.isolation.agents import check_agents

LOCK = {
    "packages": {
        "": {"dependencies": {"tool": "1", "other": "1"}},
        "node_modules/tool": {"dependencies": {"a": "1", "gone": "1"}},
        "node_modules/tool/node_modules/a": {"optionalDependencies": {"b": "1"}},
        "node_modules/tool/node_modules/c": {},
        "node_modules/a": {"dependencies": {"marked": "1"}},
        "node_modules/b": {"peerDependencies": {"tool": "1"}},
        "node_modules/other": {"dependencies": {"a": "1", "marked": "1"}},
        "node_modules/marked": {},
    }
}


def test_dependencies_are_found_as_node_finds_them():
    assert needed_packages(LOCK, ["tool"]) == [
        "node_modules/b",
        "node_modules/tool",
        "node_modules/tool/node_modules/a",
    ]
    assert needed_packages(LOCK, ["other"]) == [
        "node_modules/a",
        "node_modules/marked",
        "node_modules/other",
    ]
    assert needed_packages(LOCK, ["nothing"]) == []
    with pytest.raises(FinderError, match="lists no packages"):
        needed_packages({}, ["tool"])


def snapshot_of(path, name):
    """A snapshot whose package.json has this name."""
    data = f'{{"name": "{name}", "version": "1.0.0"}}'.encode()
    with tarfile.open(path, "w") as tar:
        member = tarfile.TarInfo("package.json")
        member.size = len(data)
        tar.addfile(member, io.BytesIO(data))
    return path


@pytest.mark.node
@pytest.mark.npm
def test_only_a_tool_that_needs_the_audited_project_carries_it(tmp_path):
    agents = installed()
    archive = snapshot_of(tmp_path / "source.tar", "marked")
    with pytest.raises(IsolationError, match="the agents carry the audited project itself"):
        check_agents(tool_folder(tool_of("pi"), agents), archive)
    codex = tool_folder(tool_of("codex"), agents)
    check_agents(codex, archive)
    assert not (codex / "node_modules/marked").exists()
    assert (codex / "node_modules/.bin/node").exists()
    check_agents(tool_folder(tool_of("pi"), agents), snapshot_of(tmp_path / "b.tar", "liquidjs"))
