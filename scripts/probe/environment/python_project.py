"""What a Python project says it needs, read without running any of it.

Requirements for running come from its metadata, those for its tests from wherever projects write
them: extras, dependency groups, requirement files, tox, nox and hatch. A ``setup.py`` is parsed, never
executed; what is computed in it cannot be seen.
"""

import ast
import configparser
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from probe.environment.tree import Tree
from probe.errors import ProbeError


def normal_name(name: str) -> str:
    """A project's name as indexes compare them."""
    return str(canonicalize_name(name))


@dataclass
class Project:
    """What the files at a project's root say."""

    name: str | None = None
    """Of the distribution."""
    python: str | None = None
    """``requires-python``."""
    requirements: list[str] = field(default_factory=list)
    """For running."""
    extras: dict[str, list[str]] = field(default_factory=dict)
    """Extras and dependency groups, by name."""
    build: list[str] = field(default_factory=list)
    """For building."""
    backend: str | None = None
    """Build backend; None where ``setup.py`` is all there is."""
    scripts: dict[str, str] = field(default_factory=dict)
    """Commands, by name the entry point."""
    entry_points: dict[str, dict[str, str]] = field(default_factory=dict)
    """Other entry points, by group."""
    pyproject: dict[str, Any] = field(default_factory=dict)
    """``pyproject.toml`` as a whole."""
    unread: list[str] = field(default_factory=list)
    """What could not be read, in words."""


def read_project(tree: Tree) -> Project | None:
    """The project at the root; None where there is none.

    Raises:
        ProbeError: ``pyproject.toml`` is malformed.
    """
    if not any(name in tree for name in ("pyproject.toml", "setup.cfg", "setup.py")):
        return None
    project = Project()
    text = tree.text("pyproject.toml")
    if text is not None:
        try:
            project.pyproject = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ProbeError(f"pyproject.toml of the snapshot: no TOML: {error}") from None
    _read_setup_py(project, tree.text("setup.py"))
    _read_setup_cfg(project, tree.text("setup.cfg"))
    _read_pyproject(project)
    return project


def _read_pyproject(project: Project) -> None:
    told = project.pyproject
    about = told.get("project", {})
    project.name = about.get("name") or project.name
    project.python = about.get("requires-python") or project.python
    if "dependencies" in about:
        project.requirements = list(about["dependencies"])
    project.extras.update({k: list(v) for k, v in about.get("optional-dependencies", {}).items()})
    project.scripts.update({**about.get("scripts", {}), **about.get("gui-scripts", {})})
    project.entry_points.update(about.get("entry-points", {}))
    for group in told.get("dependency-groups", {}):
        project.extras.setdefault(group, []).extend(_group(told["dependency-groups"], group))
    _read_tools(project, told.get("tool", {}))
    build = told.get("build-system", {})
    if build:
        project.build = [*build.get("requires", ()), *project.build]
        project.backend = build.get("build-backend") or "setuptools.build_meta:__legacy__"
    else:
        project.build += ["setuptools", "wheel"]


def _group(groups: Mapping[str, Any], name: str, seen: tuple[str, ...] = ()) -> Iterator[str]:
    """A dependency group with those that it includes (PEP 735)."""
    named = {normal_name(key): value for key, value in groups.items()}
    for one in named.get(normal_name(name), ()):
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict) and (more := one.get("include-group")) and more not in seen:
            yield from _group(groups, more, (*seen, name))


def _read_tools(project: Project, tools: Mapping[str, Any]) -> None:
    """What Poetry, PDM, uv and hatch keep in tables of their own."""
    poetry = tools.get("poetry", {})
    if poetry:
        project.name = project.name or poetry.get("name")
        main = dict(poetry.get("dependencies", {}))
        python = main.pop("python", None)
        if python and not project.python:
            project.python = poetry_specifier(str(python))
        if not project.requirements:
            project.requirements = list(poetry_requirements(main))
        groups = {
            name: one.get("dependencies", {}) for name, one in poetry.get("group", {}).items()
        }
        groups.setdefault("dev", {}).update(poetry.get("dev-dependencies", {}))
        for name, group in groups.items():
            project.extras.setdefault(name, []).extend(poetry_requirements(group))
        project.scripts.update(
            {k: v for k, v in poetry.get("scripts", {}).items() if isinstance(v, str)}
        )
    for name, group in tools.get("pdm", {}).get("dev-dependencies", {}).items():
        project.extras.setdefault(name, []).extend(one for one in group if isinstance(one, str))
    project.extras.setdefault("dev", []).extend(tools.get("uv", {}).get("dev-dependencies", ()))
    for name, one in tools.get("hatch", {}).get("envs", {}).items():
        wanted = [*one.get("dependencies", ()), *one.get("extra-dependencies", ())]
        name = "test" if name == "hatch-test" else name
        project.extras.setdefault(name, []).extend(str(item) for item in wanted)
    project.extras = {name: values for name, values in project.extras.items() if values}


