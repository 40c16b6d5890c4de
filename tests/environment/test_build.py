"""Environments built for real, on real engines: the bundled repository's, and small awkward ones."""

import subprocess
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import pytest
from environment_snapshots import CUTOFF, INFO, tree_of
from packageindex import make_sdist

from probe.environment.build import build_environment
from probe.environment.fetch import Place, fetch_environment, package_table
from probe.environment.make import lock_sha256
from probe.environment.override import Override
from probe.environment.python_install import check_python
from probe.environment.recipe import EcosystemRecipe, Recipe, TestPlan
from probe.environment.suite import run_suite
from probe.environment.use import open_environment
from probe.errors import ConfigError, ProbeError, SandboxError
from probe.git.archive import build_archive
from probe.git.process import run_git
from probe.git.series import build_series
from probe.records import Environment, Provenance, write_json
from probe.records.store import file_sha256
from probe.sandbox import Limits, SandboxSpec, open_sandbox

ROOT = Path(__file__).parents[2]
T0_DATE = "2025-01-06T00:00:00Z"
LIMITS = Limits(memory_mb=1_000, disk_mb=300)
ENGINES = [
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
    pytest.param("docker", marks=pytest.mark.docker),
]


class Built(NamedTuple):
    """An environment and what it came from."""

    recipe: Recipe
    environment: Environment
    printed: str
    folder: Path
    archive: Path
    engine: str

    def open(self):
        return closing(
            open_environment(
                self.environment,
                self.folder,
                archive=self.archive,
                engine=self.engine,
                limits=LIMITS,
            )
        )

    def run(self, command: str):
        with self.open() as box:
            return box.run(command)


def build(recipe: Recipe, folder: Path, archive: Path, engine: str) -> Built:
    write_json(folder / "environment/recipe.json", recipe)
    environment, printed = build_environment(
        recipe,
        folder,
        archive=archive,
        dockerfiles=sorted((ROOT / "envs").glob("*.Dockerfile")),
        engine=engine,
        base_image=None,
        test_s=60,
        memory_mb=1_000,
    )
    return Built(recipe, environment, printed, folder, archive, engine)


def fetch(archive: Path, folder: Path, engine: str, override: Override | None = None) -> Recipe:
    place = Place(folder / "environment/artifacts", folder / "cache/artifacts", engine, None)
    return fetch_environment(info_of(archive), archive, ("python",), override or Override(), place)


def info_of(archive: Path):
    return INFO.model_copy(update={"archive_sha256": file_sha256(archive)})


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """The demo's snapshot, as ``results/demo/snapshot`` has it."""
    folder = tmp_path_factory.mktemp("demo")
    build_series(ROOT / "resources/demo", folder / "history.git")
    before = ("--first-parent", "-1", f"--before={T0_DATE}", "main")
    t0 = run_git(folder / "history.git", "rev-list", *before).decode().strip()
    return build_archive(
        folder / "history.git", t0, folder / "source.tar", repo="demo"
    ), folder / "source.tar"


@pytest.fixture(scope="session", params=ENGINES)
def larder(demo, tmp_path_factory, request):
    """The demo's environment on an engine."""
    if request.param == "docker":
        request.getfixturevalue("docker_daemon")
    info, archive = demo
    folder = tmp_path_factory.mktemp(request.param)
    place = Place(folder / "environment/artifacts", folder / "cache/artifacts", request.param, None)
    recipe = fetch_environment(info, archive, ("python",), Override(), place)
    return build(recipe, folder, archive, request.param)


@pytest.mark.registry
def test_the_projects_own_tests_pass_inside(larder):
    assert larder.environment.status == "built"
    # tests/demo/test_truth.py: unittest runs 57 tests at T0
    assert larder.environment.tests.line == "TOTAL passed=57 failed=0 skipped=0"
    assert larder.printed.endswith("TOTAL passed=57 failed=0 skipped=0\n")


@pytest.mark.registry
def test_nothing_inside_is_younger_than_the_snapshot(larder):
    environment = larder.environment
    assert environment.newest <= environment.cutoff and environment.unknown_dates == 0
    listed = [line.split("\t") for line in package_table(larder.recipe).splitlines()[1:]]
    assert len(listed) == environment.releases >= 5
    assert all(datetime.fromisoformat(when) <= environment.cutoff for _, _, _, when, _ in listed)
    late = int(environment.cutoff.timestamp()) + 1
    said = larder.run(
        f"find /opt/probe-env -newermt @{late} | head; find / -name .git -not -path '/proc/*'"
    )
    assert said.stdout == ""


@pytest.mark.registry
def test_the_project_is_installed_from_the_sources_in_work(larder):
    said = larder.run(
        "python -c 'import larder, importlib.metadata as m, sys; "
        'print(larder.__file__, m.version("larder") == larder.__version__, sys.prefix)\'; '
        "larder --help | head -1; command -v larder; git status 2>&1 | head -1"
    )
    lines = said.stdout.splitlines()
    assert lines[0] == "/work/src/larder/__init__.py True /opt/probe-env/python"
    assert "/opt/probe-env/python/bin/larder" in lines
    edited = larder.run(
        "echo 'answer = 42' >>src/larder/__init__.py && python -c 'import larder; print(larder.answer)'"
    )
    assert edited.stdout == "42\n"


