"""The registry of finders."""

import sys

import pytest

from probe.errors import FinderError
from probe.finders import base


def test_every_registered_finder_can_be_had():
    for key in base.FINDERS:
        kind, _, tool = key.partition("/")
        assert callable(base.get_finder(kind, tool or None).find)


def test_an_unknown_finder_names_the_known():
    with pytest.raises(FinderError, match="'analyzer/rufff'; known: oxlint, pylint, pyrefly, ruff"):
        base.get_finder("analyzer", "rufff")
    with pytest.raises(FinderError, match="no finder 'oracle'"):
        base.get_finder("oracle")


def test_an_analyser_that_is_not_installed_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    base.tool_version.cache_clear()
    with pytest.raises(FinderError, match=r"analyser 'ruff' is not installed .*`make demo`"):
        base.check_available("ruff")


def test_an_analyser_that_does_not_start_says_so(tmp_path, monkeypatch):
    broken = tmp_path / "oxlint"
    broken.write_text("#!/bin/sh\nexit 126\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    base.tool_version.cache_clear()
    with pytest.raises(FinderError, match=r"'oxlint'.* ends with status 126"):
        base.check_available("oxlint")


@pytest.mark.parametrize("tool", base.tools_of("analyzer"))
def test_the_installed_analysers_are_available(tool):
    base.tool_version.cache_clear()
    base.check_available(tool)
    assert tool in base.tools_of("analyzer")


def test_importing_the_registry_imports_no_finder(run_python):
    done = run_python(
        "import sys, probe.finders.base; print([m for m in sys.modules if 'finders' in m])"
    )
    assert done.stdout.strip() == "['probe.finders', 'probe.finders.base']"
