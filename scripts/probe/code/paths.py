"""What a path is for, by its name alone and by the inventory's globs.

The snapshot (which files finders are asked about) and the classifier (which changes can be a fix)
must agree on this, so both ask here.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Literal

import pathspec

from probe.code.languages import language_of, name_patterns

PathRole = Literal["source", "test", "docs", "ci", "packaging", "generated", "vendored", "data"]

_TEST_FOLDERS = {
    "test", "tests", "testing", "spec", "specs", "__tests__", "__mocks__", "__snapshots__",
    "fixtures", "test-data", "testdata", "e2e", "cypress", "benchmark", "benchmarks", "bench",
    "asv_bench", "perf", "runtime-tests", "type-tests", "test-d",
}  # fmt: skip
_TEST_NAME = re.compile("|".join(name_patterns("test_names")))
_DOC_FOLDERS = {
    "doc", "docs", "documentation", "example", "examples", "demo", "demos", "site", "website",
    "tutorial", "tutorials", "sample", "samples", "changes", "newsfragments", "changelog.d",
    ".changeset", ".changes",
}  # fmt: skip
_DOC_ENDINGS = {".md", ".rst", ".mdx", ".adoc", ".txt", ".markdown"}
_DOC_NAMES = re.compile(
    r"^(readme|changelog|changes|history|news|authors|contributors|contributing|license|licence"
    r"|copying|security|code_of_conduct|notice|citation)\b",
    re.IGNORECASE,
)
_CI_FOLDERS = {".github", ".gitlab", ".circleci", ".buildkite", ".azure-pipelines", ".devcontainer"}
_CI_NAMES = {
    ".gitlab-ci.yml", ".travis.yml", "appveyor.yml", "azure-pipelines.yml", "dockerfile",
    ".pre-commit-config.yaml", "renovate.json", "codecov.yml", ".codecov.yml",
}  # fmt: skip
_PACKAGING_NAMES = {
    "package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml",
    "pnpm-workspace.yaml", "bun.lock", "bun.lockb", "deno.lock", "deno.json", "deno.jsonc",
    "jsr.json", "setup.py", "setup.cfg", "pyproject.toml", "pdm.lock", "poetry.lock", "uv.lock",
    "pipfile", "pipfile.lock", "manifest.in", "makefile", "justfile", "noxfile.py", "tox.ini",
    "tasks.py", "cargo.toml", "cargo.lock", "go.mod", "go.sum", ".gitignore", ".gitattributes",
    ".gitmodules", ".editorconfig", ".npmignore", ".npmrc", ".nvmrc", "tsconfig.json",
    "rollup.config.js", "rollup.config.mjs", "webpack.config.js", "esbuild.config.js", "vite.config.ts",
    "gulpfile.js", "gulpfile.cjs", "gruntfile.js", "babel.config.js", ".eslintrc.js",
    "eslint.config.js", "eslint.config.mjs", "biome.json", ".prettierrc", "lerna.json", "nx.json",
    "turbo.json", "environment.yml", "pixi.lock", "pixi.toml",
}  # fmt: skip
_PACKAGING_PATTERN = re.compile(
    r"^(requirements[\w.-]*\.(txt|in)|constraints[\w.-]*\.txt|tsconfig[\w.-]*\.json"
    r"|(rollup|webpack|vite|esbuild|babel|eslint|prettier|postcss|tsup|typedoc|release)[\w.-]*\.config\.[cm]?[jt]s"
    r"|\.[a-z]+rc(\.(js|cjs|mjs|json|ya?ml))?)$"
)
_PACKAGING_FOLDERS = {
    "requirements",
    ".husky",
    ".vscode",
    ".idea",
    ".config",
    "scripts",
    "tools",
    "ci",
    "build-tools",
}
_VENDORED_FOLDERS = {
    "vendor", "_vendor", "vendored", "_vendored", "third_party", "third-party", "thirdparty",
    "node_modules", "bower_components", "extern", "externals",
}  # fmt: skip
_GENERATED_FOLDERS = {
    "dist",
    "build",
    "generated",
    "__generated__",
    "_generated",
    "migrations",
    ".yarn",
}
_PACKAGE_ROOTS = {"packages", "apps", "crates", "workspaces"}
"""Folders of a monorepo whose every folder is laid out as a repository is."""
_PACKAGE_OUTPUT = {"dist", "build", "generated"}
_GENERATED_NAME = re.compile("|".join(name_patterns("generated_names")))
# Code that has no plugin of its own but whose change can be a fix: templates, SQL, native parts.
_CODE_ENDINGS = {
    ".pyx", ".pxd", ".rs", ".c", ".h", ".cc", ".cpp", ".hpp", ".go", ".java", ".lua", ".rb", ".php",
    ".sql", ".j2", ".jinja", ".jinja2", ".vue", ".svelte", ".ex", ".exs", ".sh", ".css", ".scss", ".less",
    ".html", ".flow", ".coffee", ".kt", ".swift", ".cs", ".scala", ".el", ".pegjs", ".ne", ".jison", ".g4",
}  # fmt: skip


@lru_cache(maxsize=65536)
def path_role(path: str) -> PathRole:
    """What a path is for, judged by its folders and name alone.

    Tests win over everything else, then vendored and generated files, then documentation, CI and
    packaging; what is left is source where its ending is code, otherwise data.
    """
    pure = PurePosixPath(path)
    folders = [part.lower() for part in pure.parts[:-1]]
    name = pure.name.lower()
    by_folder = _role_of_folders(folders)
    if by_folder == "test" or _TEST_NAME.search(name):
        return "test"
    if by_folder in {"vendored", "generated"}:
        return by_folder
    if _GENERATED_NAME.search(name):
        return "generated"
    tops = _top_folders(folders)
    if tops & _CI_FOLDERS or name in _CI_NAMES:
        return "ci"
    if name in _PACKAGING_NAMES or _PACKAGING_PATTERN.match(name):
        return "packaging"
    if tops & _PACKAGING_FOLDERS:
        return "packaging"
    if by_folder == "docs" or pure.suffix.lower() in _DOC_ENDINGS or _is_doc_name(pure):
        return "docs"
    return "source" if is_code(path) else "data"


def is_code(path: str) -> bool:
    """Whether a path's ending is that of program text, templates and queries included."""
    return language_of(path) is not None or PurePosixPath(path).suffix.lower() in _CODE_ENDINGS


