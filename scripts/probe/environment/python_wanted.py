"""Which requirements an environment must fulfil so that a project's own tests can run.

Where several places speak of tests, all of them count; where none does, the next best kind is taken:
continuous integration, then development, without the tools that no test imports.
"""

import ast
import configparser
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from packaging.requirements import InvalidRequirement, Requirement

from probe.environment.override import PythonOverride
from probe.environment.python_project import Project, normal_name, usable
from probe.environment.python_pytest import needed_plugins
from probe.environment.tree import Tree

TIERS = (
    frozenset({"test", "tests", "testing", "pytest", "unittest", "unittests"}),
    frozenset({"ci"}),
    frozenset({"dev", "develop", "development"}),
)
"""Words in names of extras, groups, files and environments, the best kind first."""

_TOOLS = frozenset(
    [
        "autopep8",
        "autoflake",
        "bandit",
        "black",
        "build",
        "bumpversion",
        "check-manifest",
        "codespell",
        "commitizen",
        "coveralls",
        "flake8",
        "flit",
        "furo",
        "gitlint",
        "isort",
        "maturin",
        "mkdocs",
        "mypy",
        "nox",
        "pandas-stubs",
        "pdoc",
        "pip-tools",
        "poetry",
        "pre-commit",
        "pylint",
        "pyright",
        "pyupgrade",
        "ruff",
        "sphinx",
        "sphinx-rtd-theme",
        "tox",
        "towncrier",
        "twine",
        "vulture",
        "yapf",
    ]
)
"""Left out of lists for development unless a test imports it."""
_ASIDE = frozenset(
    {"docs", "doc", "examples", "example", "benchmarks", "node_modules", "vendor", "_vendor"}
)
_SUFFIXES = {".txt", ".in", ".pip"}


@dataclass(frozen=True)
class Wanted:
    """What has to be resolved."""

    run: tuple[Requirement, ...]
    """The project's own requirements."""
    test: tuple[Requirement, ...]
    """What its tests need beyond; a test runner among them."""
    groups: frozenset[str]
    """Normalised names of extras and groups that were chosen: a committed lock is asked for them."""
    notes: tuple[str, ...]
    """Where it comes from, and what was left out."""


def wanted_requirements(tree: Tree, project: Project, said: PythonOverride, python: str) -> Wanted:
    """Requirements for running and testing.

    Args:
        tree: the snapshot.
        project: what its metadata says.
        said: what a person decided.
        python: the interpreter, ``3.11``.
    """
    notes: list[str] = [f"not read: {one}" for one in project.unread]
    lines, groups, tier = _test_lines(tree, project, said, python, notes)
    run, left = usable(project.requirements or _plain_file(tree, project))
    test, left_test = usable([*_expanded(project, lines), *said.requirements])
    if tier:
        test = _without_tools(test, tree, notes)
    test += [Requirement(name) for name in needed_plugins(tree, project)]
    test.append(Requirement("pytest"))
    for line in dict.fromkeys([*left, *left_test]):
        notes.append(f"left out, since no index has it: {line}")
    barred = {normal_name(name) for name in [*said.exclude, project.name or ""]}
    return Wanted(
        tuple(one for one in run if normal_name(one.name) not in barred),
        tuple(one for one in test if normal_name(one.name) not in barred),
        frozenset(groups),
        tuple(notes),
    )


def _test_lines(
    tree: Tree, project: Project, said: PythonOverride, python: str, notes: list[str]
) -> tuple[list[str], list[str], int]:
    """Requirement lines for tests, names of the extras, and the tier they come from."""
    extras = {normal_name(name): values for name, values in project.extras.items()}
    if said.extras is not None or said.files is not None:
        names = [normal_name(name) for name in said.extras or ()]
        lines = [line for name in names for line in extras.get(name, ())]
        lines += [line for file in said.files or () for line in requirement_lines(tree, file)]
        return lines, names, 0
    for tier, words in enumerate(TIERS):
        names = [name for name in extras if words & set(name.split("-"))]
        files = _requirement_files(tree, words, python)
        lines = [line for name in names for line in extras[name]]
        lines += [line for file in files for line in requirement_lines(tree, file)]
        if tier == 0:
            more, more_names = _environments(tree, project)
            lines += [*more, *(line for name in more_names for line in extras.get(name, ()))]
            names += more_names
        if lines:
            where = [*(f"extra or group {name}" for name in dict.fromkeys(names)), *files]
            notes.append(f"tests need: {', '.join(where) or 'tox or nox'}")
            return lines, names, tier
    return [], [], 0


def _requirement_files(tree: Tree, words: frozenset[str], python: str) -> list[str]:
    """Requirement files whose name or folder has such a word; of several for one purpose the one for
    this interpreter, and the compiled one.
    """
    found = []
    for path in tree.paths:
        pure = PurePosixPath(path)
        if pure.suffix not in _SUFFIXES or len(pure.parts) > 3 or _ASIDE & set(pure.parts):
            continue
        told = set(re.split(r"[-_./]+", path.lower()))
        if told & words and any(part.startswith(("requirement", "reqs")) for part in told):
            found.append(path)
    compiled = {path.removesuffix(".txt") for path in found if path.endswith(".txt")}
    found = [path for path in found if not (path.endswith(".in") and path[:-3] in compiled)]
    versioned = {
        path: match[0] for path in found if (match := re.search(r"3\.\d+|(?<=py)3\d+", path))
    }
    ours = {
        path for path, version in versioned.items() if version in {python, python.replace(".", "")}
    }
    plain = [path for path in found if path not in versioned]
    return sorted(ours) or plain


