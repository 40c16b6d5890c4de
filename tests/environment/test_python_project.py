"""What a Python project says it needs, read without running it."""

import pytest

from probe.environment.override import PythonOverride
from probe.environment.python_project import poetry_specifier, read_project
from probe.environment.python_wanted import requirement_lines, wanted_requirements
from probe.environment.version import snapshot_version
from probe.errors import ProbeError


def wanted(tree, said=None):
    project = read_project(tree)
    found = wanted_requirements(tree, project, said or PythonOverride(), "3.11")
    return {str(one) for one in found.run}, {str(one) for one in found.test}, found


def test_metadata_of_three_generations(tree):
    new = read_project(
        tree(
            {
                "pyproject.toml": '[project]\nname="a"\nrequires-python=">=3.9"\ndependencies=["b>1"]\n'
                '[project.scripts]\nrun="a:main"\n[build-system]\nrequires=["flit_core"]\n'
                'build-backend="flit_core.buildapi"\n'
            }
        )
    )
    assert (new.name, new.python, new.requirements) == ("a", ">=3.9", ["b>1"])
    assert (new.build, new.backend, new.scripts) == (
        ["flit_core"],
        "flit_core.buildapi",
        {"run": "a:main"},
    )
    middle = read_project(
        tree(
            {
                "setup.cfg": "[metadata]\nname = a\n[options]\ninstall_requires =\n    b>1\n    c\n"
                "[options.extras_require]\ntest =\n    d\n[options.entry_points]\nconsole_scripts =\n"
                "    run = a:main\nplug =\n    x = a:x\n"
            }
        )
    )
    assert (middle.requirements, middle.extras, middle.scripts) == (
        ["b>1", "c"],
        {"test": ["d"]},
        {"run": "a:main"},
    )
    assert middle.entry_points == {"plug": {"x": "a:x"}}
    assert middle.build == ["setuptools", "wheel"]


def test_setup_py_is_parsed_and_never_executed(tree, tmp_path):
    marker = tmp_path / "executed"
    text = (
        f"open({str(marker)!r}, 'w')\nfrom setuptools import setup\nNAME = 'a'\nTESTS = ['t1', 't2']\n"
        "setup(name=NAME, python_requires='>=3.8', install_requires=['b'] + ['c'],\n"
        "      setup_requires=['setuptools_scm'], extras_require={'dev': TESTS, 'x': [f'{1}']},\n"
        "      entry_points={'console_scripts': ['run=a:main']}, version=compute())\n"
    )
    project = read_project(tree({"setup.py": text}))
    assert (project.name, project.python, project.requirements) == ("a", ">=3.8", ["b", "c"])
    assert project.extras["dev"] == ["t1", "t2"]
    assert "setuptools_scm" in project.build and project.scripts == {"run": "a:main"}
    assert not marker.exists()


@pytest.mark.parametrize(
    ("told", "meant"),
    [
        ("^1.2.3", ">=1.2.3,<2"), ("^0.2.3", ">=0.2.3,<0.3"), ("^0.0.3", ">=0.0.3,<0.0.4"),
        ("~1.2.3", ">=1.2.3,<1.3"), ("~1", ">=1,<2"), ("1.2", "==1.2"), ("*", ""),
        (">=1,<3", ">=1,<3"), ("~=1.4", "~=1.4"), ("^1 || ^2", ""),
    ],
)  # fmt: skip
def test_poetry_ranges_as_its_manual_explains_them(told, meant):
    assert poetry_specifier(told) == meant


def test_a_broken_pyproject_is_one_line(tree):
    with pytest.raises(ProbeError, match=r"pyproject\.toml of the snapshot: no TOML"):
        read_project(tree({"pyproject.toml": "[project"}))


