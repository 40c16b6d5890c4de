"""Pylint reads the snapshot and never runs any of it."""

import py_compile
import sys

import pytest

from probe.finders import pylint

CRY = "import pathlib\npathlib.Path({marker!r}).write_text('executed')\n"


def settings(*rules):
    return {"rules": list(rules) or ["E"], "ignore": ["import-error"], "timeout_s": 60}


@pytest.fixture
def marker(tmp_path):
    return tmp_path / "executed"


def compiled(tmp_path, source: str) -> bytes:
    (tmp_path / "source.py").write_text(source)
    py_compile.compile(str(tmp_path / "source.py"), str(tmp_path / "source.pyc"))
    return (tmp_path / "source.pyc").read_bytes()


def test_a_compiled_module_is_not_executed(make_context, tmp_path, marker):
    cry = CRY.format(marker=str(marker))
    files = {
        "evil.pyc": compiled(tmp_path, cry),
        "main.py": "import evil\n\nprint(evil.x.y, undefined_name)\n",
    }
    result = pylint.find(make_context(files, settings()))
    assert not marker.exists()
    assert (result.status, [f.rule for f in result.findings]) == ("ok", ["undefined-variable"])


@pytest.mark.parametrize("name", ["test", "statistics", "winreg", "this", "yaml", "tomlkit"])
def test_a_module_named_like_an_installed_one_is_not_executed(make_context, marker, name):
    cry = CRY.format(marker=str(marker))
    files = {
        f"{name}/__init__.py": cry,
        f"{name}/inner.py": cry,
        "main.py": f"import {name}\nimport {name}.inner\nimport {name}.missing\n\nprint(nonsense)\n",
    }
    result = pylint.find(make_context(files, settings("undefined-variable")))
    assert not marker.exists()
    assert result.status == "ok"
    assert [f.rule for f in result.findings] == ["undefined-variable"]


def test_every_module_of_the_standard_library_can_be_shadowed(make_context, marker):
    cry = CRY.format(marker=str(marker))
    names = sorted(sys.stdlib_module_names)
    shadows = {f"{name}.py": cry for name in names}
    main = "".join(f"import {name}\n" for name in names if name != "antigravity")
    files = shadows | {"main.py": f"{main}\nprint(nonsense)\n"}
    unaudited = tuple(shadows)
    context = make_context(files, settings("undefined-variable"), unaudited=unaudited)
    result = pylint.find(context)
    assert not marker.exists()
    assert (result.status, len(result.findings)) == ("ok", 1)


def test_what_is_installed_beside_pylint_changes_nothing(make_context):
    code = "import pydantic\nimport probe\n\nprint(pydantic.nothing, probe.nothing)\n"
    result = pylint.find(make_context({"a.py": code}, settings("no-member")))
    assert (result.status, result.findings) == ("ok", ())


def test_comments_cannot_turn_on_further_rules(make_context):
    code = "# pylint: enable=all,missing-module-docstring,no-such-rule\nimport os\nx=1\nprint(y)\n"
    result = pylint.find(make_context({"a.py": code}, settings("undefined-variable")))
    assert [f.rule for f in result.findings] == ["undefined-variable"]


def test_a_file_that_asks_to_be_skipped_is_named(make_context):
    files = {"a.py": "# pylint: skip-file\nprint(x)\n", "b.py": "print(y)\n"}
    result = pylint.find(make_context(files, settings("undefined-variable")))
    assert result.files_skipped == ("a.py",)
    assert [f.path for f in result.findings] == ["b.py"]


def test_suppressions_of_other_rules_are_not_counted(make_context):
    code = "# pylint: disable=missing-module-docstring,line-too-long,undefined-variable\nprint(x)\n"
    result = pylint.find(make_context({"a.py": code}, settings("undefined-variable")))
    assert (result.suppressed, result.findings) == (1, ())