def poetry_requirements(table: Mapping[str, Any]) -> Iterator[str]:
    """Requirements of a Poetry table, in the common form."""
    for name, told in table.items():
        for one in told if isinstance(told, list) else [told]:
            if isinstance(one, str):
                yield f"{name}{poetry_specifier(one)}"
            elif isinstance(one, dict) and "version" in one and not one.get("optional"):
                extras = f"[{','.join(one['extras'])}]" if one.get("extras") else ""
                marker = f" ; {one['markers']}" if one.get("markers") else ""
                yield f"{name}{extras}{poetry_specifier(str(one['version']))}{marker}"


def poetry_specifier(told: str) -> str:
    """Poetry's ``^1.2``, ``~1.2``, ``1.*`` and ``1.2`` as a common specifier; alternatives are unbound."""
    if "||" in told or "|" in told:
        return ""
    parts = [_poetry_part(part.strip()) for part in told.split(",")]
    return ",".join(part for part in parts if part)


def _poetry_part(part: str) -> str:
    if part in {"", "*"}:
        return ""
    if part[0] not in "^~" or part.startswith("~="):
        return part if part[0] in "<>=!~" else f"=={part}"
    numbers = [int(one) for one in re.findall(r"\d+", part[1:].split("-")[0])][:3] or [0]
    if part[0] == "~":
        upper = [numbers[0] + 1] if len(numbers) == 1 else [numbers[0], numbers[1] + 1]
    else:
        place = next((i for i, one in enumerate(numbers) if one), len(numbers) - 1)
        upper = [*numbers[:place], numbers[place] + 1]
    return f">={part[1:].strip()},<{'.'.join(map(str, upper))}"


def _read_setup_cfg(project: Project, text: str | None) -> None:
    if text is None:
        return
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        project.unread.append("setup.cfg: malformed")
        return
    if parser.has_section("metadata"):
        project.name = parser["metadata"].get("name") or project.name
    options = parser["options"] if parser.has_section("options") else {}
    project.python = options.get("python_requires") or project.python
    project.requirements += _lines(options.get("install_requires", ""))
    project.build += _lines(options.get("setup_requires", ""))
    if parser.has_section("options.extras_require"):
        for name, value in parser["options.extras_require"].items():
            project.extras[name] = _lines(value)
    if parser.has_section("options.entry_points"):
        for group, value in parser["options.entry_points"].items():
            pairs = [line.partition("=") for line in _lines(value)]
            points = {key.strip(): target.strip() for key, _, target in pairs}
            if group == "console_scripts":
                project.scripts.update(points)
            else:
                project.entry_points[group] = points


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _read_setup_py(project: Project, text: str | None) -> None:
    if text is None:
        return
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        project.unread.append("setup.py: not Python 3")
        return
    values = {
        target.id: node.value
        for node in ast.walk(module)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    calls = [
        node for node in ast.walk(module) if isinstance(node, ast.Call) and _called(node) == "setup"
    ]
    for call in calls:
        told = {word.arg: _value(word.value, values) for word in call.keywords if word.arg}
        project.name = told["name"] if isinstance(told.get("name"), str) else project.name
        python = told.get("python_requires")
        project.python = python if isinstance(python, str) else project.python
        project.requirements += _texts(told.get("install_requires"))
        project.build += _texts(told.get("setup_requires"))
        extras = told.get("extras_require")
        for name, value in extras.items() if isinstance(extras, dict) else ():
            project.extras[str(name)] = _texts(value)
        project.extras.setdefault("test", []).extend(_texts(told.get("tests_require")))
        points = told.get("entry_points")
        scripts = points.get("console_scripts") if isinstance(points, dict) else None
        for line in _texts(scripts):
            key, _, target = line.partition("=")
            project.scripts[key.strip()] = target.strip()


def _called(node: ast.Call) -> str:
    name = node.func
    return name.id if isinstance(name, ast.Name) else getattr(name, "attr", "")


def _value(node: ast.expr, values: Mapping[str, ast.expr], depth: int = 0) -> Any:
    """A literal, with names looked up and lists joined; what is computed becomes None."""
    if depth > 8:
        return None
    if isinstance(node, ast.Name):
        known = values.get(node.id)
        return None if known is None else _value(known, values, depth + 1)
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [_value(one, values, depth + 1) for one in node.elts]
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {
            _value(key, values, depth + 1): _value(value, values, depth + 1)
            for key, value in pairs
            if key is not None
        }
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = (_value(one, values, depth + 1) for one in (node.left, node.right))
        return left + right if isinstance(left, list) and isinstance(right, list) else left or right
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return _lines(value)
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def usable(lines: Iterable[str]) -> tuple[list[Requirement], list[str]]:
    """Requirements that an index can fulfil, and the lines that are none (addresses, paths)."""
    kept, left = [], []
    for line in lines:
        try:
            one = Requirement(line.split(" #")[0].strip())
        except InvalidRequirement:
            left.append(line)
            continue
        if one.url:
            left.append(line)
        else:
            kept.append(one)
    return kept, left
