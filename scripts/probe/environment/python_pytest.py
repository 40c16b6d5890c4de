"""What a project's configuration says to pytest, and which plugins it takes for granted."""

import configparser
from typing import Any

from probe.environment.python_project import Project
from probe.environment.tree import Tree

_PLUGINS = {
    "--cov": "pytest-cov",
    "--no-cov": "pytest-cov",
    "-n": "pytest-xdist",
    "--numprocesses": "pytest-xdist",
    "--dist": "pytest-xdist",
    "--timeout": "pytest-timeout",
    "--disable-socket": "pytest-socket",
    "--allow-hosts": "pytest-socket",
    "--benchmark": "pytest-benchmark",
    "--asyncio-mode": "pytest-asyncio",
    "--randomly": "pytest-randomly",
    "--reruns": "pytest-rerunfailures",
    "--hypothesis": "hypothesis",
    "--mpl": "pytest-mpl",
    "--doctestplus": "pytest-doctestplus",
    "--snapshot": "syrupy",
}
"""Options in a project's configuration that pytest knows only with a plugin."""
_SETTINGS = {
    "asyncio_mode": "pytest-asyncio",
    "timeout": "pytest-timeout",
    "mock_use_standalone": "pytest-mock",
}


def needed_plugins(tree: Tree, project: Project) -> list[str]:
    """Plugins without which pytest refuses the project's own options."""
    settings = pytest_settings(tree, project)
    options = str(settings.get("addopts", ""))
    words = options.split()
    named = {plugin for flag, plugin in _PLUGINS.items() if any(_is(word, flag) for word in words)}
    named |= {plugin for key, plugin in _SETTINGS.items() if key in settings}
    required = settings.get("required_plugins", "")
    listed = required if isinstance(required, list) else str(required).split()
    return sorted(named | set(listed))


def _is(word: str, flag: str) -> bool:
    return (
        word == flag
        or word.startswith(f"{flag}=")
        or (flag[:2] == "--" and word.startswith(f"{flag}-"))
    )


def pytest_settings(tree: Tree, project: Project) -> dict[str, Any]:
    """Settings of pytest, from the first file that it would read; lists are joined by spaces."""
    for path, section in (("pytest.ini", "pytest"), (".pytest.ini", "pytest")):
        if path in tree:
            return _ini(tree.text(path) or "", section)
    told = project.pyproject.get("tool", {}).get("pytest", {}).get("ini_options")
    if isinstance(told, dict):
        return {k: " ".join(map(str, v)) if isinstance(v, list) else v for k, v in told.items()}
    for path, section in (("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")):
        found = _ini(tree.text(path) or "", section)
        if found:
            return found
    return {}


def _ini(text: str, section: str) -> dict[str, Any]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return {}
    return dict(parser[section]) if parser.has_section(section) else {}