def requirement_lines(tree: Tree, path: str, seen: frozenset[str] = frozenset()) -> list[str]:
    """Lines of a requirement file and of those that it includes, without options and hashes."""
    lines: list[str] = []
    text = (tree.text(path) or "").replace("\\\n", " ")
    for raw in text.splitlines():
        line = re.sub(r"(^|\s)#.*$", "", raw).strip()
        include = re.match(r"(?:-r|--requirement)[ =]?\s*(\S+)", line)
        if include:
            other = str(PurePosixPath(path).parent / include[1])
            if other not in seen and other != path:
                lines += requirement_lines(tree, other, seen | {path})
        elif line and not line.startswith("-"):
            lines.append(re.sub(r"\s--\S.*$", "", line))
    return lines


def _environments(tree: Tree, project: Project) -> tuple[list[str], list[str]]:
    """Requirements and extras in the test environments of tox and nox."""
    lines, names = _tox(tree, project)
    more, more_names = _nox(tree.text("noxfile.py") or "", tree)
    return [*lines, *more], [*names, *more_names]


def _tox(tree: Tree, project: Project) -> tuple[list[str], list[str]]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    legacy = project.pyproject.get("tool", {}).get("tox", {}).get("legacy_tox_ini", "")
    try:
        parser.read_string(tree.text("tox.ini") or legacy)
    except configparser.Error:
        return [], []
    lines, names = [], []
    for section in parser.sections():
        kind, _, name = section.partition(":")
        if kind != "testenv" or (name and not re.match(r"py|test|unit|\{?py", name)):
            continue
        for line in parser[section].get("deps", "").splitlines():
            lines += _told(tree, _factor(line.strip()))
        names += re.findall(r"[\w-]+", parser[section].get("extras", ""))
    return lines, [normal_name(name) for name in names]


def _factor(line: str) -> str:
    """A line of tox without its condition; nothing where the condition excludes plain Python."""
    condition = re.match(r"(!?[\w{},.-]+):\s+(.*)", line)
    if condition is None:
        return line
    return condition[2] if condition[1].startswith("!") or condition[1] == "test" else ""


def _told(tree: Tree, line: str) -> list[str]:
    include = re.match(r"(?:-r|--requirement)\s*(?:\{toxinidir\}/)?(\S+)", line)
    if include:
        return requirement_lines(tree, include[1])
    return [] if not line or line[0] in "-{.#[" else [line]


def _nox(text: str, tree: Tree) -> tuple[list[str], list[str]]:
    """Texts that sessions named for tests install."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return [], []
    lines: list[str] = []
    names: list[str] = []
    for function in module.body:
        if not isinstance(function, ast.FunctionDef) or not function.name.startswith(
            ("test", "unit")
        ):
            continue
        for words in _installs(function):
            for before, word in zip(["", *words], words, strict=False):
                names += (
                    re.findall(r"[\w-]+", word.partition("[")[2])
                    if word[:2] in {".[", "-e"}
                    else []
                )
                if before in {"-r", "--requirement"}:
                    lines += requirement_lines(tree, word)
                elif word[0] not in "-./" and not before.startswith("-"):
                    lines.append(word)
    return lines, [normal_name(name) for name in names]


def _installs(function: ast.FunctionDef) -> Iterator[list[str]]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "install":
            texts = [one.value for one in node.args if isinstance(one, ast.Constant)]
            yield [text for text in texts if isinstance(text, str) and text]


def _expanded(project: Project, lines: Iterable[str]) -> list[str]:
    """Lines with the project's own extras, ``project[tests]``, in place of a mention of itself."""
    extras = {normal_name(name): values for name, values in project.extras.items()}
    name = normal_name(project.name or "")
    queue, result = list(lines), []
    done: set[str] = set()
    while queue:
        line = queue.pop(0)
        try:
            one = Requirement(line)
        except InvalidRequirement:
            result.append(line)
            continue
        if not name or normal_name(one.name) != name:
            result.append(line)
            continue
        for extra in sorted({normal_name(extra) for extra in one.extras} - done):
            done.add(extra)
            queue += extras.get(extra, [])
    return result


def _plain_file(tree: Tree, project: Project) -> list[str]:
    """``requirements.txt`` stands for metadata where there is none."""
    metadata = project.pyproject.get("project") or project.pyproject.get("tool", {}).get("poetry")
    return [] if metadata else requirement_lines(tree, "requirements.txt")


def _without_tools(test: list[Requirement], tree: Tree, notes: list[str]) -> list[Requirement]:
    kept: list[Requirement] = []
    left: list[Requirement] = []
    imported: set[str] | None = None
    for one in test:
        name = normal_name(one.name)
        if name not in _TOOLS and not name.startswith("types-"):
            kept.append(one)
            continue
        imported = _imported(tree) if imported is None else imported
        (kept if name.replace("-", "_") in imported else left).append(one)
    if left:
        notes.append(f"tools that no test imports were left out: {', '.join(o.name for o in left)}")
    return kept


def _imported(tree: Tree) -> set[str]:
    """Top-level modules that test files import."""
    found: set[str] = set()
    for path in tree.paths:
        parts = PurePosixPath(path)
        if parts.suffix == ".py" and ({"test", "tests"} & set(parts.parts) or "test" in parts.stem):
            text = tree.text(path) or ""
            found.update(re.findall(r"^\s*(?:import|from)\s+(\w+)", text, re.MULTILINE))
    return found
