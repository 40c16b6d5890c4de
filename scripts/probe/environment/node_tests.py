"""How a JavaScript project's unit tests are run: what its ``test`` script comes down to.

Test scripts chain linters, type checks, coverage and browsers in front of the tests. These say nothing about
the environment and often cannot run in it, so they are left out, each with a note; steps that build
what the tests import are kept.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from probe.environment.override import TestOverride
from probe.environment.recipe import TestPlan
from probe.environment.tree import Tree

_RUNNERS = {"jest", "mocha", "ts-mocha", "vitest", "ava", "tap", "tape", "uvu", "jasmine"}
_CHECKS = {
    "eslint", "prettier", "standard", "ts-standard", "xo", "tsd", "attw", "flow", "stylelint",
    "size-limit", "publint", "biome", "tslint", "dtslint", "commitlint", "lint-staged", "depcheck",
    "knip", "madge", "jshint", "jscs", "vue-tsc", "oxlint", "dprint", "semistandard", "typos",
}  # fmt: skip
_ELSEWHERE = {
    "karma", "playwright", "wtr", "web-test-runner", "cypress", "testem", "wdio", "browserstack",
    "bun", "deno", "docker", "docker-compose", "airtap", "puppeteer",
}  # fmt: skip
_WRAPPERS = {"nyc", "c8", "cross-env", "npx", "dotenv", "env-cmd", "exec", "istanbul", "cover"}
_BUILDING = re.compile(r"(^|[:_-])(build|compile|prepare|generate|clean|bundle|dist|transpile)")
_FALLBACKS = (
    "test:unit",
    "test-unit",
    "unit",
    "test:node",
    "test:jest",
    "test:src",
    "tests",
    "test:ci",
)
_DEPTH = 6
_TEST_FILE = re.compile(
    r"(^|/)(tests?|__tests__|spec)/.*\.[cm]?[jt]sx?$|\.(test|spec)\.[cm]?[jt]sx?$"
)
_EXCLUDING = {"mocha": "--ignore={}", "ts-mocha": "--ignore={}", "vitest": "--exclude={}"}
"""How a runner is told to leave out a file."""
_ENVIRONMENT = 'export CI=true PATH="/work/node_modules/.bin:$PATH"; '
"""Found first while tests run only: a package may bring a command with a common name."""
_WORDS = re.compile(r"""(?:\\.|[^\s"'\\]|"(?:\\.|[^"\\])*"|'[^']*')+""")
_PIECES = re.compile(r"""&&|\|\||[&;]|"(?:\\.|[^"\\])*"|'[^']*'|[^&|;"']+|.""", re.DOTALL)


@dataclass
class Suite:
    """What is run to test a project."""

    setup: list[str] = field(default_factory=list)
    """Commands that build what the tests need, in order."""
    tests: list[str] = field(default_factory=list)
    """Test runners' commands, in order."""
    notes: list[str] = field(default_factory=list)
    """What was left out, and why."""
    _waiting: list[str] = field(default_factory=list)

    def build(self, command: str) -> None:
        """Note a command that is not a test; it counts only where tests follow."""
        if command not in [*self.setup, *self._waiting]:
            self._waiting.append(command)

    def test(self, command: str) -> None:
        """Note a test runner's command."""
        self.setup += self._waiting
        self._waiting.clear()
        if command not in self.tests:
            self.tests.append(command)

    def exclude(self, paths: list[str]) -> None:
        """Leave out files, where the runner can; else they are run, and their failures count."""
        self.tests = [_without(command, paths) for command in self.tests]

    @property
    def command(self) -> str | None:
        """All of it in one line of bash; fails if a build or one of the runners does."""
        return _joined(self.setup, self.tests)

    @property
    def subset(self) -> str | None:
        """A tenth of the tests, where every runner can take a share by itself."""
        shares = [_share(command) for command in self.tests]
        if not shares or None in shares:
            return None
        return _joined(self.setup, [share for share in shares if share is not None])


def plan_tests(tree: Tree, manifest: Mapping[str, Any], said: TestOverride) -> TestPlan | None:
    """The commands; None where nothing runs tests and nobody named a command."""
    suite = find_suite(manifest)
    built = _built_folder(tree, manifest)
    if suite.tests and built is not None and not any("build" in one for one in suite.setup):
        suite.setup.insert(0, "{ npm run build || echo 'PROBE: npm run build fails'; }")
        suite.notes.append(f"the tests import {built}/, so that npm run build goes first")
    suite.exclude(sorted(said.skipped))
    full = said.full or suite.command
    if full is None:
        return None
    subset = said.subset or (suite.subset if said.full is None else None)
    skipped = tuple(f"{what}: {why}" for what, why in sorted(said.skipped.items()))
    return TestPlan(
        full=_ENVIRONMENT + full,
        subset=_ENVIRONMENT + subset if subset else None,
        totals=said.totals or "node",
        notes=(*skipped, *(suite.notes if said.full is None else ())),
    )


def _built_folder(tree: Tree, manifest: Mapping[str, Any]) -> str | None:
    """A folder of built files that the tests import and that the snapshot lacks."""
    if "build" not in (manifest.get("scripts") or {}):
        return None
    entries = [str(manifest.get(key, "")) for key in ("main", "module", "types")]
    tops = {
        entry.removeprefix("./").partition("/")[0]
        for entry in entries
        if "/" in entry.removeprefix("./")
    }
    present = {path.partition("/")[0] for path in tree.paths}
    for top in sorted(tops - present - {""}):
        imports = re.compile(rf"""['"](?:\.{{1,2}}/)+{re.escape(top)}/""")
        for path in tree.paths:
            if _TEST_FILE.search(path) and imports.search(tree.text(path) or ""):
                return top
    return None


def find_suite(manifest: Mapping[str, Any]) -> Suite:
    """The unit tests of a project, from ``package.json``; without any, ``tests`` is empty."""
    scripts = manifest.get("scripts")
    told = (
        {k: v for k, v in scripts.items() if isinstance(v, str)}
        if isinstance(scripts, dict)
        else {}
    )
    suite = Suite()
    for name in ("test", *_FALLBACKS):
        if name in told:
            _read_script(name, told, suite, _DEPTH)
        if suite.tests:
            return suite
    for runner in ("vitest", "jest", "mocha", "ava"):
        if any(runner in (manifest.get(key) or {}) for key in ("devDependencies", "dependencies")):
            suite.test(_plain(runner, [runner]))
            suite.notes.append(f"no script runs tests: {runner} is run as it is")
            return suite
    suite.notes.append("package.json has no script that runs tests")
    return suite


def _read_script(name: str, scripts: Mapping[str, str], suite: Suite, depth: int) -> None:
    if f"pre{name}" in scripts and name.startswith("test"):
        suite.build(f"npm run pre{name}")
    for step in _steps(scripts[name]):
        _read_step(step, scripts, suite, depth)


def _read_step(step: str, scripts: Mapping[str, str], suite: Suite, depth: int) -> None:
    try:
        variables, words = _unwrapped(_words(step))
    except ValueError:
        suite.notes.append(f"left out, cannot be read: {step}")
        return
    called = [name for named in _called(words) for name in scripts if _is_named(name, named)]
    if called and depth:
        for name in called:
            if _BUILDING.search(name) and not name.startswith("test"):
                suite.build(f"npm run {name}")
            else:
                _read_script(name, scripts, suite, depth - 1)
        return
    tool = words[0].rpartition("/")[2] if words else ""
    if tool in _RUNNERS or (tool == "node" and _node_tests(words)):
        suite.test(" ".join([*variables, _plain(tool, words)]))
    elif tool in _CHECKS or (tool == "tsc" and "--noEmit" in words):
        suite.notes.append(f"left out, no test of behaviour: {step}")
    elif tool in _ELSEWHERE:
        suite.notes.append(f"left out, needs another place to run: {step}")
    elif words and tool not in {"exit", "echo", "true", "npm", "yarn", "pnpm"}:
        suite.build(" ".join([*variables, *words]))
    elif words:
        suite.notes.append(f"left out, names no script: {step}")


def _is_named(name: str, named: str) -> bool:
    """Whether ``test:*`` or a plain name means a script."""
    return name == named or (named.endswith(":*") and name.startswith(named[:-1]))


def _words(step: str) -> list[str]:
    """A command's words with their quotes: what the shell expands and what it does not stays so.

    Raises:
        ValueError: a quote is not closed.
    """
    shlex.split(step)
    return _WORDS.findall(step)


def _steps(script: str) -> Iterator[str]:
    """Commands of a script, split at what joins them outside quotes."""
    step = ""
    for word in [*_PIECES.findall(script), ";"]:
        if word not in {"&&", "||", "&", ";"}:
            step += word
            continue
        if step.strip():
            yield step.strip()
        step = ""


def _unwrapped(words: list[str]) -> tuple[list[str], list[str]]:
    """A command without coverage and other wrappers, its variables apart."""
    variables = []
    while words:
        if re.match(r"[A-Za-z_]\w*=", words[0]):
            variables.append(words[0])
            words = words[1:]
        elif words[0] in _WRAPPERS:
            words = words[1:]
            while words and words[0].startswith("-"):
                words = words[1:]
        elif words[:2] in (["pnpm", "exec"], ["yarn", "exec"], ["npm", "exec"]):
            words = words[2:]
        else:
            break
    return variables, words


def _called(words: list[str]) -> list[str]:
    """Names of scripts that a command calls."""
    if not words:
        return []
    tool, *rest = [word.strip("\"'") for word in words if not word.startswith("-")] or [""]
    if tool in {"npm", "pnpm", "yarn", "bun"}:
        if rest[:1] in (["run"], ["run-script"]):
            return rest[1:2]
        return ["test"] if rest[:1] in (["t"], ["tst"]) else rest[:1]
    if tool in {"run-s", "run-p", "npm-run-all", "npm-run-all2"}:
        return rest
    return []


def _node_tests(words: list[str]) -> bool:
    return "--test" in words or any("mocha" in word or "jest" in word for word in words[1:3])


def _plain(tool: str, words: list[str]) -> str:
    """A runner's command that ends by itself, measures no coverage and prints a total."""
    kept = [word for word in words if not re.match(r"--(coverage|watch|watchAll)\b", word)]
    command = " ".join(kept)
    if tool == "jest":
        return f"{command} --ci --coverage=false"
    if tool in {"mocha", "ts-mocha"}:
        return (
            command
            if re.search(r"(^|\s)(-R|--reporter)\b", command)
            else f"{command} --reporter dot"
        )
    if tool == "vitest":
        running = "" if {"run", "--run"} & set(kept) else " --run"
        return f"{command}{running} --coverage.enabled=false"
    if tool == "ava":
        # its own summary does not count the passed where some failed
        return command if "--tap" in kept or "-t" in kept else f"{command} --tap"
    return command


def _without(command: str, paths: list[str]) -> str:
    """A runner's command that leaves out these files."""
    words = command.split()
    if not paths:
        return command
    if "jest" in words:
        # its option for this replaces that of the project's configuration
        named = " ".join(f"-e {shlex.quote(path)}" for path in paths)
        return f"{command} --runTestsByPath $({command} --listTests | grep -vF {named})"
    for runner, option in _EXCLUDING.items():
        if runner in words:
            return " ".join([command, *(shlex.quote(option.format(path)) for path in paths)])
    return command


def _share(command: str) -> str | None:
    words = command.split()
    return f"{command} --shard=1/10" if {"jest", "vitest"} & set(words) else None


def _joined(setup: list[str], tests: list[str]) -> str | None:
    if not tests:
        return None
    first = "".join(f"{command} && " for command in setup)
    if len(tests) == 1:
        return first + tests[0]
    each = " ".join(f"{command} || failed=1;" for command in tests)
    return f"{first}(failed=0; {each} exit $failed)"