@pytest.mark.registry
def test_the_environment_cannot_be_changed_and_reaches_nothing(larder):
    said = larder.run(
        "touch /opt/probe-env/x /opt/probe-env/python/lib/x 2>&1; ls /artifacts /context 2>&1;"
        "python -c 'import socket; socket.create_connection((\"pypi.org\", 443), 3)' 2>&1 | tail -1;"
        "python -m pip --version 2>&1"
    )
    assert said.stdout.count("cannot touch") == 2
    assert said.stdout.count("cannot access") == 2
    assert "error" in said.stdout and "No module named pip" in said.stdout


@pytest.mark.registry
def test_libraries_that_wheels_take_for_granted_are_there(larder):
    """Those of manylinux2014 (PEP 599) that have nothing to do with a screen."""
    names = (
        "gcc_s.so.1 stdc++.so.6 m.so.6 dl.so.2 rt.so.1 c.so.6 util.so.1 pthread.so.0 resolv.so.2"
    )
    code = "import ctypes, sys; [ctypes.CDLL('lib' + name) for name in sys.argv[1:]]; print('all')"
    assert larder.run(f'python -c "{code}" {names}').stdout == "all\n"


@pytest.mark.registry
@pytest.mark.parametrize("larder", ENGINES[:1], indirect=True)
def test_a_removed_environment_is_built_again_from_its_artifacts(larder):
    place = larder.folder / "environment"
    subprocess.run(["rm", "-r", larder.folder / larder.environment.folder], check=True)
    artifact = sorted((place / "artifacts").iterdir())[0]
    content = artifact.read_bytes()
    artifact.unlink()
    with pytest.raises(
        SandboxError, match=rf"{artifact.name}: missing or altered; fetch again: delete"
    ):
        larder.open()
    artifact.write_bytes(content)
    assert larder.run("python -c 'import pytest, larder'").exit == 0


@pytest.mark.registry
@pytest.mark.docker
@pytest.mark.bubblewrap
def test_the_same_locks_are_the_same_environment_everywhere(demo, tmp_path):
    _, archive = demo
    one, two = (fetch(archive, tmp_path / engine, engine) for engine in ("docker", "bubblewrap"))
    assert one.sha256 == two.sha256
    other = fetch(archive, tmp_path / "other", "bubblewrap", Override(variables={"A": "1"}))
    assert other.sha256 != one.sha256


@pytest.mark.registry
def test_the_image_is_labelled_and_nothing_else_is_left(larder):
    if larder.engine != "docker":
        place = larder.folder / "environment"
        assert [one.name for one in (place / "roots").iterdir()] == [
            larder.environment.folder[-20:]
        ]
        return
    import docker

    client = docker.from_env()
    try:
        labels = client.images.get(larder.environment.image).labels
        assert labels["probe"] == "environment"
        assert labels["probe.environment"] == larder.recipe.sha256
        assert labels["probe.lock"] == lock_sha256(larder.recipe)
        left = client.images.list(filters={"label": "probe=build-stage"})
        assert left == [] and client.containers.list(all=True) == []
    finally:
        client.close()


AWKWARD = {
    "pyproject.toml": '[build-system]\nrequires=["setuptools>=64,<76", "setuptools_scm>=8,<9"]\n'
    'build-backend="setuptools.build_meta"\n[project]\nname="awkward"\ndynamic=["version"]\n'
    'dependencies=["alpha"]\n[tool.setuptools_scm]\nversion_file="awkward/_version.py"\n',
    "CHANGELOG.md": "# Changes\n\n## 2.5.0 - 2024-11-30\n",
    "awkward/__init__.py": "from awkward._version import version\nimport alpha\n",
    "tests/test_it.py": "import awkward\ndef test_it():\n    assert (awkward.version, awkward.alpha.answer) == ('2.5.0', 42)\n",
}
ALPHA = {
    "setup.py": "from setuptools import setup\nsetup(name='alpha', version='1.0', py_modules=['alpha'])\n",
    "alpha.py": "answer = 42\n",
}


@pytest.mark.registry
@pytest.mark.bubblewrap
def test_a_package_of_source_only_and_a_version_that_git_would_tell(index, tmp_path):
    index.add("alpha-1.0.tar.gz", make_sdist("alpha", "1.0", ALPHA), "2024-05-01T00:00:00Z")
    archive = tree_of(AWKWARD, tmp_path).archive
    built = build(fetch(archive, tmp_path, "bubblewrap"), tmp_path, archive, "bubblewrap")
    assert built.environment.tests.line == "TOTAL passed=1 failed=0 skipped=0", built.printed
    # the version file is laid over the sources with T0's date, and the package's own metadata agree
    said = built.run(
        "stat -c %Y awkward/_version.py; python -c 'import importlib.metadata as m; print(m.version(\"awkward\"))'"
    )
    assert said.stdout.split() == [str(int(CUTOFF.timestamp())), "2.5.0"]