def test_all_places_that_speak_of_tests_count(tree):
    run, test, found = wanted(
        tree(
            {
                "pyproject.toml": '[project]\nname="a"\ndependencies=["b"]\n'
                '[project.optional-dependencies]\ntest=["t-extra", "a[more]"]\nmore=["t-more"]\ndocs=["d"]\n'
                '[dependency-groups]\ntests=["t-group", {include-group="base"}]\nbase=["t-base"]\n',
                "requirements/tests.txt": "t-file==1 \\\n    --hash=sha256:00\n-r more.txt\n-c bounds.txt\n",
                "requirements/more.txt": "t-included # why\n-e .\n",
                "requirements/tests.in": "t-uncompiled\n",
                "tox.ini": "[testenv]\ndeps =\n  t-tox\n  docs: t-docs\n  -r{toxinidir}/requirements/tests.txt\n"
                "[testenv:lint]\ndeps = t-lint\n",
                "noxfile.py": "@nox.session\ndef tests(session):\n    session.install('t-nox', '-e', '.')\n"
                "def lint(session):\n    session.install('t-ruff')\n",
            }
        )
    )
    assert run == {"b"}
    named = {
        "t-extra",
        "t-more",
        "t-group",
        "t-base",
        "t-file==1",
        "t-included",
        "t-tox",
        "t-nox",
        "pytest",
    }
    assert test == named
    assert {"test", "tests"} <= found.groups


def test_development_lists_lose_the_tools_that_no_test_imports(tree):
    _, test, found = wanted(
        tree(
            {
                "pyproject.toml": '[project]\nname="a"\n[project.optional-dependencies]\ndev=["ruff", "mypy", "pandas"]\n',
                "tests/test_a.py": "import mypy.api\n",
            }
        )
    )
    assert test == {"mypy", "pandas", "pytest"}
    assert any("ruff" in note for note in found.notes)


def test_of_several_files_the_one_for_this_interpreter(tree):
    files = {
        "requirements/ci.txt": "x==1\n",
        "requirements/ci-3.11.txt": "x==2\n",
        "requirements/ci-3.9.txt": "x==3\n",
    }
    assert "x==2" in wanted(tree({"setup.py": "", **files}))[1]


def test_options_in_the_configuration_bring_their_plugins(tree):
    text = '[project]\nname="a"\n[tool.pytest.ini_options]\naddopts=["--cov=a", "-n", "auto", "--timeout=5"]\nasyncio_mode="auto"\n'
    assert {"pytest-cov", "pytest-xdist", "pytest-timeout", "pytest-asyncio"} <= wanted(
        tree({"pyproject.toml": text})
    )[1]


def test_a_person_adds_and_excludes(tree):
    text = '[project]\nname="a"\ndependencies=["b", "bad"]\n[project.optional-dependencies]\ntest=["t"]\nextra=["e"]\n'
    said = PythonOverride(requirements=("added<2",), exclude=("Bad",), extras=("extra",))
    run, test, _ = wanted(tree({"pyproject.toml": text}), said)
    assert run == {"b"} and test == {"added<2", "e", "pytest"}


def test_what_no_index_has_is_left_out_and_said(tree):
    text = '[project]\nname="a"\ndependencies=["b @ git+https://x/y", "c"]\n'
    run, _, found = wanted(tree({"pyproject.toml": text}))
    assert run == {"c"} and any("git+https" in note for note in found.notes)


def test_files_that_include_each_other_end(tree):
    files = {
        "setup.py": "",
        "requirements.txt": "-r other.txt\na\n",
        "other.txt": "-r requirements.txt\nb\n",
    }
    assert requirement_lines(tree(files), "requirements.txt") == ["b", "a"]


@pytest.mark.parametrize(
    ("files", "version"),
    [
        ({"pyproject.toml": '[project]\nversion="1.2.dev"\n'}, "1.2.dev0"),
        (
            {"src/a/__init__.py": '__version__ = "3.1"\n', "tests/version.py": 'version = "9"\n'},
            "3.1",
        ),
        (
            {
                "CHANGELOG.md": "# Changes\n\n## Unreleased\n\n## [v26.0.1] - 2024-12-19\n## 26.0.0\n"
            },
            "26.0.1",
        ),
        ({"CHANGES.rst": "v4.23.0\n=======\n\n* 3.14 is supported\n"}, "4.23.0"),
        ({"README.md": "1.2.3"}, "0.0.0"),
    ],
)
def test_the_version_where_people_write_it(tree, files, version):
    assert snapshot_version(tree(files))[0] == version