def _is_doc_name(path: PurePosixPath) -> bool:
    return bool(_DOC_NAMES.match(path.name)) and not is_code(path.name)


def _role_of_folders(folders: Sequence[str]) -> PathRole | None:
    names = set(folders)
    if names & _TEST_FOLDERS:
        return "test"
    if names & _VENDORED_FOLDERS:
        return "vendored"
    # `src/build` is source in real projects: output folders stand at the root or in a package root
    tops = _top_folders(folders)
    if (folders and folders[0] in _GENERATED_FOLDERS) or tops & _PACKAGE_OUTPUT:
        return "generated"
    if names & {"__generated__", "_generated"}:
        return "generated"
    if tops & _DOC_FOLDERS or names & {"docs", "examples"}:
        return "docs"
    return None


def _top_folders(folders: Sequence[str]) -> set[str]:
    """The first folder, and in a monorepo the first inside the package: ``packages/@a/b/dist``."""
    if len(folders) < 3 or folders[0] not in _PACKAGE_ROOTS:
        return set(folders[:1])
    inside = 3 if folders[1].startswith("@") else 2
    return {folders[0], *folders[inside : inside + 1]}


@lru_cache(maxsize=64)
def _compile(globs: tuple[str, ...]) -> pathspec.GitIgnoreSpec:
    return pathspec.GitIgnoreSpec.from_lines(globs)


class SourceScope:
    """The inventory's globs over the rules of :func:`path_role`.

    Args:
        source: gitignore-style globs of production files; empty means every path whose generic
            role is ``source``.
        tests: globs of tests, which win over ``source``.
        exclude: globs of generated and vendored files, which win over both.
    """

    def __init__(
        self, source: Iterable[str] = (), tests: Iterable[str] = (), exclude: Iterable[str] = ()
    ) -> None:
        self.source = tuple(source)
        self.tests = tuple(tests)
        self.exclude = tuple(exclude)

    def role(self, path: str) -> PathRole:
        """Role of a path at any commit of the window.

        A file moved out of the source globs in the window (``pkg/`` to ``src/pkg/``) keeps the
        role its name says, so that its fixes are not lost. Tests, vendored copies and bundles that
        the globs cover keep theirs as well.
        """
        if self.is_excluded(path):
            return "generated"
        if self.tests and _compile(self.tests).match_file(path):
            return "test"
        generic = path_role(path)
        if self.source and _compile(self.source).match_file(path):
            named_test = generic == "test" and _TEST_NAME.search(PurePosixPath(path).name.lower())
            if named_test or generic == "vendored" or self._is_output(path):
                return generic
            return "source" if is_code(path) else "data"
        return generic

    def _is_output(self, path: str) -> bool:
        """Whether globs as wide as ``src/`` or ``packages/`` cover what a build wrote there."""
        pure = PurePosixPath(path.lower())
        if _GENERATED_NAME.search(pure.name):
            return True
        inside = _top_folders(pure.parts[:-1]) & _PACKAGE_OUTPUT
        return bool(inside) and not any(inside & set(glob.split("/")) for glob in self.source)

    def is_excluded(self, path: str) -> bool:
        """Whether the inventory names the path as generated, vendored or otherwise out of scope."""
        return bool(self.exclude) and bool(_compile(self.exclude).match_file(path))

    def in_source(self, path: str) -> bool:
        """Whether the source globs cover a path (every path where there are none)."""
        return not self.source or bool(_compile(self.source).match_file(path))

    def is_production(self, path: str) -> bool:
        """Whether a change of the path can correct the project's own behaviour.

        Vendored code counts: a copy patched by hand is production code of the project.
        """
        return self.role(path) in {"source", "vendored"} and is_code(path)