@pytest.mark.registry
@pytest.mark.bubblewrap
def test_a_project_that_cannot_be_built_is_put_on_the_path(tmp_path):
    files = {
        "pyproject.toml": '[build-system]\nrequires=["setuptools"]\nbuild-backend="nothing.here"\n'
        '[project]\nname="un-built"\nversion="3"\n[project.scripts]\nrun-it="unbuilt:main"\n',
        "src/unbuilt.py": "def main():\n    print('it ran')\n",
        "tests/test_it.py": "def test_it():\n    import unbuilt\n",
    }
    archive = tree_of(files, tmp_path).archive
    built = build(fetch(archive, tmp_path, "bubblewrap"), tmp_path, archive, "bubblewrap")
    assert built.environment.tests.passed == 1, built.printed
    assert "cannot be built here" in (tmp_path / "environment/install.log").read_text()
    said = built.run(
        "run-it; python -c 'import importlib.metadata as m; print(m.version(\"un-built\"))'"
    )
    assert said.stdout.split() == ["it", "ran", "3"]


def recipe_of(install: str, archive: Path) -> Recipe:
    one = EcosystemRecipe(
        ecosystem="python", runtimes={"python": "3"}, lock="", lock_source="resolved",
        releases=(), artifacts=(), install=install,
    )  # fmt: skip
    return Recipe(
        repo="mine", archive_sha256=file_sha256(archive), cutoff=CUTOFF, ecosystems=(one,),
        provenance=Provenance.of_heuristic("1"),
    )  # fmt: skip


@pytest.mark.bubblewrap
def test_another_interpreter_than_the_recipes_is_an_error_and_no_reason(tmp_path):
    archive = tree_of({"a.py": ""}, tmp_path).archive
    with pytest.raises(ProbeError, match=r"is for Python 2\.7, .* delete .*recipe\.json"):
        build(recipe_of(check_python("2.7"), archive), tmp_path, archive, "bubblewrap")


@pytest.mark.bubblewrap
def test_an_installation_that_fails_leaves_the_sources(tmp_path):
    archive = tree_of({"a.py": ""}, tmp_path).archive
    built = build(
        recipe_of("echo 'error: no rust here' >&2; exit 3", archive),
        tmp_path,
        archive,
        "bubblewrap",
    )
    assert (built.environment.status, built.environment.tests) == ("sources_only", None)
    assert built.environment.reason == "its installation fails: error: no rust here"
    assert built.run("ls; ls /opt/probe-env 2>&1 | head -1").stdout.splitlines()[0] == "a.py"
    assert list((tmp_path / "environment/roots").iterdir()) == []
    with pytest.raises(SandboxError, match="No space left on device; free some"):
        build(
            recipe_of("echo 'x: No space left on device'; exit 1", archive),
            tmp_path,
            archive,
            "bubblewrap",
        )
    with pytest.raises(ConfigError, match=r"envs/python\.Dockerfile: missing"):
        build_environment(
            recipe_of("true", archive), tmp_path, archive=archive, dockerfiles=[], engine="bubblewrap",
            base_image=None, test_s=1, memory_mb=500,
        )  # fmt: skip


@pytest.mark.bubblewrap
@pytest.mark.parametrize(
    ("full", "subset", "line", "problem"),
    [
        ("sleep 60", None, "TOTAL passed=? failed=? skipped=?", "did not end within 1 s"),
        ("sleep 60", "echo 3 passed in 0.1s", "TOTAL passed=3 failed=0 skipped=0", None),
        ("echo fine", None, "TOTAL passed=? failed=? skipped=?", "prints no total: fine"),
        (
            "kill -9 $$",
            None,
            "TOTAL passed=? failed=? skipped=?",
            "prints no total: it printed nothing",
        ),
        (
            "python3 -c 'import socket; socket.getaddrinfo(\"pypi.org\", 443)'",
            None,
            "TOTAL passed=? failed=? skipped=?",
            "needs a network: socket.gaierror: ",
        ),
        (
            "yes | head -c 30000000; echo; echo 2 failed, 1 passed in 1s; exit 1",
            None,
            "TOTAL passed=1 failed=2 skipped=0",
            None,
        ),
    ],
)
def test_suites_that_misbehave_are_recorded(full, subset, line, problem):
    plan = TestPlan(full=full, subset=subset, totals="pytest", notes=("net: needs a server",))
    run = run_suite(lambda: open_sandbox(SandboxSpec(limits=LIMITS), "bubblewrap"), plan, 1)
    assert run.totals.line == line
    if problem is None:
        assert run.totals.problem is None
    else:
        assert run.totals.problem.startswith(problem)
    assert run.totals.notes[0] == "net: needs a server"
    assert run.totals.subset == (subset is not None)
    assert run.log.rstrip().endswith(line)


def test_an_unknown_parser_is_named():
    plan = TestPlan(full="true", totals="pytset")
    with pytest.raises(
        ConfigError, match=r"test\.totals: 'pytset' is no parser of totals; known: .*pytest"
    ):
        run_suite(lambda: pytest.fail("opened"), plan, 1)
